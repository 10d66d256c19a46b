"""Attack 21 of compute-proof.md: malformed and monstrous bodies are refused before any work, in the one error format."""

import asyncio
import gzip
import json
from collections.abc import Iterator
from functools import cache

import pytest
from starlette.types import Message, Receive, Scope

from node.wire import commitment_body
from oracle.api.limits import MAX_BODY_BYTES, MAX_CHECKPOINT_BODY_BYTES, BodyLimits, depth
from oracle.store import evidence
from swarm_chain.testing import FakeSigner
from tests.member_world import ALICE, MemberWorld

JSON = {"Content-Type": "application/json"}
JSON_TYPE = (b"content-type", b"application/json")
PIECE = b" " * 65_536


def post(world: MemberWorld, path: str, body: bytes | Iterator[bytes]) -> tuple[int, dict[str, object]]:
    """Status and document of the answer; every refusal has the four fields."""
    answer = world.client.post(path, content=body, headers=JSON)
    document = answer.json()
    if answer.status_code >= 400:
        assert document.keys() == {"error", "message", "fix", "values"}
        assert document["message"]
    return answer.status_code, document


def commitment_text(world: MemberWorld) -> dict[str, dict[str, object]]:
    """A sound body as a document to spoil."""
    body: dict[str, dict[str, object]] = json.loads(
        json.dumps(commitment_body(world.commit(world.commitment(world.open()))))
    )
    return body


def test_attack_21_when_a_100_mb_body_is_announced_then_413_without_reading_it(world: MemberWorld) -> None:
    asked: list[str] = []

    async def receive() -> Message:
        asked.append("more")
        return {"type": "http.request", "body": PIECE, "more_body": True}

    status = asyncio.run(
        _status(
            BodyLimits(world.app, world.clock.monotonic_ms), receive, [(b"content-length", b"100000000"), JSON_TYPE]
        )
    )
    assert (status, asked) == (413, [])


@pytest.mark.parametrize("length", [b"9" * 5000, b"-1", b"1e9", b"\xb2"])
def test_attack_21_when_the_announced_length_is_no_number_then_413(world: MemberWorld, length: bytes) -> None:
    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    assert (
        asyncio.run(
            _status(BodyLimits(world.app, world.clock.monotonic_ms), receive, [(b"content-length", length), JSON_TYPE])
        )
        == 413
    )


@pytest.mark.parametrize(
    ("path", "limit"),
    [("/v1/commitments", MAX_BODY_BYTES), ("/v1/jobs/1/checkpoints", MAX_CHECKPOINT_BODY_BYTES)],
)
def test_attack_21_when_100_mb_are_streamed_then_reading_stops_at_the_limit(
    world: MemberWorld, path: str, limit: int
) -> None:
    read = 0

    async def receive() -> Message:
        nonlocal read
        read += len(PIECE)
        return {"type": "http.request", "body": PIECE, "more_body": True}

    assert asyncio.run(_status(BodyLimits(world.app, world.clock.monotonic_ms), receive, [JSON_TYPE], path)) == 413
    assert read <= limit + len(PIECE)


def test_attack_21_when_the_sender_hangs_up_then_nothing_is_worked_on(world: MemberWorld) -> None:
    body = json.dumps(commitment_body(world.commit(world.commitment(window := world.open())))).encode()
    pieces: list[Message] = [
        {"type": "http.request", "body": body, "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def receive() -> Message:
        return pieces.pop(0)

    assert asyncio.run(_status(BodyLimits(world.app, world.clock.monotonic_ms), receive, [JSON_TYPE])) is None
    assert evidence.arrivals(world.engine, [world.record(window)]) == ()


@pytest.mark.parametrize("nested", [b"[" * 9, b'{"a":' * 9, b"[" * 100_000])
def test_attack_21_when_the_body_is_too_deep_then_422(world: MemberWorld, nested: bytes) -> None:
    status, document = post(world, "/v1/commitments", nested)
    assert (status, document["error"]) == (422, "too_deep")


@pytest.mark.parametrize("bomb", [b"[]" * 500_000, b'""' * 500_000, b"]" * 1_000_000])
def test_attack_21_when_the_body_has_too_many_parts_then_422(world: MemberWorld, bomb: bytes) -> None:
    status, document = post(world, "/v1/proofs", bomb)
    assert (status, document["error"]) == (422, "too_many_parts")


@pytest.mark.parametrize(
    ("text", "deep"),
    [
        (b"{}", 1),
        (b'{"a":[1,{"b":2}]}', 3),
        (b'"[[[["', 0),
        (b'["[[\\"[[", []]', 2),
        (b'"\\\\"[[', 2),
        (b'"never closed [[[', 0),
        (b"]]]][", 0),
        (b"", 0),
    ],
)
def test_depth_when_brackets_are_in_strings_then_they_do_not_count(text: bytes, deep: int) -> None:
    assert depth(text) == deep


@pytest.mark.parametrize(
    "value",
    ["NaN", "Infinity", "-1", str(2**64), "1.0", "1e3", '"64"', "true", "null", "[]", "{}", "9" * 5000],
)
@pytest.mark.parametrize("name", ["windowId", "device", "m", "n", "steps"])
def test_attack_21_when_a_number_is_not_one_then_refused(world: MemberWorld, name: str, value: str) -> None:
    document = commitment_text(world)
    document["commitment"][name] = "HERE"
    status, _ = post(world, "/v1/commitments", json.dumps(document).replace('"HERE"', value).encode())
    assert status in (400, 422)
    assert evidence.arrivals(world.engine, world.member.follower.sight.state.windows) == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("root", "0x" + "ab" * 31),
        ("root", "0x" + "AB" * 32),
        ("root", "ab" * 32),
        ("root", "0x" + "ab" * 32 + "\n"),
        ("root", "0x" + "ab" * 31 + "\0\0"),
        ("root", 7),
        ("node", ALICE.address.lower()),
        ("node", ALICE.address + "\0"),
        ("node", "0x" + "zz" * 20),
        ("node", [ALICE.address]),
        ("extra", 1),
        ("window_id", 1),
        ("\ud800", 1),
        ("e" * 100_000, 1),
    ],
)
def test_attack_21_when_a_field_is_malformed_or_unknown_then_422_and_the_place_is_named(
    world: MemberWorld, name: str, value: object
) -> None:
    document = commitment_text(world)
    document["commitment"][name] = value
    status, answer = post(world, "/v1/commitments", json.dumps(document).encode())
    assert (status, answer["error"]) == (422, "malformed")
    assert str(answer["message"]).startswith("body.commitment")
    assert len(str(answer["message"])) < 500


@pytest.mark.parametrize("body", [b"", b"null", b"[]", b"1", b'"x"', b"{", b"\xff\xfe", b"{}\0", b"{}"])
def test_attack_21_when_the_body_is_no_such_object_then_refused(world: MemberWorld, body: bytes) -> None:
    for path in ("/v1/commitments", "/v1/proofs", "/v1/heartbeats", "/v1/jobs/specs", "/v1/jobs/1/receipts"):
        assert post(world, path, body)[0] in (400, 422)


def test_attack_21_when_a_body_comes_byte_by_byte_then_408(world: MemberWorld) -> None:
    async def receive() -> Message:
        await asyncio.sleep(0.001)
        return {"type": "http.request", "body": b" ", "more_body": True}

    slow = BodyLimits(world.app, world.clock.monotonic_ms, within_s=0.05)
    assert asyncio.run(_status(slow, receive, [JSON_TYPE])) == 408


@cache
def _bomb() -> bytes:
    """A hundred million spaces, packed once."""
    return gzip.compress(b" " * 10**8)


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "GZIP", "identity, gzip"])
def test_attack_21_when_the_body_is_compressed_then_415_and_it_is_never_unpacked(world: MemberWorld, name: str) -> None:
    answer = world.client.post("/v1/commitments", content=_bomb(), headers={**JSON, "Content-Encoding": name})
    assert (answer.status_code, answer.json()["error"]) == (415, "encoded")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "json"])
def test_attack_21_when_the_body_is_of_another_type_then_415(world: MemberWorld, kind: str) -> None:
    body = json.dumps(commitment_text(world)).encode()
    answer = world.client.post("/v1/commitments", content=body, headers={"Content-Type": kind})
    assert (answer.status_code, answer.json()["error"]) == (415, "not_json")


@pytest.mark.parametrize(
    "text",
    [
        '{"spec":{"a":1,"a":2}}',
        '{"spec":{},"spec":{"a":2}}',
        '{"spec":{"a":NaN}}',
        '{"spec":{"a":-Infinity}}',
        '{"spec":{"a":1e999}}',
        '{"spec":{"a":' + "9" * 5000 + "}}",
    ],
)
def test_attack_21_when_a_text_could_be_read_in_two_ways_then_422(world: MemberWorld, text: str) -> None:
    status, document = post(world, "/v1/jobs/specs", text.encode())
    assert (status, document["error"] in ("malformed", "invalid_input")) == (422, True)


def test_attack_21_when_a_signed_field_comes_twice_then_neither_is_taken(world: MemberWorld) -> None:
    text = json.dumps(commitment_text(world))
    twice = text.replace('"device": 0', '"device": 1, "device": 0')
    assert twice != text
    status, document = post(world, "/v1/commitments", twice.encode())
    assert (status, "twice" in str(document["message"])) == (422, True)


def test_rate_limit_when_a_node_sends_too_often_then_429_until_time_passes(world: MemberWorld) -> None:
    body = json.dumps(world.beat(world.heartbeat())).encode()
    statuses = [post(world, "/v1/heartbeats", body)[0] for _ in range(61)]
    assert statuses == [202] * 60 + [429]
    world.clock.advance(1)
    assert post(world, "/v1/heartbeats", body)[0] == 202


def test_rate_limit_when_unknown_nodes_are_made_up_then_they_share_one_bucket(world: MemberWorld) -> None:
    statuses = []
    for number in range(61):
        node = FakeSigner(f"made up {number}")
        body = json.dumps(world.beat(world.heartbeat(node), key=node)).encode()
        statuses.append(post(world, "/v1/heartbeats", body)[0])
    assert statuses == [422] * 60 + [429]
    assert post(world, "/v1/heartbeats", json.dumps(world.beat(world.heartbeat())).encode())[0] == 202


async def _status(
    app: BodyLimits, receive: Receive, headers: list[tuple[bytes, bytes]], path: str = "/v1/commitments"
) -> int | None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "headers": headers,
        "client": ("192.0.2.1", 1234),
        "server": ("192.0.2.2", 80),
    }
    await app(scope, receive, send)
    return next((message["status"] for message in sent if message["type"] == "http.response.start"), None)

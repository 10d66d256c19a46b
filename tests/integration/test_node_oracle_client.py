"""The oracle client over real HTTP: answers, refusals, nonsense, silence, floods."""

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import httpx2
import pytest

from node.oracle_client import MAX_ANSWER_BYTES, HttpOracleInbox, HttpOracleReader, JsonHttp
from swarm_chain.core.encoding import canonical_json, keccak, to_hex
from swarm_chain.core.errors import (
    InconsistentError,
    InvalidInputError,
    RejectedError,
    SwarmError,
    UnavailableError,
)
from swarm_chain.core.model import Heartbeat
from swarm_chain.core.units import Signature, Timestamp
from swarm_chain.testing import FakeSigner

NODE = FakeSigner("node").address
SPEC = {"kind": "train", "steps": 4}
SPEC_HASH = keccak(canonical_json(SPEC))
SPEC_PATH = f"/v1/jobs/specs/{to_hex(SPEC_HASH)}"


@dataclass(slots=True)
class Counter:
    """A member that answers as told and counts what it is asked."""

    answers: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    asked: list[tuple[str, Any]] = field(default_factory=list)
    broken: int = 0
    pause_s: float = 0
    left: Event = field(default_factory=Event)  # ends the pause
    url: str = ""


@pytest.fixture
def member() -> Iterator[Counter]:
    found = Counter()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(None)

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, body: Any) -> None:
            found.asked.append((self.path, body))
            if found.broken > 0:
                found.broken -= 1
                self.connection.close()
                return
            found.left.wait(found.pause_s)
            status, content = found.answers.get(self.path, (404, b'{"error": "unknown", "message": "no such thing"}'))
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            with suppress(BrokenPipeError):  # the client has left
                self.wfile.write(content)

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    found.url = f"http://127.0.0.1:{server.server_port}"
    yield found
    found.left.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def http(member: Counter) -> Iterator[JsonHttp]:
    made = JsonHttp(member.url)
    yield made
    made.close()


def test_spec_is_taken_only_with_its_hash(member: Counter, http: JsonHttp) -> None:
    member.answers[SPEC_PATH] = (200, json.dumps(SPEC).encode())
    assert HttpOracleReader(http).spec(SPEC_HASH) == SPEC
    member.answers[SPEC_PATH] = (200, json.dumps({**SPEC, "steps": 5}).encode())
    with pytest.raises(UnavailableError, match="another hash"):
        HttpOracleReader(http).spec(SPEC_HASH)


def test_spec_with_floats_is_refused(member: Counter, http: JsonHttp) -> None:
    member.answers[SPEC_PATH] = (200, b'{"kind": "train", "steps": 4.5}')
    with pytest.raises(InvalidInputError):
        HttpOracleReader(http).spec(SPEC_HASH)


def test_heartbeat_is_posted_as_the_protocol_says(member: Counter, http: JsonHttp) -> None:
    member.answers["/v1/heartbeats"] = (202, b'{"duplicate": false}')
    heartbeat = Heartbeat(node=NODE, sequence=3, issued_at=Timestamp(10), expires_at=Timestamp(70))
    HttpOracleInbox(http).heartbeat(heartbeat, Signature(bytes(65)))
    fields = {"node": NODE, "sequence": 3, "issuedAt": 10, "expiresAt": 70}
    assert member.asked == [("/v1/heartbeats", {"heartbeat": fields, "signature": "0x" + "00" * 65})]


def test_broken_connection_is_tried_once_more(member: Counter, http: JsonHttp) -> None:
    member.answers["/v1/windows/current"] = (200, b'{"windows": []}')
    member.broken = 1
    assert HttpOracleReader(http).windows() == ()
    assert len(member.asked) == 2

    member.broken = 5
    with pytest.raises(UnavailableError) as caught:
        HttpOracleReader(http).windows()
    assert caught.value.code == "oracle_unreachable"


@pytest.mark.parametrize(
    ("status", "family"),
    [
        (404, InvalidInputError),
        (409, RejectedError),
        (413, InvalidInputError),
        (422, InvalidInputError),
        (429, UnavailableError),
        (500, InconsistentError),
        (503, UnavailableError),
    ],
)
def test_refusals_keep_their_family_and_words(
    member: Counter, http: JsonHttp, status: int, family: type[SwarmError]
) -> None:
    body = {"error": "some_code", "message": "some reason", "fix": "some fix", "values": {}}
    member.answers["/v1/windows/current"] = (status, json.dumps(body).encode())
    with pytest.raises(family, match="some reason") as caught:
        HttpOracleReader(http).windows()
    assert (caught.value.code, caught.value.fix) == ("some_code", "some fix")
    assert len(member.asked) == 1  # a refusal is not repeated


@pytest.mark.parametrize(
    "content",
    [b"", b"<html>", b"[]", b"[" * 100_000, b"\xff\xfe", b'{"windows": 1}', b'{"windows": ' + b"1" * 5_000 + b"}"],
)
def test_nonsense_is_an_unavailable_member(member: Counter, http: JsonHttp, content: bytes) -> None:
    member.answers["/v1/windows/current"] = (200, content)
    with pytest.raises(UnavailableError):
        HttpOracleReader(http).windows()


def test_answer_without_end_is_cut_off(member: Counter, http: JsonHttp) -> None:
    member.answers["/v1/windows/current"] = (200, b" " * (MAX_ANSWER_BYTES + 1))
    with pytest.raises(UnavailableError, match="answers more than"):
        HttpOracleReader(http).windows()


def test_slow_member_is_left_in_time(member: Counter) -> None:
    member.pause_s = 30.0
    member.answers["/v1/windows/current"] = (200, b'{"windows": []}')
    impatient = JsonHttp(member.url, httpx2.Client())
    started = time.monotonic()
    with pytest.raises(UnavailableError):
        impatient.post("/v1/windows/current", {}, timeout_s=0.1)
    assert time.monotonic() - started < 15.0
    impatient.close()


def test_member_that_is_not_there_is_unavailable() -> None:
    nobody = JsonHttp("http://127.0.0.1:9")
    with pytest.raises(UnavailableError):
        nobody.get("/v1/status")
    nobody.close()

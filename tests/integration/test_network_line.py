"""Payloads over real HTTP: streams through the member's own server, in small memory, and refusals that stop them."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
import uvicorn

from node.audits.exchange import run_audit
from node.audits.line import HttpLine, MemberLines
from node.audits.network import MeasuredLine
from node.model import AuditKey
from node.oracle_client import HttpOracleAudits, JsonHttp
from node.ports import AuditQuestion
from oracle.api.server import http_config
from oracle.pipeline.audits import judge_audits
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.errors import InvalidInputError, SwarmError, UnavailableError
from swarm_chain.core.kinds import Category
from swarm_chain.core.units import Hash32
from tests.member_world import ALICE, MINIMAL, MemberWorld
from tests.network_world import begin, throwing

PARAMS = MINIMAL.network


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[MemberWorld, str]]:
    """A member that serves on loopback, after its epoch's first window."""
    world = throwing(MemberWorld(tmp_path))
    begin(world)
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(http_config(world.app))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield world, f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join()
    world.close_down()


def audit(world: MemberWorld, url: str, auditee: MeasuredLine) -> tuple[int, str]:
    """Units and reason after one audited window."""
    window = world.open(1)
    world.close(window)
    http = JsonHttp(url)
    key = AuditKey(window_id=window, device=0, category=Category.NETWORK, member="it")
    try:
        run_audit(key, HttpOracleAudits(http), auditee, ALICE, world.domain)
    finally:
        http.close()
        world.draw(window)
        found = judge_audits(world.member.auditing)
    ((_, one),) = found
    return one.units, one.reason


def test_line_when_the_largest_payload_goes_both_ways_then_the_claim_is_proven(served: tuple[MemberWorld, str]) -> None:
    world, url = served
    lines = MemberLines([url])

    # The member's clock stands still in this world: all that is shown is that every byte made both ways.
    assert audit(world, url, MeasuredLine(PARAMS.most_mbps, PARAMS, lines.of)) == (PARAMS.most_mbps, "")


class Zeros(MeasuredLine):
    """Sends zeros, and counts how many were taken."""

    taken = 0

    def openings(self, question: AuditQuestion, _draw: Hash32) -> list[dict[str, object]]:
        def zeros() -> Iterator[bytes]:
            while True:
                Zeros.taken += 4096
                yield bytes(4096)

        self._line_to(question.member).upload(question.audit_id, zeros(), 10**9)
        return []


def test_upload_when_wrong_from_the_first_byte_then_stopped_and_nothing_proven(served: tuple[MemberWorld, str]) -> None:
    world, url = served

    with pytest.raises(SwarmError):
        audit(world, url, Zeros(PARAMS.least_mbps, PARAMS, MemberLines([url]).of))

    assert Zeros.taken < 10**8, "a wrong upload was read to its end"
    with world.engine.connect() as connection:
        (reason,) = connection.exec_driver_sql("SELECT reason FROM audits").one()
    assert reason == "wrong_bytes"


def test_line_when_the_member_refuses_then_its_reason_comes_through(served: tuple[MemberWorld, str]) -> None:
    _, url = served
    line = HttpLine(url)

    with pytest.raises(InvalidInputError) as down:
        list(line.download(keccak(b"no audit")))
    with pytest.raises(InvalidInputError) as up:
        line.upload(keccak(b"no audit"), iter([bytes(10)]), 10)

    assert down.value.code == up.value.code == "unknown_audit"
    line.close()


def test_line_when_nobody_is_there_then_unavailable() -> None:
    line = HttpLine("http://127.0.0.1:9")

    with pytest.raises(UnavailableError) as down:
        list(line.download(keccak(b"audit")))
    with pytest.raises(UnavailableError) as up:
        line.upload(keccak(b"audit"), iter([b""]), 0)

    assert (down.value.code, up.value.code) == ("line_broken", "line_broken")
    with pytest.raises(UnavailableError):
        MemberLines(["http://127.0.0.1:9"]).of(ALICE.address)


def test_payload_route_when_asked_with_a_compressed_body_or_json_then_bytes_stay_bytes(
    served: tuple[MemberWorld, str],
) -> None:
    _, url = served
    answer = httpx2.post(
        f"{url}/v1/audits/{to_hex(keccak(b'x'))}/upload", content=b"x", headers={"Content-Encoding": "gzip"}
    )

    assert (answer.status_code, answer.json()["error"]) == (404, "unknown_audit")

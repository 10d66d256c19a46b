"""A doctor's port, a member's call: over real sockets, through the real application."""

import socket
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
import uvicorn

from node.doctor.judge_ports import judge_ports
from node.doctor.reach import Asker, reach
from oracle.api.server import http_config
from swarm_chain.core.checkup import Level
from swarm_chain.core.units import Timestamp
from tests.member_world import ALICE, STRANGER, MemberWorld

HOST = "127.0.0.1"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[MemberWorld, str]]:
    """A member that listens, and its URL."""
    world = MemberWorld(tmp_path)
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(http_config(world.app))
    thread = Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield world, f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join()
    world.close_down()


def _asker(world: MemberWorld, key: object = ALICE) -> Asker:
    return Asker(signer=key, domain=world.domain, now=Timestamp(world.now))  # type: ignore[arg-type]  # fakes sign too


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as held:
        return int(held.getsockname()[1])


def test_reach_when_the_port_is_free_then_the_greeting_comes_through(served: tuple[MemberWorld, str]) -> None:
    world, url = served
    found = reach(_free_port(), [url, "http://127.0.0.1:1"], _asker(world), HOST)

    assert [(one.is_reached, one.came_through) for one in found.called] == [(True, True), (False, False)]
    assert found.called[1].refusal
    (check,) = judge_ports([found])
    assert check.line.level is Level.OK


def test_reach_when_a_program_listens_already_then_it_stays_and_is_reached(served: tuple[MemberWorld, str]) -> None:
    world, url = served
    with socket.create_server((HOST, 0)) as held:
        found = reach(int(held.getsockname()[1]), [url], _asker(world), HOST)

    assert (found.is_free, found.called[0].is_reached) == (False, True)


def test_reach_when_the_node_is_nobodys_then_the_members_reason_is_shown(served: tuple[MemberWorld, str]) -> None:
    world, url = served
    (check,) = judge_ports([reach(_free_port(), [url], _asker(world, STRANGER), HOST)])

    assert check.line.level is Level.UNKNOWN
    assert "belongs to no provider" in check.line.found

"""Links over real sockets: two nodes' echoes and rounds, a member that serves HTTP and pings, and what it measures."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
import uvicorn

from node.links.book import HttpOracleLinks
from node.links.echo import Doorkeeper, UdpEcho
from node.links.round import LinkGrounds
from node.links.runner import LinkRunner, LinkTask
from node.oracle_client import JsonHttp
from oracle.api.app import create_app
from oracle.api.server import http_config
from oracle.pipeline.measured import measurements_of
from oracle.pipeline.ticks import ping_nodes
from oracle.store.links import trips_in
from swarm_chain.adapters.clock import SystemClock
from swarm_chain.adapters.pinger import PingCall, ping
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.kinds import Category
from swarm_chain.core.links import MAX_US
from swarm_chain.core.pings import token_hash
from swarm_chain.core.units import ZERO_HASH, EpochNumber, Timestamp
from swarm_chain.testing import FakeSigner
from tests.links_world import next_epoch
from tests.member_world import ALICE, BOB, PARAMS, STRANGER, MemberWorld

HOST = "127.0.0.1"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[MemberWorld, str]]:
    """A member that serves on loopback and pings with UDP."""
    world = MemberWorld(tmp_path)
    world.member = replace(world.member, pinger=ping)
    app = create_app(world.member, world.chain.deployment.contracts)
    listener = socket.create_server((HOST, 0))
    server = uvicorn.Server(http_config(app))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield world, f"http://{HOST}:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join()
    listener.close()
    world.close_down()


def runner_of(world: MemberWorld, url: str, key: FakeSigner, stack: ExitStack) -> LinkRunner:
    """A node's links as main wires them."""
    clock = SystemClock()
    door = Doorkeeper(world.domain, key.address, clock.monotonic_ms)
    echo = UdpEcho(HOST, 0, door)
    stack.callback(echo.close)
    http = JsonHttp(url)
    stack.callback(http.close)
    grounds = LinkGrounds(
        signer=key,
        domain=world.domain,
        params=replace(PARAMS.links, gap_ms=1),
        members={url: HttpOracleLinks(http)},
        pinger=ping,
        admit=door.admit,
    )
    return LinkRunner(grounds, (HOST, echo.port), clock.monotonic_ms)


def task(world: MemberWorld, *, measures: bool) -> LinkTask:
    """What the agent asks for now."""
    return LinkTask(epoch=world.epoch, issued_at=Timestamp(world.now), measures=measures)


def test_links_when_two_nodes_measure_over_udp_then_the_members_measurements_have_both(
    served: tuple[MemberWorld, str],
) -> None:
    world, url = served
    with ExitStack() as stack:
        runners = [runner_of(world, url, key, stack) for key in (ALICE, BOB)]
        for one in runners:
            one.work(task(world, measures=False))
        next_epoch(world)
        world.close(world.open(0))
        for one in (*runners, *runners, *runners):
            one.work(task(world, measures=True))
        ping_nodes(world.member)

    epoch = world.epoch
    assert all(epoch in one.finished() for one in runners)
    assert trips_in(world.engine, epoch).keys() == {ALICE.address, BOB.address}
    found = {one.node: one for one in measurements_of(world.member, world.member.follower.sight, epoch)}
    for key in (ALICE, BOB):
        measured = found[key.address]
        assert measured.category is Category.NETWORK
        assert measured.service.response_us is not None
        assert 0 < measured.service.response_us < MAX_US
        assert measured.service.jitter_us is not None


def test_runner_when_the_member_is_away_then_it_rests_and_tries_again(served: tuple[MemberWorld, str]) -> None:
    world, _ = served
    with ExitStack() as stack:
        runner = runner_of(world, "http://127.0.0.1:9", ALICE, stack)
        runner.start(task(world, measures=True))
        while not runner.finished() and not runner.rests:
            threading.Event().wait(0.01)

        assert runner.busy
        assert runner.finished() == frozenset()


def test_ping_when_nobody_is_there_or_lets_the_caller_in_then_away(served: tuple[MemberWorld, str]) -> None:
    world, _ = served
    door = Doorkeeper(world.domain, ALICE.address, SystemClock().monotonic_ms)
    echo = UdpEcho(HOST, 0, door)
    call = PingCall(
        host=HOST,
        port=echo.port,
        epoch=EpochNumber(1),
        caller=STRANGER.address,
        token=STRANGER.sign_typed(world.domain, token_hash(EpochNumber(1), STRANGER.address, ALICE.address)),
        probes=3,
        gap_ms=1,
        timeout_ms=50,
    )
    with pytest.raises(UnavailableError) as refused:
        ping(call)
    door.admit(EpochNumber(1), frozenset({STRANGER.address}))
    answered = ping(replace(call, timeout_ms=1000))
    echo.close()
    with pytest.raises(UnavailableError) as gone:
        ping(call)

    assert refused.value.code == gone.value.code == "peer_away"
    assert len(answered) == 3


def test_echo_when_the_port_is_taken_then_a_refusal_that_names_the_setting() -> None:
    echo = UdpEcho(HOST, 0, Doorkeeper(ZERO_HASH, ALICE.address, SystemClock().monotonic_ms))
    try:
        with pytest.raises(InvalidInputError) as caught:
            UdpEcho(HOST, echo.port, Doorkeeper(ZERO_HASH, ALICE.address, SystemClock().monotonic_ms))
    finally:
        echo.close()

    assert "SWARM_LINK_PORT" in caught.value.fix

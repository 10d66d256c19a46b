"""What SIGTERM asks for: the open window's run is handed over first, nothing new is taken, and the wait has an end."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from node import main
from node.agent import Agent
from node.state import open_state
from swarm_chain.core.encoding import keccak
from swarm_chain.core.units import WindowId
from swarm_chain.testing import FakeClock
from tests.node_world import PARAMS, NodeWorld

WINDOW, SEED = WindowId(1 << 16), keccak(b"seed")
BOUND_MS = PARAMS.compute.commit_for * 1000


class EventfulClock(FakeClock):
    """A clock on which something happens after some seconds."""

    def __init__(self, after_ms: int, event: Callable[[], None]) -> None:
        super().__init__()
        self._at_ms, self._event = self.monotonic_ms() + after_ms, event

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        if self.monotonic_ms() >= self._at_ms:
            self._event()


@pytest.fixture
def world(tmp_path: Path) -> NodeWorld:
    return NodeWorld(tmp_path)


@pytest.fixture
def term_handler() -> Iterator[None]:
    """Puts back whatever heard SIGTERM before."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def _deafen(world: NodeWorld, deaf: bool) -> None:
    for member in world.members.values():
        member.deaf = deaf


def _agent_in_a_window(world: NodeWorld) -> Agent:
    agent = world.agent()
    world.open(WINDOW, SEED)
    agent.tick()
    return agent


def _drain(world: NodeWorld, agent: Agent) -> int:
    """Ends the agent as SIGTERM would; gives the milliseconds that took."""
    began = world.clock.monotonic_ms()
    agent.drain()
    agent.run()
    return world.clock.monotonic_ms() - began


def test_drain_when_no_member_takes_the_commitment_then_waits_and_hands_it_over(world: NodeWorld) -> None:
    world.clock = EventfulClock(5_000, lambda: _deafen(world, False))
    _deafen(world, True)
    agent = _agent_in_a_window(world)

    took_ms = _drain(world, agent)

    assert [signed.commitment.window_id for signed in world.member.commitments] == [WINDOW]
    assert 5_000 <= took_ms < BOUND_MS


def test_drain_when_members_stay_deaf_then_ends_within_its_bound_and_the_next_agent_hands_it_over(
    world: NodeWorld,
) -> None:
    _deafen(world, True)
    agent = _agent_in_a_window(world)

    took_ms = _drain(world, agent)

    assert BOUND_MS <= took_ms < BOUND_MS + 1_000
    _deafen(world, False)
    again = world.agent()
    again.tick()
    assert [signed.commitment.window_id for signed in world.member.commitments] == [WINDOW]
    assert len(world.devices.started) == 1, "the run was kept, not computed again"


def test_drain_when_one_member_has_it_then_another_that_is_deaf_holds_nothing_up(world: NodeWorld) -> None:
    first, *others = world.members.values()
    for member in others:
        member.deaf = True
    agent = _agent_in_a_window(world)

    took_ms = _drain(world, agent)

    assert len(first.commitments) == 1
    assert took_ms < 1_000


def test_drain_when_the_window_is_over_then_what_was_not_handed_in_is_not_waited_for(world: NodeWorld) -> None:
    _deafen(world, True)
    agent = _agent_in_a_window(world)
    world.close(WINDOW)
    agent.tick()

    took_ms = _drain(world, agent)

    assert took_ms < 1_000


def test_drain_when_over_then_the_state_still_belongs_to_the_node(world: NodeWorld) -> None:
    agent = world.agent()
    agent.tick()
    agent.drain()
    agent.run()

    state = open_state(world.folder / "state.sqlite", world.signer.address)
    owner = state.execute("SELECT value FROM meta WHERE name = 'node'").fetchone()
    assert owner == (world.signer.address,)


@pytest.mark.usefixtures("term_handler")
def test_sigterm_when_the_node_is_still_starting_then_it_leaves_with_0() -> None:
    signal.signal(signal.SIGTERM, main._leave)

    with pytest.raises(SystemExit) as left:
        os.kill(os.getpid(), signal.SIGTERM)

    assert left.value.code == 0

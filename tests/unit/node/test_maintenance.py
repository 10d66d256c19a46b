"""An agent in announced maintenance: hands in what it owes, takes nothing new, comes back by itself, whoever restarts it."""

from pathlib import Path

import pytest

from node.agent import Agent
from node.model import Absence, AcceptJob, JobOffer, Own, SendHeartbeat, View
from node.steps import next_steps
from swarm_chain.core.encoding import keccak
from swarm_chain.core.kinds import JobKind, JobState
from swarm_chain.core.model import BlockRef
from swarm_chain.core.units import ZERO_HASH, BlockNumber, JobId, Timestamp, WindowId
from swarm_chain.testing import FakeSigner
from tests.node_world import PARAMS, PROVIDER, NodeWorld

FIRST, SECOND, SEED = WindowId(1 << 16), WindowId((1 << 16) + 1), keccak(b"seed")


@pytest.fixture
def world(tmp_path: Path) -> NodeWorld:
    return NodeWorld(tmp_path)


def announce(world: NodeWorld, starts_in: int, lasts: int) -> None:
    """Announces an absence in the next block, seconds from the newest one."""
    now = world.chain.block("latest").timestamp
    starts_at, ends_at = now + starts_in, now + starts_in + lasts
    world.chain.program.storage["absence"] = (starts_at, ends_at)
    event = {"providerId": 1, "node": world.signer.address, "startsAt": starts_at, "endsAt": ends_at}
    world.chain.append("ProviderRegistry", "MaintenanceAnnounced", **event)
    world.chain.mine()


def committed(world: NodeWorld) -> list[WindowId]:
    """Windows the first member has a commitment for."""
    return [signed.commitment.window_id for signed in world.member.commitments]


def agent_in_maintenance(world: NodeWorld) -> Agent:
    """An agent that saw one window before its maintenance began."""
    agent = world.agent()
    world.open(FIRST, SEED)
    agent.tick()
    announce(world, 2, 100)
    world.chain.mine(2)
    return agent


def test_maintenance_when_it_begins_then_no_run_starts_and_what_is_owed_is_opened(world: NodeWorld) -> None:
    agent = agent_in_maintenance(world)
    world.close(FIRST)
    world.draw(FIRST, SEED)
    world.open(SECOND, SEED)
    agent.tick()

    assert committed(world) == [FIRST]
    assert [signed.proof.window_id for signed in world.member.proofs] == [FIRST]


@pytest.mark.parametrize(("now", "takes"), [(99, True), (100, False), (199, False), (200, True)])
def test_steps_when_in_maintenance_then_no_job_is_taken_until_its_last_second(now: int, takes: bool) -> None:
    block = BlockRef(number=BlockNumber(1), hash=ZERO_HASH, timestamp=Timestamp(now))
    offer = JobOffer(
        job_id=JobId(1), state=JobState.POSTED, kind=JobKind.TRAIN, spec_hash=ZERO_HASH, accept_by=Timestamp(1_000)
    )
    away = Absence(starts_at=Timestamp(100), ends_at=Timestamp(200))
    view = View(block=block, node=FakeSigner("node").address, provider_id=PROVIDER, jobs=(offer,), absence=away)

    steps = next_steps(view, Own(now_ms=0, takes_jobs=True), PARAMS)

    assert (AcceptJob(offer=offer) in steps) is takes
    assert SendHeartbeat() in steps, "it says that it is alive all the same"


def test_maintenance_when_it_is_over_then_the_agent_comes_back_by_itself(world: NodeWorld) -> None:
    agent = agent_in_maintenance(world)
    agent.tick()
    world.chain.mine(seconds=200)
    world.open(SECOND, SEED)
    agent.tick()

    assert committed(world) == [FIRST, SECOND]


def test_maintenance_when_the_agent_restarts_then_it_is_still_away_though_it_reads_no_old_event(
    world: NodeWorld,
) -> None:
    agent_in_maintenance(world)
    fresh = Agent(world.tools(), first_block=world.chain.block("latest").number)
    world.open(SECOND, SEED)
    fresh.tick()

    assert SECOND not in committed(world)


def test_maintenance_when_withdrawn_before_it_begins_then_nothing_changes(world: NodeWorld) -> None:
    agent = world.agent()
    announce(world, 50, 100)
    agent.tick()
    world.chain.program.storage["absence"] = (0, 0)
    world.chain.append("ProviderRegistry", "MaintenanceWithdrawn", providerId=1, node=world.signer.address)
    world.chain.mine(seconds=60)
    world.open(FIRST, SEED)
    agent.tick()

    assert committed(world) == [FIRST]


def test_drain_when_in_maintenance_then_it_ends_at_once(world: NodeWorld) -> None:
    agent = agent_in_maintenance(world)
    world.close(FIRST)
    world.open(SECOND, SEED)
    agent.tick()
    began = world.clock.monotonic_ms()

    agent.drain()
    agent.run()

    assert world.clock.monotonic_ms() - began < 2_000

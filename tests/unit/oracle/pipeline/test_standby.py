"""A process that stands by looks on; one that took over never mixes the clocks of two machines."""

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from node.wire import commitment_body
from oracle.consensus.views import ExecuteCase
from oracle.pipeline.actions import perform
from oracle.pipeline.ticks import follow, judge_jobs, roll_call, work
from oracle.store import evidence, liveness, outbox
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.units import Timestamp
from swarm_chain.testing import FakeClock
from swarm_chain.testing.fakes import START
from tests.member_world import ALICE, MemberWorld

SAME, ANOTHER = "boot 1", "boot 2"
HOUR = 3600


def present(world: MemberWorld) -> dict[str, tuple[int, int]]:
    """(present, total) of each node in the running epoch."""
    return {node: (here, total) for node, here, total in liveness.roll_call_counts(world.engine, world.epoch)}


def test_standby_when_its_ticks_run_then_it_sees_the_chain_and_leaves_the_rest_to_the_holder(
    world: MemberWorld,
) -> None:
    world.client.post("/v1/heartbeats", json=world.beat(world.heartbeat()))
    world.successor(SAME)
    window = world.open()
    for tick in (follow, work, judge_jobs, roll_call):
        tick(world.member)
    assert world.member.follower.sight.state.windows[0].window_id == window
    assert evidence.first_sight(world.engine, window) is None
    assert present(world) == {}


def test_standby_when_a_node_sends_then_503_standby_and_public_reads_are_served(world: MemberWorld) -> None:
    world.successor(SAME)
    answer = world.client.post("/v1/heartbeats", json=world.beat(world.heartbeat()))
    assert (answer.status_code, answer.json()["error"]) == (503, "standby")
    assert world.client.get("/readyz").json()["error"] == "standby"
    assert world.client.get("/v1/status").json()["state"] == "standby"
    assert world.client.get("/v1/epochs").status_code == 200


def test_action_when_the_lease_was_lost_on_the_way_then_nothing_is_signed(world: MemberWorld) -> None:
    world.chain.program.action("SlashingCourt", "execute", lambda *_arguments: [])
    sight = world.member.follower.sight
    world.successor(SAME)
    with pytest.raises(UnavailableError) as raised:
        perform(world.member, sight, ExecuteCase(case_id=keccak(b"case")))
    assert raised.value.code == "standby"
    assert outbox.attempts_of(world.engine, f"case:0x{keccak(b'case').hex()}:execute") == ()


def test_commitment_when_the_successor_runs_on_the_same_machine_then_it_measures_from_the_first_sight(
    world: MemberWorld,
) -> None:
    window = world.open()
    other = world.successor(SAME)
    world.clock.advance(3)
    answer = other.client.post("/v1/commitments", json=commitment_body(other.commit(other.commitment(window))))
    assert (answer.status_code, answer.json()["elapsedMs"]) == (202, 3000)


def test_commitment_when_the_successor_runs_on_another_machine_then_it_sits_the_window_out(world: MemberWorld) -> None:
    seen = world.open(0)
    other = world.successor(ANOTHER)
    body = commitment_body(other.commit(other.commitment(seen)))
    answer = other.client.post("/v1/commitments", json=body)
    assert (answer.status_code, answer.json()["error"]) == (503, "other_clock")
    assert evidence.arrivals(other.engine, [other.record(seen)]) == ()

    unseen = other.open(1)
    world.clock.advance(2)
    answer = other.client.post("/v1/commitments", json=commitment_body(other.commit(other.commitment(unseen))))
    assert (answer.status_code, answer.json()["elapsedMs"]) == (202, 2000)


def test_roll_call_when_the_successor_runs_on_another_machine_then_a_node_has_its_grace_once_more(
    world: MemberWorld,
) -> None:
    world.client.post("/v1/heartbeats", json=world.beat(world.heartbeat()))
    world.clock.advance(10 * HOUR)  # the node died long ago by this clock, which says nothing about the other one
    other = world.successor(ANOTHER)
    roll_call(other.member)
    assert present(other) == {ALICE.address: (1, 1)}
    world.clock.advance(world.network.params.liveness.grace_for + 1)
    roll_call(other.member)
    assert present(other) == {ALICE.address: (1, 2)}


def test_vote_when_this_database_knows_nothing_of_it_then_an_operator_is_told_once(world: MemberWorld) -> None:
    with capture_logs() as logs:
        world.log("EpochOracle", "Voted", epoch=3, member=world.signer.address, reportHash=keccak(b"r"), support=1)
        work(world.member)
        work(world.member)
    assert [(line["epoch"], line["log_level"]) for line in logs if line["event"] == "second_replica"] == [(3, "error")]
    assert "swarm_foreign_votes_total 1.0" in world.client.get("/metrics").text


def test_vote_when_another_member_made_it_then_nobody_is_told(world: MemberWorld) -> None:
    with capture_logs() as logs:
        world.log("EpochOracle", "Voted", epoch=3, member=ALICE.address, reportHash=keccak(b"r"), support=1)
        work(world.member)
    assert [line for line in logs if line["event"] == "second_replica"] == []


@pytest.mark.parametrize("off", [-HOUR, HOUR], ids=["an-hour-slow", "an-hour-fast"])
def test_member_when_its_wall_clock_is_off_then_it_says_the_same(world: MemberWorld, tmp_path: Path, off: int) -> None:
    (tmp_path / "off").mkdir()
    skewed = MemberWorld(tmp_path / "off", clock=FakeClock(Timestamp(START + off)))
    assert _day(skewed) == _day(world)
    skewed.close_down()


def _day(world: MemberWorld) -> list[object]:
    """What a member answers to a node's work and keeps of it; all but the names of its own machine."""
    beat = world.client.post("/v1/heartbeats", json=world.beat(world.heartbeat()))
    window = world.open()
    world.clock.advance(2)
    committed = world.client.post("/v1/commitments", json=commitment_body(world.commit(world.commitment(window))))
    roll_call(world.member)
    windows = world.client.get("/v1/windows/current").json()
    return [
        beat.json(),
        committed.json(),
        windows,
        present(world),
        evidence.arrivals(world.engine, [world.record(window)]),
    ]

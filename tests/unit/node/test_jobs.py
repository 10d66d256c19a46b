"""Jobs from posting to drawn checkpoints, over a chain in memory and a runner in this process."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from node.records import own_jobs
from node.state import open_state
from swarm_chain.core.checkpoints import LEAST_DRAWN, content_hash, draw_segments, job_seed
from swarm_chain.core.jobs import parse_job_spec, spec_hash
from swarm_chain.core.kinds import JobState
from swarm_chain.core.signing import receipt_digest
from swarm_chain.core.units import ZERO_HASH, Hash32, JobId
from swarm_chain.reference.spec import TrainSpec
from swarm_chain.reference.train import initial_checkpoint, replays, run_segment
from swarm_chain.testing import FakeSigner, reject
from tests.node_world import OTHER_URL, PROVIDER, NodeWorld

JOB = JobId(1)
WORK: dict[str, Any] = {
    "model": "mlp",
    "seed": 5,
    "steps": 12,
    "segment_steps": 3,
    "batch": 4,
    "context": 4,
    "vocabulary": 8,
    "width": 8,
    "heads": 1,
    "layers": 1,
    "learning_rate_micro": 3000,
}


def spec_with(**changes: object) -> dict[str, object]:
    """A training job as its customer posts it."""
    return parse_job_spec({"kind": "train", "program": "swarm-train/1", "work": WORK | changes}).document()


SPEC = spec_with()
Log = tuple[str, str, Mapping[str, object]]


def job_world(folder: Path) -> NodeWorld:
    """A node that takes jobs, and an escrow for one."""
    made = NodeWorld(folder, jobs=True)
    made.chain.program.action("JobEscrow", "accept", _accept)
    made.chain.program.action("JobEscrow", "complete", _complete)
    return made


@pytest.fixture
def world(tmp_path: Path) -> NodeWorld:
    return job_world(tmp_path)


def test_job_goes_from_posting_to_drawn_checkpoints(world: NodeWorld) -> None:
    world.post_job(JOB, SPEC)
    agent = world.agent()
    _ticks(world, agent, 6)

    receipt, contents = world.member.receipts[0]
    spec = TrainSpec(**WORK)
    assert (receipt.exit_code, receipt.checkpoint_count) == (0, spec.segments + 1)
    assert receipt.spec_hash == spec_hash(SPEC)
    assert receipt.input_digest == content_hash(initial_checkpoint(spec)) == contents[0]
    assert receipt.output_digest == contents[-1]
    assert receipt.started_at <= receipt.finished_at

    digest = receipt_digest(world.domain, receipt)
    assert world.chain.program.storage["digest"] == digest
    drawn = _drawn(world, digest, spec.segments)
    assert len(drawn) == LEAST_DRAWN
    assert set(world.member.checkpoints) == {*drawn, spec.segments}
    for segment in drawn:
        assert replays(spec, world.member.checkpoints[segment], segment, contents[segment + 1])
    assert world.members[OTHER_URL].checkpoints == world.member.checkpoints


def test_last_checkpoint_is_what_anybody_gets_who_runs_the_spec(world: NodeWorld) -> None:
    world.post_job(JOB, SPEC)
    _ticks(world, world.agent(), 6)
    spec = TrainSpec(**WORK)
    content = initial_checkpoint(spec)
    for index in range(spec.segments):
        content = run_segment(spec, content, index)
    assert world.member.checkpoints[spec.segments] == content


def test_restarts_at_every_step_change_nothing(world: NodeWorld) -> None:
    world.post_job(JOB, SPEC)
    for _ in range(8):
        _ticks(world, world.agent(), 1)
    (receipt, contents), *repeats = world.member.receipts
    assert repeats == []
    assert world.chain.program.storage["digest"] == receipt_digest(world.domain, receipt)
    assert content_hash(world.member.checkpoints[4]) == contents[4]


def test_spec_that_no_node_can_run_is_declined(world: NodeWorld) -> None:
    world.post_job(JOB, spec_with(steps=13))
    _ticks(world, world.agent(), 3)
    assert "state" not in world.chain.program.storage
    state = open_state(world.folder / "state.sqlite", world.signer.address)
    assert [job.phase for job in own_jobs(state)] == ["declined"]


def test_diverging_training_ends_as_exit_code_without_checkpoints(world: NodeWorld) -> None:
    wild: dict[str, object] = {
        "seed": 1,
        "layers": 16,
        "width": 64,
        "steps": 60,
        "segment_steps": 30,
        "learning_rate_micro": 1_000_000,
    }
    world.post_job(JOB, spec_with(**wild))
    _ticks(world, world.agent(), 6)
    receipt, contents = world.member.receipts[0]
    assert receipt.exit_code == 1
    assert (contents, receipt.checkpoint_root, receipt.checkpoint_count) == ((), ZERO_HASH, 0)
    assert (receipt.input_digest, receipt.output_digest) == (ZERO_HASH, ZERO_HASH)
    assert world.chain.program.storage["digest"] == receipt_digest(world.domain, receipt)
    assert world.member.checkpoints == {}


def test_job_taken_by_another_node_is_left_alone(world: NodeWorld) -> None:
    world.post_job(JOB, SPEC)
    other = FakeSigner("other").address
    world.chain.append("JobEscrow", "JobAccepted", jobId=JOB, providerId=9, node=other, completeBy=2**40)
    world.chain.mine()
    _ticks(world, world.agent(), 4)
    assert world.member.receipts == []


def test_one_job_at_a_time(world: NodeWorld) -> None:
    world.post_job(JOB, SPEC)
    world.post_job(JOB + 1, spec_with(seed=6))
    agent = world.agent()
    agent.tick()
    state = open_state(world.folder / "state.sqlite", world.signer.address)
    assert [job.job_id for job in own_jobs(state)] == [JOB]


def test_paid_job_is_closed_and_its_files_dropped(world: NodeWorld) -> None:
    world.post_job(JOB, SPEC)
    agent = world.agent()
    _ticks(world, agent, 6)
    event = {"jobId": JOB, "providerId": PROVIDER, "toProvider": 1, "toOracle": 1, "burned": 1, "refunded": 0}
    world.chain.append("JobEscrow", "JobPaid", **event)
    world.chain.mine()
    agent.tick()
    assert world.runner is not None
    assert world.runner.stopped == [(JOB, True)]
    state = open_state(world.folder / "state.sqlite", world.signer.address)
    assert [job.phase for job in own_jobs(state)] == ["closed"]


def test_job_past_its_deadline_is_given_up(world: NodeWorld) -> None:
    world.post_job(JOB, SPEC)
    complete_by = world.chain.block("latest").timestamp
    world.chain.append(
        "JobEscrow", "JobAccepted", jobId=JOB, providerId=PROVIDER, node=world.signer.address, completeBy=complete_by
    )
    world.chain.mine()
    _ticks(world, world.agent(), 3)
    assert world.member.receipts == []
    assert "digest" not in world.chain.program.storage


def test_transaction_lost_by_the_endpoint_is_sent_again_with_a_higher_fee(world: NodeWorld) -> None:
    world.chain.automine = False
    world.post_job(JOB, SPEC)
    agent = world.agent()
    agent.tick()
    state = open_state(world.folder / "state.sqlite", world.signer.address)
    (before,) = state.execute("SELECT max_fee_wei FROM transactions").fetchone()
    world.clock.advance(31)
    agent.tick()
    (after,) = state.execute("SELECT max_fee_wei FROM transactions").fetchone()
    assert int(after) >= int(before) * 9 // 8

    world.chain.mine()
    _ticks(world, agent, 1)
    assert world.chain.program.storage["state"] >= JobState.ACCEPTED
    assert state.execute("SELECT count(*) FROM transactions WHERE purpose = 'accept/1'").fetchone() == (0,)


def test_agent_without_jobs_accepts_none(tmp_path: Path) -> None:
    world = NodeWorld(tmp_path)
    world.chain.program.action("JobEscrow", "accept", _accept)
    world.post_job(JOB, SPEC)
    _ticks(world, world.agent(), 3)
    assert "state" not in world.chain.program.storage


def _ticks(world: NodeWorld, agent: Any, count: int) -> None:
    for _ in range(count):
        agent.tick()
        world.clock.advance(1)
        world.chain.mine()


def _drawn(world: NodeWorld, digest: Hash32, segments: int) -> tuple[int, ...]:
    (completed,) = (e for e in world.chain.events(0, world.chain.block("latest").number) if e.name == "JobCompleted")
    seed = job_seed(world.chain.block(completed.block + 2).hash, digest)
    return draw_segments(seed, JOB, segments)


def _accept(storage: dict[Any, Any], sender: str, job_id: int, provider_id: int, node: str) -> list[Log]:
    if storage.get("state") is not None:
        raise reject("WrongJobState", jobId=job_id, have=2, want=1)
    assert (sender, provider_id) == (node, PROVIDER)
    storage["state"] = JobState.ACCEPTED
    accepted = {"jobId": job_id, "providerId": provider_id, "node": node, "completeBy": 2**40}
    return [("JobEscrow", "JobAccepted", accepted)]


def _complete(storage: dict[Any, Any], _: str, job_id: int, digest: bytes) -> list[Log]:
    if storage.get("state") is not JobState.ACCEPTED:
        raise reject("WrongJobState", jobId=job_id, have=3, want=2)
    storage["state"], storage["digest"] = JobState.COMPLETED, digest
    return [("JobEscrow", "JobCompleted", {"jobId": job_id, "receiptDigest": digest, "judgeBy": 2**40})]

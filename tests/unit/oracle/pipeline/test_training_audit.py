"""Training, from the node's runs over the member's HTTP and its worker to the observation, at the minimal preset's sizes."""

from dataclasses import replace
from pathlib import Path

import pytest

from node.audits.exchange import run_audit
from node.audits.training import OneTrainer, Trainee, TrainingClaim
from node.model import AuditKey
from node.ports import AuditQuestion
from oracle.pipeline.auditors import Grounds, auditors_of
from oracle.pipeline.audits import CRASHED, audit_measurements
from oracle.pipeline.member import Member, Replays
from oracle.pipeline.replay_process import UnitAsk, compute_unit, replay_segment
from oracle.pipeline.ticks import judge_answers
from oracle.store.audits import audits_of
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import SwarmError
from swarm_chain.core.kinds import Category
from swarm_chain.core.training import MAX_OPENED_BYTES, planned_work
from swarm_chain.core.units import Hash32
from swarm_chain.params import load_params
from swarm_chain.reference.audited import TrainingQuestion, audited_spec
from swarm_chain.reference.spec import MODELS
from tests.boasts.training import HalfTrainee
from tests.member_world import ALICE, BOB, MINIMAL, MemberWorld
from tests.unit.oracle.pipeline.test_memory_audit import InProcess

RATE = 128  # a transformer and an mlp


class InThisProcess:
    """Replays without a worker, which takes seconds to start; with a fault in it, if one is given."""

    def __init__(self, fault: Exception | None = None) -> None:
        self._fault = fault

    def replay(self, spec: bytes, start: bytes, segment: int) -> Hash32:
        """Content hash of the checkpoint at the end of a segment."""
        if self._fault is not None:
            raise self._fault
        return replay_segment(spec, start, segment)

    def compute(self, ask: UnitAsk) -> Hash32:
        return compute_unit(ask)

    def close(self) -> None:
        """Nothing is to be ended."""


def measured(world: MemberWorld, trainee: Trainee, slow_ms: int, replays: Replays | None = None) -> tuple[int, str]:
    """Samples/s a member measures of a node in an epoch of one audited window, and what the judge said.

    Args:
        world: the member; replays in its worker if it is given no other `replays`.
        trainee: the node's.
        slow_ms: how long the answer takes.
    """
    epoch = world.epoch
    world.close(world.open(0))
    trainee.prepare(epoch, keccak(b"seed"), 0)
    window = world.open(1)
    world.close(window)
    key = AuditKey(window_id=window, device=0, category=Category.TRAINING, member="this one")
    run_audit(key, InProcess(world, slow_ms), trainee, ALICE, world.domain)
    world.draw(window)
    member = world.member if replays is None else with_replays(world, replays)
    try:
        judge_answers(Category.TRAINING, member)
    finally:
        member.replays.close()
    (one,) = audit_measurements(world.network, member.follower.sight.state, member.auditing, epoch)
    assert (one.node, one.category) == (ALICE.address, Category.TRAINING)
    (kept,) = audits_of(world.engine, ALICE.address, 9)
    return one.units or 0, kept.reason


def with_replays(world: MemberWorld, replays: Replays) -> Member:
    """The member of a world with others that replay for it."""
    member = world.member
    grounds = Grounds(
        network=member.network,
        sight=lambda: member.follower.sight,
        engine=member.engine,
        replays=replays,
        volumes=member.volumes,
    )
    return replace(member, replays=replays, auditors=auditors_of(grounds))


def claim_in(folder: Path) -> TrainingClaim:
    """What Alice claims."""
    return TrainingClaim(node=ALICE.address, rate=RATE, params=MINIMAL.training, folder=folder / "training")


def test_training_when_done_then_the_rate_is_measured_and_nothing_stays_on_disk(
    world: MemberWorld, tmp_path: Path
) -> None:
    trainee = Trainee(claim_in(tmp_path), OneTrainer())

    assert measured(world, trainee, MINIMAL.training.target_ms * 2) == (RATE // 2, "")
    assert list((tmp_path / "training").rglob("*.ckpt")) == []


def test_training_when_every_second_segment_is_made_up_then_nothing(world: MemberWorld, tmp_path: Path) -> None:
    assert measured(world, HalfTrainee(claim_in(tmp_path)), 1, InThisProcess()) == (0, "false_segment")


def test_judge_when_it_crashes_over_honest_training_then_rejected_and_the_alert_has_its_metric(
    world: MemberWorld, tmp_path: Path
) -> None:
    trainee = Trainee(claim_in(tmp_path), OneTrainer())

    assert measured(world, trainee, 1, InThisProcess(ZeroDivisionError())) == (0, CRASHED)

    crashes = world.member.metrics.registry.get_sample_value("swarm_audit_crashes_total", {"category": "training"})
    assert crashes == 1


def test_openings_when_they_are_of_another_question_then_the_device_says_they_are_gone(tmp_path: Path) -> None:
    trainee = Trainee(claim_in(tmp_path), OneTrainer())
    question = AuditQuestion(
        audit_id=keccak(b"one"), member=ALICE.address, device=0, claim=RATE, nonce=keccak(b"nonce")
    )

    with pytest.raises(SwarmError) as caught:
        trainee.openings(question, keccak(b"draw"))

    assert caught.value.code == "claim_lost"


@pytest.mark.parametrize("rate", [0, MINIMAL.training.most_rate + 1])
def test_claim_when_out_of_bounds_then_refused(rate: int) -> None:
    with pytest.raises(SwarmError) as caught:
        planned_work(MINIMAL.training, rate)

    assert caught.value.code == "claim"


@pytest.mark.parametrize("preset", ["mainnet", "minimal"])
def test_params_when_models_are_built_from_them_then_their_openings_fit_a_body(preset: str) -> None:
    params = load_params(preset).training
    question = TrainingQuestion(node=ALICE.address, device=0, nonce=keccak(b"nonce"))
    specs = [audited_spec(params, question, run) for run in range(len(MODELS))]

    assert [spec.model for spec in specs] == list(MODELS)
    largest = max(144 + 12 * spec.parameter_count for spec in specs)
    assert params.draws * -(-largest // 3) * 4 <= MAX_OPENED_BYTES
    assert all(spec.segments * spec.segment_steps * spec.batch == params.run_samples for spec in specs)


def test_seed_when_anything_is_another_then_another_run() -> None:
    params, nonce = MINIMAL.training, keccak(b"nonce")
    asked = TrainingQuestion(node=ALICE.address, device=0, nonce=nonce)
    others = [
        (asked, 2),
        (TrainingQuestion(node=ALICE.address, device=1, nonce=nonce), 0),
        (TrainingQuestion(node=ALICE.address, device=0, nonce=keccak(nonce)), 0),
        (TrainingQuestion(node=BOB.address, device=0, nonce=nonce), 0),
    ]

    seeds = {audited_spec(params, question, run).seed for question, run in [(asked, 0), *others]}
    assert len(seeds) == 1 + len(others)

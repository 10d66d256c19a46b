"""What economics.md says is never slashed, each by the judge that would: a settlement that found anything here would be wrong.

Every case has a history that escalates, so that any charge at all would cost stake; the control shows that one does.
"""

from dataclasses import replace
from typing import Any

import pytest

from oracle.maintenance import maintenance_bps
from oracle.model import EpochFacts, EpochState, JudgedJob, PastViolation, PreviousEpoch, Settlement
from oracle.settle import settle_epoch
from swarm_chain.core.kinds import JobKind, JobState, Outcome, Severity, ViolationClass
from swarm_chain.core.model import Announcement, ChainState, JobRecord, SettlementLeaf, Verdict
from swarm_chain.core.units import (
    Address,
    Bps,
    EpochNumber,
    Hash32,
    JobId,
    Mtops,
    ProviderId,
    Timestamp,
    Wei,
    window_id,
)
from tests.oracle_world import NETWORK, address, provider, ref_block

EPOCH = EpochNumber(40)
NODE = address("a")
WINDOW = window_id(EPOCH, 0)
HISTORY = tuple(
    PastViolation(provider_id=ProviderId(1), violation_class=row, severity=Severity.WARNING, epoch=EpochNumber(epoch))
    for row in (ViolationClass.PERFORMANCE, ViolationClass.PROTOCOL)
    for epoch in (37, 38)
)


def _settle(before: int = EPOCH - 1, records: tuple[JobRecord, ...] = (), **facts: Any) -> Settlement:
    previous = PreviousEpoch(
        manifest_hash=Hash32(b"\1" * 32),
        leaves=(SettlementLeaf(provider_id=ProviderId(1), cum_reward_wei=Wei(10**20), cum_penalty_wei=Wei(0)),),
        state=EpochState(
            epoch=EpochNumber(before),
            carry_wei=Wei(0),
            gross_wei=((ProviderId(1), Wei(10**18)),),
            clean_epochs=((ProviderId(1), 50),),
            violations=HISTORY,
        ),
    )
    state = ChainState(block=ref_block(EPOCH), providers=(provider(1, "a"),), jobs=records)
    return settle_epoch(state, EpochFacts(epoch=EPOCH, **facts), previous, NETWORK)


def _assert_unharmed(settled: Settlement) -> None:
    assert settled.found == ()
    assert settled.total_penalty_wei == 0
    assert dict(settled.next_state.clean_epochs)[ProviderId(1)] >= 50, "nor does it cost tenure"


def _availability(share: int) -> dict[Address, Bps]:
    return {NODE: Bps(share)}


def _verdict(reason: str, outcome: Outcome) -> Verdict:
    return Verdict(window_id=WINDOW, node=NODE, device=0, outcome=outcome, reason=reason)


def test_control_when_absent_without_a_word_then_slashed_and_penalised() -> None:
    settled = _settle(availability=_availability(0))

    (found,) = settled.found
    assert found.violation.severity is Severity.SEVERE
    assert found.violation.amount_wei > 0
    assert settled.total_penalty_wei > 0
    assert settled.next_state.clean_epochs == ()


@pytest.mark.parametrize(("reason", "outcome"), [("late", Outcome.MISSING), ("no_proof", Outcome.MISSING)])
def test_late_when_a_proof_came_too_late_then_never_slashed(reason: str, outcome: Outcome) -> None:
    late = (_verdict(reason, outcome),)

    _assert_unharmed(_settle(windows=(WINDOW,), verdicts=late, availability=_availability(10_000)))


def test_maintenance_when_offline_as_announced_then_never_slashed() -> None:
    start = NETWORK.epoch_start(EPOCH)
    announced = Announcement(
        node=NODE, starts_at=start, ends_at=Timestamp(start + 60), announced_at=Timestamp(start - 10)
    )

    away = maintenance_bps([announced], EPOCH, NETWORK)

    _assert_unharmed(_settle(availability=_availability(0), maintenance=away))


def test_maintenance_when_offline_for_just_the_announced_half_then_never_slashed() -> None:
    start = NETWORK.epoch_start(EPOCH)
    announced = Announcement(
        node=NODE, starts_at=start, ends_at=Timestamp(start + 30), announced_at=Timestamp(start - 10)
    )

    away = maintenance_bps([announced], EPOCH, NETWORK)

    _assert_unharmed(_settle(availability=_availability(5000), maintenance=away))
    assert _settle(availability=_availability(0), maintenance=away).total_penalty_wei > 0, "the other half is owed"


def test_maintenance_when_announced_afterwards_then_slashed_all_the_same() -> None:
    start = NETWORK.epoch_start(EPOCH)
    excuse = Announcement(node=NODE, starts_at=start, ends_at=Timestamp(start + 60), announced_at=Timestamp(start + 59))

    settled = _settle(availability=_availability(0), maintenance=maintenance_bps([excuse], EPOCH, NETWORK))

    assert settled.found != ()


@pytest.mark.parametrize(
    ("outcome", "reason"), [(Outcome.FAILED, "exit_code"), (Outcome.FAILED, "false_checkpoint"), (Outcome.MISSING, "")]
)
def test_customer_when_a_job_fails_whoever_is_at_fault_then_never_slashed(outcome: Outcome, reason: str) -> None:
    job = JobRecord(
        job_id=JobId(1),
        state=JobState.COMPLETED,
        kind=JobKind.TRAIN,
        customer=address("dave"),
        spec_hash=Hash32(b"\2" * 32),
        budget_wei=Wei(1000),
        posted_at=Timestamp(0),
        provider_id=ProviderId(1),
        node=NODE,
    )
    judged = (JudgedJob(job_id=JobId(1), outcome=outcome, reason=reason),)

    _assert_unharmed(_settle(records=(job,), jobs=judged, availability=_availability(10_000)))


def test_silent_oracle_when_epochs_went_unreported_then_never_slashed_for_them() -> None:
    settled = _settle(before=EPOCH - 8, availability=_availability(10_000))

    _assert_unharmed(settled)


def test_void_window_when_none_counts_then_never_slashed_and_nobody_loses() -> None:
    missing = (_verdict("no_commitment", Outcome.MISSING),)

    _assert_unharmed(_settle(windows=(), verdicts=missing, availability=_availability(10_000)))


def test_unmeasured_when_nobody_called_the_roll_then_never_slashed() -> None:
    _assert_unharmed(_settle())
    _assert_unharmed(_settle(availability={address("another node"): Bps(0)}))


def test_unmeasured_when_services_were_not_measured_then_no_quality_is_lost() -> None:
    passed = replace(_verdict("", Outcome.PASSED), mtops=Mtops(10))

    settled = _settle(windows=(WINDOW,), verdicts=(passed,))

    _assert_unharmed(settled)
    assert settled.lines[0].weights[0].quality_bps == 10_000

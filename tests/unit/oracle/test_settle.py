"""Settlement of whole epochs, one after the other."""

from dataclasses import replace

import pytest

from oracle.model import EpochFacts, EpochState, JudgedJob, PastViolation, PreviousEpoch
from oracle.publish.report import PublishedEpoch, build_report
from oracle.settle import covered_epochs, open_jobs, settle_epoch
from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.kinds import Category, JobKind, JobState, Outcome, Severity, ViolationClass
from swarm_chain.core.model import ChainState, JobRecord, KeyRemoval, Verdict
from swarm_chain.core.units import EpochNumber, Hash32, JobId, Mtops, ProviderId, Timestamp, Wei, window_id
from tests.oracle_world import MEMBERS, NETWORK, Device, Scene, address, previous_of, provider, ref_block, scene

PROVIDERS = (provider(1, "alice"), provider(2, "bob"), provider(3, "mallory"), provider(4, "carol"))
HONEST = (Device(node="alice"), Device(node="bob", elapsed_ms=2))


def _job(number: int, state: JobState = JobState.COMPLETED) -> JobRecord:
    return JobRecord(
        job_id=JobId(number),
        state=state,
        kind=JobKind.TRAIN,
        customer=address("dave"),
        spec_hash=Hash32(b"\2" * 32),
        budget_wei=Wei(1000 + number),
        posted_at=Timestamp(NETWORK.epoch_start(0)),
        provider_id=ProviderId(2),
        node=address("bob"),
        receipt_digest=Hash32(bytes([number] * 32)),
        completed_at=Timestamp(NETWORK.epoch_start(0) + 30),
    )


def _state(*jobs: JobRecord) -> ChainState:
    return ChainState(block=ref_block(0), providers=PROVIDERS, jobs=jobs, members=MEMBERS, quorum=1)


def _publish(played: Scene, previous: PreviousEpoch | None = None) -> PublishedEpoch:
    return build_report(played.state, played.bundle(previous), previous, NETWORK)


def test_settle_when_mallory_lies_and_carol_is_silent_then_each_gets_what_is_due() -> None:
    first = _publish(scene(PROVIDERS, (*HONEST, Device(node="carol"), Device(node="mallory", garbage_from=128))))
    devices = (*HONEST, Device(node="carol", commits=False), Device(node="mallory", garbage_from=128))
    played = scene(PROVIDERS, devices, epoch=1, roll_calls={"carol": (0, 30)})
    before = previous_of(first)

    second = _publish(played, before)

    alice, bob, mallory, carol = second.settlement.lines
    assert alice.reward_wei == 2 * bob.reward_wei > 0
    assert mallory.reward_wei == carol.reward_wei == mallory.penalty_wei == 0
    assert carol.penalty_wei == first.settlement.lines[3].reward_wei * 9990 // 10_000
    kinds = [(v.provider_id, v.violation_class.name, v.severity.name) for v in second.settlement.result.violations]
    assert kinds == [(4, "PERFORMANCE", "WARNING")], "what a false proof costs is ComputeCourt's to say"


def test_settle_when_epochs_follow_then_leaves_are_cumulative() -> None:
    first = _publish(scene(PROVIDERS, HONEST))
    second = _publish(scene(PROVIDERS, HONEST, epoch=1), previous_of(first))

    for old, new, line in zip(
        first.settlement.result.leaves, second.settlement.result.leaves, second.settlement.lines, strict=True
    ):
        assert new.cum_reward_wei == old.cum_reward_wei + line.reward_wei
        assert new.cum_penalty_wei == old.cum_penalty_wei + line.penalty_wei


def test_settle_when_a_provider_joined_then_its_leaf_follows() -> None:
    first = _publish(scene(PROVIDERS[:2], HONEST))
    second = _publish(scene(PROVIDERS, HONEST, epoch=1), previous_of(first))

    assert [leaf.provider_id for leaf in second.settlement.result.leaves] == [1, 2, 3, 4]
    assert second.settlement.result.leaves[3].cum_reward_wei == 0


def test_settle_when_an_epoch_was_missed_then_the_next_covers_both() -> None:
    first = previous_of(_publish(scene(PROVIDERS, HONEST)))
    once = _publish(scene(PROVIDERS, HONEST, epoch=1), first)
    late = _publish(scene(PROVIDERS, HONEST, epoch=2), first)

    assert covered_epochs(EpochNumber(2), first) == 2
    assert late.settlement.pools.emission_wei > once.settlement.pools.emission_wei * 199 // 100


def test_settle_when_reports_start_late_then_the_first_pays_for_its_own_epoch_only() -> None:
    assert covered_epochs(EpochNumber(7), None) == 1


def test_settle_when_a_provider_retired_then_its_last_reward_is_forgotten() -> None:
    first = _publish(scene(PROVIDERS, HONEST))
    gone = (replace(PROVIDERS[0], retired=True, nodes=(), past_nodes=PROVIDERS[0].nodes), *PROVIDERS[1:])

    second = _publish(scene(gone, HONEST[1:], epoch=1), previous_of(first))

    assert [number for number, _ in second.settlement.next_state.gross_wei] == [2]


def test_settle_when_a_node_key_was_removed_then_what_it_proved_earns_nothing() -> None:
    removal = KeyRemoval(node=PROVIDERS[0].nodes[0], removed_at=Timestamp(NETWORK.epoch_start(0)))
    left = replace(PROVIDERS[0], nodes=(), past_nodes=PROVIDERS[0].nodes, removals=(removal,))

    kept, removed = _publish(scene(PROVIDERS, HONEST)), _publish(scene((left, *PROVIDERS[1:]), HONEST))

    assert kept.settlement.lines[0].reward_wei > 0
    assert removed.settlement.lines[0].reward_wei == removed.settlement.lines[0].penalty_wei == 0
    assert removed.settlement.lines[1].reward_wei > 0
    assert removed.settlement.next_state.plans == tuple(
        plan for plan in kept.settlement.next_state.plans if plan.node != removal.node
    )


def test_jobs_when_judged_then_paid_refunded_or_left_open() -> None:
    state = _state(_job(1), _job(2), _job(3), _job(4, JobState.ACCEPTED))
    judged = (
        JudgedJob(job_id=JobId(1), outcome=Outcome.PASSED),
        JudgedJob(job_id=JobId(2), outcome=Outcome.FAILED, reason="wrong_segment"),
        JudgedJob(job_id=JobId(3), outcome=Outcome.MISSING),
        JudgedJob(job_id=JobId(4), outcome=Outcome.PASSED),
    )

    settled = settle_epoch(state, EpochFacts(epoch=EpochNumber(0), jobs=judged), None, NETWORK)

    assert [(job.job_id, job.pay_wei) for job in settled.result.jobs] == [(1, 1001), (2, 0)]
    assert settled.next_state.jobs == (1, 2)


def test_jobs_when_judged_before_but_unsettled_then_not_judged_again_until_forgotten_by_the_chain() -> None:
    judged = (JudgedJob(job_id=JobId(1), outcome=Outcome.PASSED),)
    first = settle_epoch(_state(_job(1)), EpochFacts(epoch=EpochNumber(0), jobs=judged), None, NETWORK)
    before = PreviousEpoch(manifest_hash=Hash32(b"\3" * 32), leaves=first.result.leaves, state=first.next_state)

    again = settle_epoch(_state(_job(1)), EpochFacts(epoch=EpochNumber(1), jobs=judged), before, NETWORK)
    paid = settle_epoch(_state(_job(1, JobState.PAID)), EpochFacts(epoch=EpochNumber(1)), before, NETWORK)

    assert open_jobs(_state(_job(1)), before) == ()
    assert (again.result.jobs, again.next_state.jobs) == ((), (1,))
    assert paid.next_state.jobs == ()


def test_settle_when_ids_have_a_gap_then_stops() -> None:
    state = replace(_state(), providers=(PROVIDERS[0], PROVIDERS[2]))

    with pytest.raises(InconsistentError):
        settle_epoch(state, EpochFacts(epoch=EpochNumber(0)), None, NETWORK)


@pytest.mark.parametrize(("epoch", "known"), [(0, 4), (1, 3)])
def test_settle_when_the_previous_report_does_not_fit_then_stops(epoch: int, known: int) -> None:
    before = previous_of(_publish(scene(PROVIDERS, HONEST)))
    state = replace(_state(), providers=PROVIDERS[:known])

    with pytest.raises(InconsistentError):
        settle_epoch(state, EpochFacts(epoch=EpochNumber(epoch)), before, NETWORK)


def test_settle_when_epochs_follow_then_clean_epochs_supply_and_classes_are_carried_on() -> None:
    first = _publish(scene(PROVIDERS, HONEST))
    silent = scene(PROVIDERS, (HONEST[0], Device(node="bob", commits=False)), epoch=1, roll_calls={"bob": (0, 30)})
    second = _publish(silent, previous_of(first)).settlement.next_state

    assert first.settlement.next_state.clean_epochs == ((1, 1), (2, 1))
    assert second.clean_epochs == ((1, 2),), "bob was absent, which starts it afresh"
    (supply,) = second.supply
    assert (supply.category, supply.region, supply.hardware_class) == (Category.COMPUTE, b"eu-west\0", 1)
    assert supply.units == _proven_units(silent)
    assert second.classes == ((1, 0),)


def _proven_units(played: Scene) -> int:
    """Mtops of the least window of the only device that proved anything."""
    published = _publish(played)
    return min(v.mtops for v in published.facts.verdicts if v.outcome is Outcome.PASSED)


@pytest.mark.parametrize(("clean", "expected"), [(6, 10_000), (7, 11_000)])
def test_settle_when_a_penalty_is_not_restored_then_no_multiplier_but_it_earns(clean: int, expected: int) -> None:
    old = PastViolation(
        provider_id=ProviderId(1),
        violation_class=ViolationClass.PERFORMANCE,
        severity=Severity.PENALTY,
        epoch=EpochNumber(0),
    )
    carried = EpochState(
        epoch=EpochNumber(49), carry_wei=Wei(0), violations=(old,), clean_epochs=((ProviderId(1), clean),)
    )
    before = PreviousEpoch(manifest_hash=Hash32(b"\1" * 32), leaves=(), state=carried)
    window = window_id(EpochNumber(50), 0)
    passed = Verdict(window_id=window, node=address("alice"), device=0, outcome=Outcome.PASSED, mtops=Mtops(5))
    facts = EpochFacts(epoch=EpochNumber(50), windows=(window,), verdicts=(passed,))

    settled = settle_epoch(replace(_state(), block=ref_block(50)), facts, before, NETWORK)

    line = settled.lines[0]
    assert line.weights[0].multiplier.product_bps == expected, "11000: the class is new"
    assert line.reward_wei > 0
    assert settled.next_state.violations == ((old,) if clean < 7 else ()), "remembered until it is restored"

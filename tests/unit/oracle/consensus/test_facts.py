"""From evidence to facts: which windows count, what members agree on, which jobs are judged."""

from dataclasses import replace
from typing import Any

import pytest

from oracle.consensus.bundle import EvidencePool
from oracle.consensus.facts import counted_windows, facts_of
from oracle.model import EpochState, JobFinding, Plan, PreviousEpoch
from swarm_chain.core.encoding import keccak
from swarm_chain.core.kinds import Outcome, WindowState
from swarm_chain.core.model import Announcement, JobRecord
from swarm_chain.core.signing import receipt_digest
from swarm_chain.core.units import ZERO_HASH, EpochNumber, JobId, Timestamp, Wei
from tests.oracle_world import DOMAIN, NETWORK, SHAPE, Device, Scene, address, commit, observe, provider, scene
from tests.unit.oracle.judge.test_training import _job, _signed

PROVIDERS = (provider(1, "alice"), provider(2, "bob"))
DEVICES = (Device(node="alice"), Device(node="bob", elapsed_ms=2))
PLAYED = scene(PROVIDERS, DEVICES)


def _window(played: Scene, **changes: Any) -> Scene:
    first = replace(played.state.windows[0], **changes)
    return replace(played, state=replace(played.state, windows=(first, *played.state.windows[1:])))


def test_facts_when_all_is_well_then_every_window_counts() -> None:
    facts = facts_of(PLAYED.state, PLAYED.bundle(), None, NETWORK)

    assert facts.windows == (0, 1)
    assert {(v.node, v.mtops) for v in facts.verdicts} == {(address("alice"), 16), (address("bob"), 8)}
    assert facts.availability == {address("alice"): 10_000, address("bob"): 10_000}


@pytest.mark.parametrize(
    "changes",
    [
        {"state": WindowState.CLOSED},
        {"state": WindowState.VOID},
        {"commitments_root": keccak(b"another root")},
        {"closed_at": Timestamp(NETWORK.epoch_end(0) - NETWORK.params.compute.open_for + 1)},
    ],
)
def test_window_when_undrawn_late_or_of_other_commitments_then_void_for_everybody(changes: dict[str, Any]) -> None:
    played = _window(PLAYED, **changes)

    facts = facts_of(played.state, played.bundle(), None, NETWORK)

    assert facts.windows == (1,)
    assert {verdict.window_id for verdict in facts.verdicts} == {1}


def test_window_when_it_closed_in_the_last_moment_that_leaves_time_to_open_then_counts() -> None:
    last = Timestamp(NETWORK.epoch_end(0) - NETWORK.params.compute.open_for)
    played = _window(PLAYED, closed_at=last)

    assert len(counted_windows(played.state, played.bundle(), NETWORK)) == 2


@pytest.mark.parametrize("lost", ["commitment", "exchanged"])
def test_window_when_a_commitment_was_dropped_or_exchanged_after_the_draw_then_void(lost: str) -> None:
    first = PLAYED.pool.commitments[0]
    other = commit("alice", replace(first.commitment, root=keccak(b"another")))
    changed = () if lost == "commitment" else (other,)
    pool = replace(PLAYED.pool, commitments=(*changed, *PLAYED.pool.commitments[1:]))

    facts = facts_of(PLAYED.state, replace(PLAYED, pool=pool).bundle(), None, NETWORK)

    assert facts.windows == (1,)


def test_maintenance_when_announced_on_chain_then_in_the_facts_of_that_node_whatever_the_order() -> None:
    start = NETWORK.epoch_start(0)
    half = NETWORK.params.epoch.epoch_for // 2
    said = [
        Announcement(
            node=address(name),
            starts_at=start,
            ends_at=Timestamp(start + half),
            announced_at=Timestamp(start - ahead),
        )
        for name, ahead in (("alice", 100), ("bob", 0))
    ]
    states = [replace(PLAYED.state, announcements=tuple(order)) for order in (said, said[::-1])]

    first, second = (facts_of(state, PLAYED.bundle(), None, NETWORK) for state in states)

    late = (half - NETWORK.params.maintenance.notice_for) * 10_000 // NETWORK.params.epoch.epoch_for
    assert dict(first.maintenance) == {address("alice"): 5_000, address("bob"): late + 1}
    assert first == second
    assert facts_of(PLAYED.state, PLAYED.bundle(), None, NETWORK).maintenance == {}


def test_window_when_nobody_committed_then_counts_and_all_are_missing() -> None:
    empty = scene(PROVIDERS, tuple(replace(device, commits=False) for device in DEVICES))

    facts = facts_of(empty.state, empty.bundle(), None, NETWORK)

    assert facts.windows == (0, 1)
    assert {verdict.reason for verdict in facts.verdicts} == {"no_commitment"}


def test_elapsed_when_most_members_did_not_hear_a_commitment_then_late() -> None:
    own = PLAYED.pool.observations[0].observation
    deaf = [observe(f"member {n}", replace(own, member=address(f"member {n}"), arrivals=())) for n in (2, 3)]
    pool = replace(PLAYED.pool, observations=(*PLAYED.pool.observations, *deaf))

    facts = facts_of(PLAYED.state, replace(PLAYED, pool=pool).bundle(), None, NETWORK)

    assert {(verdict.outcome, verdict.reason) for verdict in facts.verdicts} == {(Outcome.MISSING, "late")}


def test_node_when_removed_after_it_committed_then_still_judged() -> None:
    left = replace(PROVIDERS[0], nodes=(), past_nodes=PROVIDERS[0].nodes)
    state = replace(PLAYED.state, providers=(left, PROVIDERS[1]))

    facts = facts_of(state, PLAYED.bundle(), None, NETWORK)

    assert {v.outcome for v in facts.verdicts if v.node == address("alice")} == {Outcome.PASSED}


def _with_job(finding: JobFinding | None, pool: EvidencePool | None = None, job: JobRecord | None = None) -> Scene:
    played = scene(PROVIDERS, DEVICES, jobs=(finding,) if finding else ())
    state = replace(played.state, jobs=(job or _job(_signed()),))
    return replace(played, state=state, pool=replace(played.pool, receipts=(_signed(),)) if pool is None else pool)


def test_job_when_passed_and_its_receipt_fits_then_judged_with_its_seconds() -> None:
    played = _with_job(JobFinding(job_id=JobId(1), outcome=Outcome.PASSED))

    (judged,) = facts_of(played.state, played.bundle(), None, NETWORK).jobs

    assert (judged.outcome, judged.device_seconds) == (Outcome.PASSED, 20)


def test_job_when_found_failed_then_failed_with_the_reason() -> None:
    played = _with_job(JobFinding(job_id=JobId(1), outcome=Outcome.FAILED, reason="wrong_segment"))

    (judged,) = facts_of(played.state, played.bundle(), None, NETWORK).jobs

    assert (judged.outcome, judged.reason, judged.device_seconds) == (Outcome.FAILED, "wrong_segment", 0)


def test_job_when_nobody_found_anything_or_the_receipt_is_lacking_then_stays_open() -> None:
    unseen = _with_job(None)
    without = scene(PROVIDERS, DEVICES, jobs=(JobFinding(job_id=JobId(1), outcome=Outcome.PASSED),))
    without = replace(without, state=replace(without.state, jobs=(_job(_signed()),)))

    assert facts_of(unseen.state, unseen.bundle(), None, NETWORK).jobs == ()
    assert facts_of(without.state, without.bundle(), None, NETWORK).jobs == ()


def test_job_when_the_receipt_says_the_run_failed_then_not_paid_whatever_members_say() -> None:
    crashed = _signed(exit_code=1)
    job = replace(_job(crashed), receipt_digest=receipt_digest(DOMAIN, crashed.receipt))
    played = _with_job(JobFinding(job_id=JobId(1), outcome=Outcome.PASSED), job=job)
    played = replace(played, pool=replace(played.pool, receipts=(crashed,)))

    (judged,) = facts_of(played.state, played.bundle(), None, NETWORK).jobs

    assert (judged.outcome, judged.reason) == (Outcome.FAILED, "failed_run")


def test_plans_when_the_report_before_is_accepted_in_mid_epoch_then_nothing_owed_changes() -> None:
    old = (Plan(node=address("a"), device=0, m=256, n=64, steps=9),)
    new = (Plan(node=address("a"), device=0, m=256, n=64, steps=90),)
    before = PreviousEpoch(
        manifest_hash=ZERO_HASH,
        leaves=(),
        state=EpochState(epoch=EpochNumber(3), carry_wei=Wei(0), plans=old),
    )
    after = PreviousEpoch(
        manifest_hash=ZERO_HASH,
        leaves=(),
        state=EpochState(epoch=EpochNumber(4), carry_wei=Wei(0), plans=new, plans_before=old),
    )
    assert before.plans_in(5) == after.plans_in(5) == old
    assert after.plans_in(6) == new


HOSTILE: dict[str, Device] = {
    "made up": Device(node="bob", garbage_from=0),
    "half made up": Device(node="bob", garbage_from=128),
    "never opened": Device(node="bob", opens=False),
    "silent": Device(node="bob", commits=False),
    "slow": Device(node="bob", elapsed_ms=10**9),
    "of another shape": Device(node="bob", shape=replace(SHAPE, steps=SHAPE.steps + 1)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_node_when_its_neighbour_is_hostile_then_its_own_scores_stay_what_they_are(name: str) -> None:
    """Invariant 48: what a node sends moves nobody's scores but its own."""
    played = scene(PROVIDERS, (DEVICES[0], HOSTILE[name]))

    facts = facts_of(played.state, played.bundle(), None, NETWORK)

    honest = facts_of(PLAYED.state, PLAYED.bundle(), None, NETWORK)
    alice = address("alice")
    assert [(v.outcome, v.mtops) for v in facts.verdicts if v.node == alice] == [
        (v.outcome, v.mtops) for v in honest.verdicts if v.node == alice
    ]
    assert facts.availability[alice] == honest.availability[alice]
    earned, before = (sum(v.mtops for v in one.verdicts if v.node == address("bob")) for one in (facts, honest))
    assert earned < before

"""The cycle as a table: every state of chain and store, and the one action that follows."""

from dataclasses import replace
from typing import Any

import pytest

from oracle.consensus.cycle import next_action
from oracle.consensus.leading import leader_at
from oracle.consensus.reporting import epoch_to_report
from oracle.consensus.views import (
    Action,
    AssembleBundle,
    BuildReport,
    CaseRecord,
    CaseState,
    CastVote,
    CloseWindow,
    CommitSecret,
    CycleView,
    DrawWindow,
    ExecuteCase,
    JudgeWindow,
    Observe,
    OpenCase,
    OpenOutcome,
    OpenWindow,
    OwnReport,
    OwnView,
    OwnWindow,
    Publish,
    SettleJob,
    SubmitReport,
    Vote,
    Wait,
)
from oracle.consensus.windows import expected_devices, opens_at
from oracle.model import Plan
from swarm_chain.core.encoding import case_id
from swarm_chain.core.kinds import JobKind, JobState, Severity, ViolationClass, WindowState
from swarm_chain.core.model import BlockRef, ChainState, JobOutcome, JobRecord, RootRecord, Violation, WindowRecord
from swarm_chain.core.units import (
    UINT64_MAX,
    ZERO_HASH,
    Address,
    BlockNumber,
    EpochNumber,
    Hash32,
    JobId,
    ProviderId,
    RootIndex,
    Timestamp,
    Wei,
    WindowId,
    window_id,
)
from swarm_chain.params import load_params
from tests.oracle_world import GENESIS_AT, NETWORK, address, provider

EPOCH = EpochNumber(5)
ME = address("member 1")
SECRET, HASH, OTHER = Hash32(b"\7" * 32), Hash32(b"\1" * 32), Hash32(b"\2" * 32)
START = NETWORK.epoch_start(EPOCH)
FIRST, LAST = window_id(EPOCH, 0), window_id(EPOCH, 1)
ALICE, BOB = (address("alice"), 0), (address("bob"), 0)
PROVIDERS = (provider(1, "alice"), provider(2, "bob"))
COMPUTE, EPOCH_PARAMS = NETWORK.params.compute, NETWORK.params.epoch
DONE = EPOCH  # every epoch before the running one is processed


def _view(
    second: int = 0,
    *,
    number: int = 1000,
    windows: tuple[WindowRecord, ...] = (),
    processed: int = DONE,
    members: tuple[Address, ...] = (ME,),
    finalized_second: int | None = None,
    state: dict[str, Any] | None = None,
    **changes: Any,
) -> CycleView:
    block = BlockRef(number=BlockNumber(number), hash=HASH, timestamp=Timestamp(START + second))
    final_at = Timestamp(START + (second if finalized_second is None else finalized_second))
    chain = ChainState(block=block, providers=PROVIDERS, windows=windows, members=members, quorum=len(members) // 2 + 1)
    return CycleView(
        network=NETWORK,
        state=replace(chain, **(state or {})),
        finalized=replace(block, timestamp=final_at),
        processed_epochs=processed,
        **changes,
    )


def _own(**changes: Any) -> OwnView:
    return replace(OwnView(member=ME, expected=frozenset({ALICE, BOB})), **changes)


def _record(state: WindowState, window: WindowId = FIRST, **changes: Any) -> WindowRecord:
    return replace(WindowRecord(window_id=window, state=state), **changes)


COMMITTED = _record(WindowState.COMMITTED)
OPEN = _record(WindowState.OPEN, opened_at=Timestamp(START + 2), opened_block=BlockNumber(900))
CLOSED = replace(OPEN, state=WindowState.CLOSED, closed_at=Timestamp(START + 5), closed_block=BlockNumber(990))
DRAWN = replace(CLOSED, state=WindowState.DRAWN)
NEXT_COMMITTED = _record(WindowState.COMMITTED, LAST)
BOTH = frozenset({ALICE, BOB})
SECRETS = {FIRST: BlockNumber(990), LAST: BlockNumber(990)}


def _kept(window: WindowId = FIRST, **changes: Any) -> OwnWindow:
    return replace(OwnWindow(window_id=window, secret=SECRET), **changes)


WINDOW_TABLE: dict[str, tuple[CycleView, OwnView, Action]] = {
    "nothing yet": (_view(), _own(), CommitSecret(window_id=FIRST)),
    "secret fixed in this very block": (
        _view(windows=(COMMITTED,), secret_blocks={FIRST: BlockNumber(1000)}),
        _own(windows=(_kept(),)),
        CommitSecret(window_id=LAST),
    ),
    "secret old enough": (
        _view(windows=(COMMITTED,), secret_blocks=SECRETS),
        _own(windows=(_kept(),)),
        OpenWindow(window_id=FIRST),
    ),
    "secret lost": (_view(windows=(COMMITTED,)), _own(), CommitSecret(window_id=LAST)),
    "too late to open": (
        _view(EPOCH_PARAMS.epoch_for - COMPUTE.commit_for - COMPUTE.open_for + 1, windows=(COMMITTED,)),
        _own(windows=(_kept(),)),
        CommitSecret(window_id=window_id(EpochNumber(EPOCH + 1), 0)),
    ),
    "open, one is missing": (
        _view(5, windows=(OPEN, NEXT_COMMITTED)),
        _own(windows=(_kept(committed=frozenset({ALICE})),)),
        CommitSecret(window_id=window_id(EpochNumber(EPOCH + 1), 0)),
    ),
    "open, all are there": (
        _view(5, windows=(OPEN,)),
        _own(windows=(_kept(committed=BOTH),)),
        CloseWindow(window_id=FIRST),
    ),
    "open, time is over": (
        _view(2 + COMPUTE.commit_for, windows=(OPEN,)),
        _own(windows=(_kept(),)),
        CloseWindow(window_id=FIRST),
    ),
    "closed, block c + 2 is not final in the chain's view": (
        _view(5, number=992, windows=(CLOSED, NEXT_COMMITTED)),
        _own(),
        CommitSecret(window_id=window_id(EpochNumber(EPOCH + 1), 0)),
    ),
    "closed, can be drawn": (_view(5, number=993, windows=(CLOSED,)), _own(), DrawWindow(window_id=FIRST)),
    "closed, last block to draw": (
        _view(5, number=990 + 256, windows=(CLOSED,)),
        _own(),
        DrawWindow(window_id=FIRST),
    ),
    "closed, draw missed: void, the next one follows": (
        _view(5, number=990 + 257, windows=(CLOSED,)),
        _own(),
        CommitSecret(window_id=LAST),
    ),
    "void": (_view(5, windows=(replace(CLOSED, state=WindowState.VOID),)), _own(), CommitSecret(window_id=LAST)),
    "drawn, one proof is missing": (
        _view(9, windows=(DRAWN, NEXT_COMMITTED)),
        _own(windows=(_kept(committed=BOTH, proven=frozenset({BOB})),)),
        CommitSecret(window_id=window_id(EpochNumber(EPOCH + 1), 0)),
    ),
    "drawn, all proofs are there": (
        _view(9, windows=(DRAWN,)),
        _own(windows=(_kept(committed=BOTH, proven=BOTH),)),
        JudgeWindow(window_id=FIRST),
    ),
    "drawn, time to open is over": (
        _view(5 + COMPUTE.open_for, windows=(DRAWN,)),
        _own(windows=(_kept(committed=BOTH),)),
        JudgeWindow(window_id=FIRST),
    ),
    "judged, the next window opens": (
        _view(9, windows=(DRAWN, NEXT_COMMITTED), secret_blocks=SECRETS),
        _own(windows=(_kept(judged=True), _kept(LAST))),
        OpenWindow(window_id=LAST),
    ),
    "no provider yet": (
        _view(state={"providers": ()}),
        _own(),
        CommitSecret(window_id=FIRST),
    ),
}


@pytest.mark.parametrize("name", WINDOW_TABLE)
def test_window_when_in_this_state_then_this_action(name: str) -> None:
    view, own, expected = WINDOW_TABLE[name]

    assert next_action(view, own) == expected


REPORTED = EpochNumber(EPOCH - 1)  # has ended and is not reported yet
QUIET = (
    _record(WindowState.VOID),
    _record(WindowState.VOID, LAST),
    *(_record(WindowState.COMMITTED, window_id(EpochNumber(EPOCH + 1), number)) for number in (0, 1)),
)


def _reporting(second: int = 3, **changes: Any) -> CycleView:
    return _view(second, processed=DONE - 1, windows=QUIET, **changes)


def _report(**changes: Any) -> OwnView:
    report = OwnReport(epoch=REPORTED, observers=frozenset({ME}))
    return _own(reports=(replace(report, **changes),))


def _vote(member: Address = ME, report_hash: Hash32 = HASH) -> Vote:
    return Vote(epoch=REPORTED, member=member, report_hash=report_hash)


BUILT = {"bundle_hash": OTHER, "report_hash": HASH, "published": True}
END = NETWORK.deadline(REPORTED)

REPORT_TABLE: dict[str, tuple[CycleView, OwnView, Action]] = {
    "epoch ended": (_reporting(), _own(), Observe(epoch=REPORTED)),
    "not final": (_reporting(finalized_second=-1), _report(), Wait(reason="finality")),
    "final": (_reporting(finalized_second=0), _report(), AssembleBundle(epoch=REPORTED)),
    "bundled": (_reporting(), _report(bundle_hash=OTHER), BuildReport(epoch=REPORTED)),
    "built": (
        _reporting(),
        _report(bundle_hash=OTHER, report_hash=HASH),
        Publish(epoch=REPORTED, report_hash=HASH),
    ),
    "published": (_reporting(), _report(**BUILT), CastVote(epoch=REPORTED, report_hash=HASH)),
    "voted": (_reporting(votes=(_vote(),)), _report(**BUILT), SubmitReport(epoch=REPORTED, report_hash=HASH)),
    "voted for something else before the store was lost": (
        _reporting(votes=(_vote(report_hash=OTHER),)),
        _report(**BUILT),
        Wait(reason="voted_otherwise", until=END),
    ),
    "submitted": (_view(3, windows=QUIET), _report(**BUILT), Wait(reason="idle")),
    "deadline passed": (
        _view(EPOCH_PARAMS.epoch_for - 1, processed=DONE - 3, windows=QUIET),
        _report(),
        AssembleBundle(epoch=REPORTED),
    ),
}


@pytest.mark.parametrize("name", REPORT_TABLE)
def test_report_when_in_this_state_then_this_action(name: str) -> None:
    view, own, expected = REPORT_TABLE[name]

    assert next_action(view, own) == expected


@pytest.mark.parametrize(
    ("second", "processed", "expected"),
    [
        (0, EPOCH - 1, EPOCH - 1),
        (EPOCH_PARAMS.epoch_for - 1, EPOCH - 1, EPOCH - 1),
        (0, 0, EPOCH - 1),  # older ones missed their deadline: the next report covers them
        (0, EPOCH, None),
        (-1, EPOCH - 1, None),  # epoch 4 still runs
    ],
)
def test_epoch_to_report_when_time_passes_then_the_oldest_that_can_be(
    second: int, processed: int, expected: int | None
) -> None:
    assert epoch_to_report(_view(second, processed=processed)) == expected


COMMITTEE = tuple(address(f"member {number}") for number in (1, 2, 3))


def test_leader_when_slots_pass_then_everyone_gets_a_turn_in_order() -> None:
    turns = [leader_at(COMMITTEE, EPOCH, second, 60) for second in range(0, 60, 20)]

    assert sorted(turns) == sorted(COMMITTEE)
    assert leader_at(COMMITTEE, EPOCH + 1, 0, 60) == turns[1]
    assert leader_at(COMMITTEE[::-1], EPOCH, 0, 60) == turns[0]
    assert leader_at(COMMITTEE, EPOCH, 60, 60) == turns[0]


def _turn(member: Address, epoch: int) -> int:
    """Second of its slot in which it is a member's turn to report."""
    return next(s for s in range(0, 60, 20) if leader_at(COMMITTEE, epoch, s, 60) == member)


def test_committee_when_it_is_another_members_turn_then_takes_its_bundle() -> None:
    mine = _turn(ME, REPORTED)

    leading = next_action(_reporting(mine, members=COMMITTEE), _report(observers=frozenset(COMMITTEE)))
    following = next_action(_reporting((mine + 20) % 60, members=COMMITTEE), _report(observers=frozenset(COMMITTEE)))

    assert leading == AssembleBundle(epoch=REPORTED)
    assert following == Wait(reason="bundle")


def test_committee_when_too_few_observations_came_then_the_leader_waits() -> None:
    strangers = frozenset({ME, address("stranger")})

    assert next_action(_reporting(_turn(ME, REPORTED), members=COMMITTEE), _report(observers=strangers)) == Wait(
        reason="observations"
    )


@pytest.mark.parametrize(
    ("votes", "mine", "expected"),
    [
        ((_vote(),), True, Wait(reason="quorum", until=END)),
        ((_vote(), _vote(COMMITTEE[1], OTHER)), True, Wait(reason="quorum", until=END)),
        ((_vote(), _vote(address("removed"))), True, Wait(reason="quorum", until=END)),
        ((_vote(), _vote(COMMITTEE[1])), True, SubmitReport(epoch=REPORTED, report_hash=HASH)),
        ((_vote(), _vote(COMMITTEE[1])), False, Wait(reason="submission", until=END)),
    ],
)
def test_committee_when_votes_come_in_then_submitted_once_by_whose_turn_it_is(
    votes: tuple[Vote, ...], mine: bool, expected: Action
) -> None:
    second = _turn(ME, REPORTED) if mine else (_turn(ME, REPORTED) + 20) % 60

    assert next_action(_reporting(second, members=COMMITTEE, votes=votes), _report(**BUILT)) == expected


VIOLATION = Violation(
    provider_id=ProviderId(3),
    violation_class=ViolationClass.PROTOCOL,
    severity=Severity.PENALTY,
    epoch=EpochNumber(3),
    offence_at=Timestamp(START - 100),
    amount_wei=Wei(5),
    suspended_for=60,
    evidence_hash=HASH,
)
CASE = OpenOutcome(root_index=RootIndex(0), position=0, violation=VIOLATION, case_id=case_id(VIOLATION))
JOB = OpenOutcome(
    root_index=RootIndex(0), position=1, job=JobOutcome(job_id=JobId(1), receipt_digest=HASH, pay_wei=Wei(9))
)


def _root(activates_at: int = START, disabled: bool = False) -> RootRecord:
    return RootRecord(
        index=RootIndex(0),
        epoch=EpochNumber(3),
        root=HASH,
        outcomes_root=HASH,
        manifest_hash=HASH,
        leaf_count=3,
        total_reward_wei=Wei(0),
        total_penalty_wei=Wei(0),
        activates_at=Timestamp(activates_at),
        disabled=disabled,
    )


def _job(state: JobState, digest: Hash32 = HASH) -> JobRecord:
    return JobRecord(
        job_id=JobId(1),
        state=state,
        kind=JobKind.TRAIN,
        customer=address("dave"),
        spec_hash=ZERO_HASH,
        budget_wei=Wei(9),
        posted_at=Timestamp(0),
        receipt_digest=digest,
    )


def _case(state: CaseState, executable: int = 0, expires: int = 100) -> tuple[CaseRecord, ...]:
    return (
        CaseRecord(
            case_id=case_id(VIOLATION),
            state=state,
            executable_at=Timestamp(START + executable),
            expires_at=Timestamp(START + expires),
        ),
    )


IDLE = Wait(reason="idle")


@pytest.mark.parametrize(
    ("root", "cases", "expected"),
    [
        (_root(), (), OpenCase(outcome=CASE)),
        (_root(START + 4), (), IDLE),
        (_root(disabled=True), (), IDLE),
        (_root(), _case(CaseState.OPEN, 3), ExecuteCase(case_id=case_id(VIOLATION))),
        (_root(), _case(CaseState.ANSWERED, 3), ExecuteCase(case_id=case_id(VIOLATION))),
        (_root(), _case(CaseState.OPEN, 4), IDLE),
        (_root(), _case(CaseState.OPEN, 0, 3), IDLE),
        (_root(), _case(CaseState.EXECUTED), IDLE),
        (_root(), _case(CaseState.VETOED), IDLE),
        (_root(), _case(CaseState.EXPIRED), IDLE),
    ],
)
def test_case_when_its_root_is_active_then_opened_and_executed_once(
    root: RootRecord, cases: tuple[CaseRecord, ...], expected: Action
) -> None:
    view = _view(3, windows=QUIET, cases=cases, state={"roots": (root,)})

    assert next_action(view, _own(outcomes=(CASE,))) == expected


@pytest.mark.parametrize(
    "violation",
    [
        replace(VIOLATION, severity=Severity.WARNING, amount_wei=Wei(0)),
        replace(VIOLATION, offence_at=Timestamp(START + 3 - NETWORK.params.court.max_offence_age_for - 1)),
    ],
)
def test_case_when_only_a_warning_or_too_old_then_never_opened(violation: Violation) -> None:
    view = _view(3, windows=QUIET, state={"roots": (_root(),)})
    outcome = replace(CASE, violation=violation)

    assert next_action(view, _own(outcomes=(outcome,))) == IDLE


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (_job(JobState.COMPLETED), SettleJob(outcome=JOB)),
        (_job(JobState.COMPLETED, OTHER), IDLE),
        (_job(JobState.PAID), IDLE),
        (_job(JobState.REFUNDED), IDLE),
    ],
)
def test_job_when_judged_in_an_active_root_then_settled_once(job: JobRecord, expected: Action) -> None:
    view = _view(3, windows=QUIET, state={"roots": (_root(),), "jobs": (job,)})

    assert next_action(view, _own(outcomes=(JOB,))) == expected


def test_action_when_the_chain_refused_it_for_good_then_the_next_one_follows() -> None:
    view = _view(3, windows=QUIET, state={"roots": (_root(),), "jobs": (_job(JobState.COMPLETED),)})
    own = _own(outcomes=(CASE, JOB), refused=frozenset({OpenCase(outcome=CASE)}))

    assert next_action(view, own) == SettleJob(outcome=JOB)


def test_action_when_windows_and_report_both_wait_for_it_then_the_window_comes_first() -> None:
    closed = _view(5, number=993, processed=DONE - 1, windows=(CLOSED,))

    assert next_action(closed, _own()) == DrawWindow(window_id=FIRST)


def test_action_when_a_window_waits_then_the_report_goes_on() -> None:
    waiting = _view(3, processed=DONE - 1, windows=(OPEN, *QUIET[1:]))

    assert next_action(waiting, _own()) == Observe(epoch=REPORTED)


def test_action_when_not_a_member_or_before_genesis_then_waits() -> None:
    early = GENESIS_AT - START - 1

    assert next_action(_view(members=COMMITTEE[1:]), _own()) == Wait(reason="not_a_member")
    assert next_action(_view(early, processed=0), _own()) == Wait(reason="before_genesis", until=GENESIS_AT)


@pytest.mark.parametrize("name", [*WINDOW_TABLE, *REPORT_TABLE])
def test_action_when_computed_again_after_a_restart_then_the_same(name: str) -> None:
    view, own, expected = {**WINDOW_TABLE, **REPORT_TABLE}[name]

    assert next_action(view, own) == next_action(replace(view), replace(own)) == expected


def test_cycle_when_every_action_takes_effect_then_each_is_asked_for_once() -> None:
    """Plays the report of an epoch: after each action the view changes as the chain would, and nothing repeats."""
    own, processed, done = _own(), DONE - 1, []
    votes: tuple[Vote, ...] = ()
    for _ in range(10):
        view = _view(3, processed=processed, windows=QUIET, votes=votes)
        action = next_action(view, own)
        if isinstance(action, Wait):
            break
        done.append(type(action))
        own, votes, processed = _effect(action, own, votes, processed)

    assert done == [Observe, AssembleBundle, BuildReport, Publish, CastVote, SubmitReport]


def _effect(
    action: Action, own: OwnView, votes: tuple[Vote, ...], processed: int
) -> tuple[OwnView, tuple[Vote, ...], int]:
    grown: dict[type, OwnView] = {
        Observe: _report(),
        AssembleBundle: _report(bundle_hash=OTHER),
        BuildReport: _report(bundle_hash=OTHER, report_hash=HASH),
        Publish: _report(**BUILT),
    }
    if isinstance(action, CastVote):
        return own, (*votes, _vote()), processed
    if isinstance(action, SubmitReport):
        return own, (), processed + 1
    return grown[type(action)], votes, processed


def test_secret_when_lost_or_new_then_its_window_opens_within_its_slot_and_nobody_else_knows_when() -> None:
    mainnet = replace(NETWORK, params=load_params("mainnet"))
    slot_for = 86_400 // 4
    for number in range(4):
        window = window_id(EPOCH, number)
        moments = {opens_at(mainnet, window, Hash32(bytes([seed] * 32))) for seed in range(20)}
        start = mainnet.epoch_start(EPOCH) + number * slot_for
        assert all(start <= moment < start + slot_for - 420 for moment in moments)
        assert len(moments) == 20
    assert opens_at(NETWORK, LAST, SECRET) == START  # slots of 30 s cannot hide a window of 40 s


def test_expected_when_suspended_or_retired_then_nobody_waits_for_it() -> None:
    out = (
        provider(1, "a"),
        provider(2, "b", suspended_until=UINT64_MAX),
        provider(3, "c", retired=True),
        provider(4, "d", suspended_until=START),
    )
    plans = [Plan(node=address("a"), device=3, m=256, n=64, steps=9)]
    state = _view(state={"providers": out}).state

    assert expected_devices(state, plans, NETWORK) == {(address("a"), 3), (address("d"), 0)}

"""What to do next: one action from the chain and the own store, computed afresh at every tick.

    windows   secret -> open -> (commitments) -> close -> draw -> (proofs) -> judge          time-critical, so first
    report    observe -> bundle -> build -> publish -> vote -> submit                        of the epoch that ended
    outcomes  activated root: open case -> execute case, settle job

Nothing is remembered between two ticks. What the chain says is done is never asked for again, so a restart at any point
goes on without a second vote or a second submission.
"""

from collections.abc import Callable

from oracle.consensus import reporting, windows
from oracle.consensus.leading import leads_epoch
from oracle.consensus.views import (
    Action,
    CaseState,
    CycleView,
    ExecuteCase,
    OpenCase,
    OpenOutcome,
    OwnView,
    SettleJob,
    Wait,
)
from swarm_chain.core.kinds import JobState, Severity

Rule = Callable[[CycleView, OwnView], Action | None]


def next_action(view: CycleView, own: OwnView) -> Action:
    """Choose the next action of a member.

    Args:
        view: the chain at its latest block.
        own: what the member's store holds.

    Returns:
        The first action any rule asks for, in the order windows, report, outcomes, secrets ahead; `Wait` with the reason
        of the first rule that is waiting for something otherwise. The same arguments always give the same action.

    Source: oracle.md, Cycle.
    """
    if own.member not in view.state.members:
        return Wait(reason="not_a_member")
    if view.state.block.timestamp < view.network.genesis_at:
        return Wait(reason="before_genesis", until=view.network.genesis_at)
    rules: tuple[Rule, ...] = (windows.window_action, reporting.report_action, _outcome_action, windows.secret_ahead)
    waits: list[Wait] = []
    for rule in rules:
        action = rule(view, own)
        if isinstance(action, Wait):
            waits.append(action)
        elif action is not None and action not in own.refused:
            return action
    return waits[0] if waits else Wait(reason="idle")


def _outcome_action(view: CycleView, own: OwnView) -> Action | None:
    if not leads_epoch(view, own.member):
        return None
    now = view.state.block.timestamp
    active = {root.index for root in view.state.roots if not root.disabled and root.activates_at <= now}
    for outcome in own.outcomes:
        action = _case_action(outcome, view) or _job_action(outcome, view)
        if outcome.root_index in active and action is not None and action not in own.refused:
            return action
    return None


def _case_action(outcome: OpenOutcome, view: CycleView) -> Action | None:
    violation, now = outcome.violation, view.state.block.timestamp
    if violation is None or outcome.case_id is None or violation.severity is Severity.WARNING:
        return None
    case = next((case for case in view.cases if case.case_id == outcome.case_id), None)
    if case is None:
        too_old = now > violation.offence_at + view.network.params.court.max_offence_age_for
        return None if too_old else OpenCase(outcome=outcome)
    ready = case.state in (CaseState.OPEN, CaseState.ANSWERED) and case.executable_at <= now < case.expires_at
    return ExecuteCase(case_id=case.case_id) if ready else None


def _job_action(outcome: OpenOutcome, view: CycleView) -> Action | None:
    if outcome.job is None:
        return None
    completed = any(
        job.job_id == outcome.job.job_id
        and job.state is JobState.COMPLETED
        and job.receipt_digest == outcome.job.receipt_digest
        for job in view.state.jobs
    )
    return SettleJob(outcome=outcome) if completed else None

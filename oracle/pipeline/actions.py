"""Performs the actions of the cycle: each is a few lines around the store, the archive and the outbox."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, replace
from typing import Any

import structlog

from oracle.consensus.views import (
    Action,
    AdoptReport,
    AssembleBundle,
    BuildReport,
    CastVote,
    CloseWindow,
    CommitSecret,
    DrawWindow,
    ExecuteCase,
    JudgeWindow,
    Observe,
    OpenCase,
    OpenWindow,
    Publish,
    SettleJob,
    SubmitReport,
    TakeBundle,
)
from oracle.judge.windows import commitments_root
from oracle.pipeline.bundles import adopt_report, assemble, signed_verdicts, take_bundle
from oracle.pipeline.holding import keep_rooted
from oracle.pipeline.member import Member
from oracle.pipeline.names import BUNDLE, PUBLISHED, REPORT_HASH
from oracle.pipeline.observe import judge_window, keep_observation
from oracle.pipeline.paths import keep_tree
from oracle.pipeline.sight import Sight
from oracle.pipeline.transact import transact
from oracle.publish.answers import outcome_path
from oracle.publish.bundle import parse_bundle
from oracle.store import documents, evidence
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.errors import InconsistentError, RejectedError, UnavailableError
from swarm_chain.core.model import ContractCall
from swarm_chain.core.units import EpochNumber, Timestamp

log = structlog.get_logger()

SECRET_BYTES = 32


def perform(member: Member, sight: Sight, action: Action) -> None:
    """Performs one action.

    Args:
        member: whose store, key and archive are used.
        sight: the sight the action was chosen on.
        action: anything but Wait.

    Raises:
        SwarmError: it did not work; the next tick decides anew.
    """
    _PERFORMERS[type(action)](member, sight, action)


def _commit_secret(member: Member, _sight: Sight, action: CommitSecret) -> None:
    secret = evidence.save_secret(member.engine, action.window_id, member.entropy(SECRET_BYTES))
    args = (action.window_id, keccak(secret))
    _send(
        member,
        f"window:{action.window_id}:secret",
        ContractCall(contract="ChallengeBeacon", function="commitSecret", args=args),
    )


def _open_window(member: Member, _sight: Sight, action: OpenWindow) -> None:
    secret = evidence.secret_of(member.engine, action.window_id)
    args = (action.window_id, secret)
    _send(
        member, f"window:{action.window_id}:open", ContractCall(contract="ChallengeBeacon", function="open", args=args)
    )


def _close_window(member: Member, sight: Sight, action: CloseWindow) -> None:
    window = next(record for record in sight.state.windows if record.window_id == action.window_id)
    sealed = [received.signed for received in evidence.seal(member.engine, window)]
    root = commitments_root(signed.commitment for signed in sealed)
    keep_rooted(member.desk, replace(window, commitments_root=root), sealed)
    args = (action.window_id, root, len(sealed))
    _send(
        member,
        f"window:{action.window_id}:close",
        ContractCall(contract="ChallengeBeacon", function="close", args=args),
    )


def _draw_window(member: Member, _sight: Sight, action: DrawWindow) -> None:
    call = ContractCall(contract="ChallengeBeacon", function="draw", args=(action.window_id,))
    _send(member, f"window:{action.window_id}:draw", call)


def _judge_window(member: Member, sight: Sight, action: JudgeWindow) -> None:
    started_ms = member.clock.monotonic_ms()
    verdicts = judge_window(member, sight, action.window_id)
    member.metrics.judge_took(member.clock.monotonic_ms() - started_ms)
    for verdict in verdicts:
        member.metrics.judged(verdict.outcome.value, verdict.reason)
        log.info(
            "verdict",
            window=verdict.window_id,
            node=verdict.node,
            device=verdict.device,
            outcome=verdict.outcome.value,
            reason=verdict.reason,
            row=verdict.row,
            mtops=verdict.mtops,
        )
    evidence.mark_judged(member.engine, action.window_id)


def _observe(member: Member, sight: Sight, action: Observe) -> None:
    keep_observation(member, sight, action.epoch)


def _assemble(member: Member, sight: Sight, action: AssembleBundle) -> None:
    assemble(member, sight, action.epoch)


def _take(member: Member, sight: Sight, action: TakeBundle) -> None:
    with _once(member, sight, action):
        take_bundle(member, sight, action.epoch, action.bundle_hash)


def _adopt(member: Member, sight: Sight, action: AdoptReport) -> None:
    with _once(member, sight, action):
        adopt_report(member, sight, action)


@contextmanager
def _once(member: Member, sight: Sight, action: Action) -> Iterator[None]:
    """What another member offers is looked at once: whatever is wrong with it, the next offer's turn comes."""
    member.refused[action] = Timestamp(sight.now + member.network.params.epoch.epoch_for)
    try:
        yield
    except UnavailableError:
        del member.refused[action]
        raise


def _build(member: Member, _sight: Sight, action: BuildReport) -> None:
    started_ms = member.clock.monotonic_ms()
    built = member.archive.build(parse_bundle(_kept(member, action.epoch, BUNDLE)))
    contents = {**built.documents(), REPORT_HASH: built.report_hash, **signed_verdicts(member, built)}
    documents.save_documents(member.engine, action.epoch, contents)
    member.metrics.build_took(member.clock.monotonic_ms() - started_ms)
    log.info("report_built", epoch=action.epoch, root=to_hex(built.report.root), report_hash=to_hex(built.report_hash))


def _publish(member: Member, _sight: Sight, action: Publish) -> None:
    documents.save_documents(member.engine, action.epoch, {PUBLISHED: action.report_hash})
    keep_tree(member.engine, action.epoch, member.archive.published(action.epoch).settlement_tree)


def _vote(member: Member, _sight: Sight, action: CastVote) -> None:
    call = ContractCall(contract="EpochOracle", function="vote", args=(action.epoch, action.report_hash))
    _send(member, f"epoch:{action.epoch}:vote:{to_hex(action.report_hash)[:18]}", call)


def _submit(member: Member, _sight: Sight, action: SubmitReport) -> None:
    report = member.archive.published(action.epoch).report
    call = ContractCall(contract="EpochOracle", function="submitReport", args=(astuple(report),))
    _send(member, f"epoch:{action.epoch}:submit", call)


def _open_case(member: Member, sight: Sight, action: OpenCase) -> None:
    outcome = action.outcome
    if outcome.violation is None:
        raise InconsistentError("a case without a violation")
    path = outcome_path(member.archive.published(_epoch_of_root(sight, outcome.root_index)), outcome.position)
    args = (astuple(outcome.violation), outcome.root_index, path)
    call = ContractCall(contract="SlashingCourt", function="open", args=args)
    _keep(member, sight, action, (f"case:{to_hex(outcome.case_id or b'')}:open", call))


def _execute_case(member: Member, sight: Sight, action: ExecuteCase) -> None:
    call = ContractCall(contract="SlashingCourt", function="execute", args=(action.case_id,))
    _keep(member, sight, action, (f"case:{to_hex(action.case_id)}:execute", call))


def _settle_job(member: Member, sight: Sight, action: SettleJob) -> None:
    outcome = action.outcome
    if outcome.job is None:
        raise InconsistentError("a job outcome without a job")
    path = outcome_path(member.archive.published(_epoch_of_root(sight, outcome.root_index)), outcome.position)
    args = (astuple(outcome.job), outcome.root_index, path)
    call = ContractCall(contract="JobEscrow", function="settleJob", args=args)
    _keep(member, sight, action, (f"job:{outcome.job.job_id}:settle", call))


def _send(member: Member, key: str, call: ContractCall) -> None:
    if member.sender is None:
        raise UnavailableError(f"dry run: would send {call.contract}.{call.function}", code="dry_run", retry_after=60)
    transact(member.sender, key, call)


def _keep(member: Member, sight: Sight, action: Action, intent: tuple[str, ContractCall]) -> None:
    try:
        _send(member, *intent)
    except RejectedError:
        # Done by somebody else, or not possible now: others come first, and it is asked for again an epoch later.
        member.refused[action] = Timestamp(sight.now + member.network.params.epoch.epoch_for)
        raise


def _kept(member: Member, epoch: EpochNumber, name: str) -> bytes:
    content = documents.document(member.engine, epoch, name)
    if content is None:
        raise InconsistentError(f"epoch {epoch}: {name} is gone from the store", fix="restart the member")
    return content


def _epoch_of_root(sight: Sight, index: int) -> EpochNumber:
    return next(root.epoch for root in sight.state.roots if root.index == index)


_PERFORMERS: dict[type[object], Callable[[Member, Sight, Any], None]] = {
    CommitSecret: _commit_secret,
    OpenWindow: _open_window,
    CloseWindow: _close_window,
    DrawWindow: _draw_window,
    JudgeWindow: _judge_window,
    Observe: _observe,
    AssembleBundle: _assemble,
    TakeBundle: _take,
    AdoptReport: _adopt,
    BuildReport: _build,
    Publish: _publish,
    CastVote: _vote,
    SubmitReport: _submit,
    OpenCase: _open_case,
    ExecuteCase: _execute_case,
    SettleJob: _settle_job,
}

"""Judges completed jobs: replays the drawn training segments and keeps the verdict."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog

from oracle.judge.training import check_receipt, judge_segments
from oracle.model import JobFinding, SignedReceipt
from oracle.pipeline.desk import Desk
from oracle.pipeline.job_desk import drawn_segments, receipt_of
from oracle.store import jobs as store
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.kinds import JobState, Outcome
from swarm_chain.core.model import JobRecord
from swarm_chain.core.units import Hash32, JobId

log = structlog.get_logger()

Replay = Callable[[bytes, bytes, int], Hash32]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """A completed job with everything its judgement needs."""

    job: JobRecord
    signed: SignedReceipt
    drawn: tuple[int, ...]


def judge_completed(desk: Desk, replay: Replay) -> tuple[JobFinding, ...]:
    """Judges every completed job that is not judged yet and has what it takes.

    Args:
        desk: the store and the chain.
        replay: runs one segment again.

    Returns:
        The new verdicts, also kept in the store.
    """
    completed = [job for job in desk.sight().state.jobs if job.state is JobState.COMPLETED]
    known = {job_id for job_id, _, _ in store.verdicts(desk.engine, [job.job_id for job in completed])}
    found = []
    for job in completed:
        finding = None if job.job_id in known else _judged(desk, job, replay)
        if finding is not None:
            store.save_verdict(desk.engine, finding.job_id, job.receipt_digest, finding.outcome, finding.reason)
            log.info("job_judged", job=job.job_id, outcome=finding.outcome.value, reason=finding.reason)
            found.append(finding)
    return tuple(found)


def _judged(desk: Desk, job: JobRecord, replay: Replay) -> JobFinding | None:
    try:
        return _judge(desk, job, replay)
    except UnavailableError as error:
        log.warning("job_not_judged", job=job.job_id, code=error.code, message=error.message)
        return None  # one job that cannot be replayed now must not hold up the others


def _judge(desk: Desk, job: JobRecord, replay: Replay) -> JobFinding | None:
    if store.receipt_document(desk.engine, job.job_id, job.receipt_digest) is None:
        return _missing(desk, job, "no_receipt")
    signed = receipt_of(desk, job)
    fault = check_receipt(signed, job, desk.domain)
    if fault:
        return JobFinding(job_id=job.job_id, outcome=Outcome.FAILED, reason=fault)
    drawn = drawn_segments(desk, job)
    if not drawn:
        return None
    starts = [_content(desk, job.job_id, segment, signed) for segment in drawn]
    last = _content(desk, job.job_id, signed.receipt.checkpoint_count - 1, signed)
    if last is None or any(start is None for start in starts):
        return _missing(desk, job, "no_checkpoints")
    return _replayed(desk, _Ready(job=job, signed=signed, drawn=drawn), [s for s in starts if s is not None], replay)


def _replayed(desk: Desk, ready: _Ready, starts: Sequence[bytes], replay: Replay) -> JobFinding:
    spec = store.spec_document(desk.engine, ready.job.spec_hash)
    if spec is None:
        return JobFinding(job_id=ready.job.job_id, outcome=Outcome.FAILED, reason="no_spec")
    try:
        ends = {segment: replay(spec, start, segment) for segment, start in zip(ready.drawn, starts, strict=True)}
    except InvalidInputError as error:
        log.warning("replay_refused", job=ready.job.job_id, code=error.code, message=error.message)
        return JobFinding(job_id=ready.job.job_id, outcome=Outcome.FAILED, reason="wrong_segment")
    return judge_segments(ready.job.job_id, ready.drawn, ready.signed.checkpoints, ends)


def _missing(desk: Desk, job: JobRecord, reason: str) -> JobFinding | None:
    patience = desk.network.params.escrow.judge_for // 2
    if desk.sight().now < job.completed_at + patience:
        return None
    return JobFinding(job_id=job.job_id, outcome=Outcome.MISSING, reason=reason)


def _content(desk: Desk, job_id: JobId, position: int, signed: SignedReceipt) -> bytes | None:
    return store.checkpoint_content(desk.engine, job_id, position, signed.checkpoints[position])

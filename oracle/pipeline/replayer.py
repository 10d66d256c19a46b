"""Judges completed jobs: computes the drawn units again and keeps the verdict."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog

from oracle.judge.training import check_receipt, is_countersigned, judge_segments
from oracle.model import JobFinding, SignedReceipt
from oracle.pipeline.desk import Desk
from oracle.pipeline.job_desk import drawn_segments, receipt_of
from oracle.pipeline.replay_process import UnitAsk
from oracle.store import jobs as store
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.jobs import parse_job_spec
from swarm_chain.core.kinds import JobState, Outcome
from swarm_chain.core.model import JobRecord
from swarm_chain.core.units import Hash32, JobId
from swarm_chain.reference.programs.base import inputs_of
from swarm_chain.reference.programs.registry import open_program

log = structlog.get_logger()

Compute = Callable[[UnitAsk], Hash32]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """A completed job with everything its judgement needs."""

    job: JobRecord
    signed: SignedReceipt
    drawn: tuple[int, ...]


def judge_completed(desk: Desk, compute: Compute) -> tuple[JobFinding, ...]:
    """Judges every completed job that is not judged yet and has what it takes.

    Args:
        desk: the store and the chain.
        compute: computes one unit again and gives the hash of its content.

    Returns:
        The new verdicts, also kept in the store.
    """
    completed = [job for job in desk.sight().state.jobs if job.state is JobState.COMPLETED]
    known = {job_id for job_id, _, _ in store.verdicts(desk.engine, [job.job_id for job in completed])}
    found = []
    for job in completed:
        finding = None if job.job_id in known else _judged(desk, job, compute)
        if finding is not None:
            store.save_verdict(desk.engine, finding.job_id, job.receipt_digest, finding.outcome, finding.reason)
            log.info("job_judged", job=job.job_id, outcome=finding.outcome.value, reason=finding.reason)
            found.append(finding)
    return tuple(found)


def _judged(desk: Desk, job: JobRecord, compute: Compute) -> JobFinding | None:
    try:
        return _judge(desk, job, compute)
    except UnavailableError as error:
        log.warning("job_not_judged", job=job.job_id, code=error.code, message=error.message)
        return None  # one job that cannot be replayed now must not hold up the others


def _judge(desk: Desk, job: JobRecord, compute: Compute) -> JobFinding | None:
    if store.receipt_document(desk.engine, job.job_id, job.receipt_digest) is None:
        return _missing(desk, job, "no_receipt")
    signed = receipt_of(desk, job)
    fault = check_receipt(signed, job, desk.domain)
    if fault:
        return JobFinding(job_id=job.job_id, outcome=Outcome.FAILED, reason=fault)
    document = store.spec_document(desk.engine, job.spec_hash)
    if document is None:
        return _missing(desk, job, "no_spec")
    spec = parse_job_spec(json.loads(document))
    if spec.gateway_address is not None and not is_countersigned(signed, spec.gateway_address, desk.domain):
        return JobFinding(job_id=job.job_id, outcome=Outcome.FAILED, reason="no_gateway")
    drawn = drawn_segments(desk, job)
    if not drawn:
        return None
    program = open_program(spec, inputs_of({}))
    if signed.receipt.checkpoint_count != program.units + 1:
        return JobFinding(job_id=job.job_id, outcome=Outcome.FAILED, reason="wrong_units")
    sources = {unit: _content(desk, job.job_id, program.source(unit), signed) for unit in drawn}
    last = _content(desk, job.job_id, signed.receipt.checkpoint_count - 1, signed)
    if last is None or any(source is None for source in sources.values()):
        return _missing(desk, job, "no_checkpoints")
    asks = [UnitAsk(spec=document, unit=unit, source=source or b"") for unit, source in sources.items()]
    return _computed(_Ready(job=job, signed=signed, drawn=drawn), asks, compute)


def _computed(ready: _Ready, asks: Sequence[UnitAsk], compute: Compute) -> JobFinding:
    try:
        ends = {ask.unit: compute(ask) for ask in asks}
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

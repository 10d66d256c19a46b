"""Judges completed jobs of all kinds: computes the drawn units again and keeps the verdict.

receipt, spec, inputs, contents here? --compute--> hashes --judge_units--> finding
             | not yet                      | this member cannot
             wait, then "missing"           leave it, tell the operator, then "missing": no vote in either case
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import structlog

from oracle.judge.training import check_receipt, is_countersigned, judge_units
from oracle.model import JobFinding, SignedReceipt
from oracle.pipeline.desk import Desk
from oracle.pipeline.job_desk import drawn_segments, input_of, program_of, receipt_of, spec_of
from oracle.pipeline.replay_process import UnitAsk
from oracle.store import jobs as store
from swarm_chain.core.checkpoints import checkpoints_to_upload
from swarm_chain.core.encoding import canonical_json
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.jobs import JobSpec
from swarm_chain.core.kinds import JobState, Outcome
from swarm_chain.core.model import JobRecord
from swarm_chain.core.units import Hash32, JobId

log = structlog.get_logger()

Compute = Callable[[UnitAsk], Hash32]
CRASHED = "judge_crashed"
# What somebody else has not handed in yet; everything else that is unavailable is this member's own trouble.
AWAITED = frozenset({"no_receipt", "no_spec", "no_draw", "no_inputs", "no_checkpoints"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What one look at the completed jobs gave: new findings, and jobs this member should judge but cannot."""

    findings: tuple[JobFinding, ...]
    stuck: tuple[JobId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """A completed job with everything its judgement needs; `sources` by drawn unit, in draw order."""

    job: JobRecord
    spec: JobSpec
    signed: SignedReceipt
    sources: dict[int, int]


def judge_completed(desk: Desk, compute: Compute) -> Round:
    """Judges every completed job that is not judged yet and has what it takes.

    Args:
        desk: the store and the chain.
        compute: computes one unit again and gives the hash of its content.

    Returns:
        The new findings, also kept in the store, and the jobs that wait for this member to be able to compute them.
    """
    completed = [job for job in desk.sight().state.jobs if job.state is JobState.COMPLETED]
    known = {finding.job_id for finding in store.verdicts(desk.engine, [job.job_id for job in completed])}
    found: list[JobFinding] = []
    stuck: list[JobId] = []
    for job in completed:
        if job.job_id in known:
            continue
        finding, trouble = _looked_at(desk, job, compute)
        if finding is not None:
            store.save_verdict(desk.engine, job.receipt_digest, finding)
            log.info("job_judged", job=job.job_id, outcome=finding.outcome.value, reason=finding.reason)
            found.append(finding)
        if trouble:
            stuck.append(job.job_id)
    return Round(findings=tuple(found), stuck=tuple(stuck))


def _looked_at(desk: Desk, job: JobRecord, compute: Compute) -> tuple[JobFinding | None, bool]:
    """The finding on a job, if there is one, and whether this member is in trouble with it."""
    try:
        return _judge(desk, job, compute), False
    except UnavailableError as error:
        if error.code in AWAITED:
            return _missing(desk, job, error.code), False
        log.warning("job_not_judged", job=job.job_id, code=error.code, message=error.message)
        return _missing(desk, job, "not_computed"), True
    except Exception as error:  # one job that makes the judge stumble must neither pass nor hold up the others
        log.error("job_judge_crashed", job=job.job_id, exc_info=error)
        return _missing(desk, job, CRASHED), True


def _judge(desk: Desk, job: JobRecord, compute: Compute) -> JobFinding | None:
    signed = _receipt(desk, job)
    fault = check_receipt(signed, job, desk.domain)
    if fault:
        return _failed(job, fault)
    try:
        spec = spec_of(desk, job)
        drawn = drawn_segments(desk, job)
        if not drawn:
            raise UnavailableError("the deciding block is not there yet", code="no_draw")
        program = program_of(desk, job)
        units, sources = program.units, {unit: program.source(unit) for unit in drawn}
    except InvalidInputError as error:
        log.warning("job_spec_refused", job=job.job_id, code=error.code, message=error.message)
        return _failed(job, "bad_spec")
    if spec.gateway_address is not None and not is_countersigned(signed, spec.gateway_address, desk.domain):
        return _failed(job, "no_gateway") if _waited(desk, job) else None
    if signed.receipt.checkpoint_count != units + 1:
        return _failed(job, "wrong_units")
    wanted = checkpoints_to_upload(sources.values(), units + 1)
    if not store.kept_checkpoints(desk.engine, job.job_id).issuperset(wanted):
        raise UnavailableError("contents were not handed in yet", code="no_checkpoints")
    return _computed(desk, _Ready(job=job, spec=spec, signed=signed, sources=sources), compute)


def _computed(desk: Desk, ready: _Ready, compute: Compute) -> JobFinding:
    computed: dict[int, Hash32] = {}
    for content, ask in _asks(desk, ready):
        try:
            computed[content] = compute(ask)
        except InvalidInputError as error:
            # Its source or the customer's code is to blame: not paid, but nothing that was computed shows a lie.
            log.warning("unit_not_reproduced", job=ready.job.job_id, code=error.code, message=error.message)
            return _failed(ready.job, "not_reproduced")
        if computed[content] != ready.signed.checkpoints[content]:
            break
    has_code = bool(ready.spec.code)
    return judge_units(ready.job.job_id, tuple(ready.sources), ready.signed.checkpoints, computed, has_code=has_code)


def _asks(desk: Desk, ready: _Ready) -> Iterator[tuple[int, UnitAsk]]:
    """Units to compute, by the content they make, one source in memory at a time; content 0 last, since only the others
    tell whether this machine is of the kind that made them."""
    job_id, document = ready.job.job_id, canonical_json(ready.spec.document())
    inputs = {content: input_of(desk, job_id, content) for content in ready.spec.input_hashes}
    for unit, place in ready.sources.items():
        source = store.checkpoint_content(desk.engine, job_id, place, ready.signed.checkpoints[place])
        if source is None:
            raise UnavailableError(f"content {place} of job {job_id} is gone", code="store_lost")
        yield unit + 1, UnitAsk(spec=document, unit=unit, source=source, inputs=inputs)
    yield 0, UnitAsk(spec=document, unit=None, source=b"", inputs=inputs)


def _receipt(desk: Desk, job: JobRecord) -> SignedReceipt:
    if store.receipt_document(desk.engine, job.job_id, job.receipt_digest) is None:
        raise UnavailableError("the receipt was not handed in yet", code="no_receipt")
    return receipt_of(desk, job)


def _waited(desk: Desk, job: JobRecord) -> bool:
    return desk.sight().now >= job.completed_at + desk.network.params.escrow.judge_for // 2


def _missing(desk: Desk, job: JobRecord, reason: str) -> JobFinding | None:
    return JobFinding(job_id=job.job_id, outcome=Outcome.MISSING, reason=reason) if _waited(desk, job) else None


def _failed(job: JobRecord, reason: str) -> JobFinding:
    return JobFinding(job_id=job.job_id, outcome=Outcome.FAILED, reason=reason)

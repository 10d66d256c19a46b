"""Judges completed jobs: replays the drawn training segments in a process of their own and keeps the verdict."""

from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import structlog

from oracle.judge.training import check_receipt, judge_segments
from oracle.model import JobFinding, SignedReceipt
from oracle.pipeline.desk import Desk
from oracle.pipeline.job_desk import receipt_of
from oracle.store import jobs as store
from swarm_chain.core.checkpoints import content_hash, draw_segments, job_seed
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.model import JobRecord, JobState, Outcome
from swarm_chain.core.units import Hash32, JobId

log = structlog.get_logger()

DRAW_DELAY_BLOCKS = 2

Replay = Callable[[bytes, bytes, int], Hash32]


def replay_segment(spec: bytes, start: bytes, segment: int) -> Hash32:
    """Runs one segment again, in whatever process it is called in.

    Args:
        spec: canonical JSON of the job spec.
        start: bytes of checkpoint `segment`.
        segment: number of the segment.

    Returns:
        Content hash of checkpoint `segment` + 1 as this machine computes it.

    Raises:
        InvalidInputError: spec or checkpoint are not what they should be, or the run diverges.
        UnavailableError: this machine is of another kind than the one that trained.
    """
    import json

    from swarm_chain.reference.spec import parse_train_spec
    from swarm_chain.reference.train import run_segment

    return content_hash(run_segment(parse_train_spec(json.loads(spec)), start, segment))


class ReplayProcess:
    """One worker process with torch in it, so that the member itself stays small and a crash stays outside."""

    def __init__(self, timeout_for: int) -> None:
        self._timeout_for = timeout_for
        self._pool = ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn"))

    def replay(self, spec: bytes, start: bytes, segment: int) -> Hash32:
        """`replay_segment` in the worker.

        Raises:
            UnavailableError: it took too long or the worker died; the job stays unjudged and is tried again.
        """
        future: Future[Hash32] = self._pool.submit(replay_segment, spec, start, segment)
        try:
            return future.result(timeout=self._timeout_for)
        except (TimeoutError, BrokenExecutor) as error:
            self.close()
            self._pool = ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn"))
            raise UnavailableError(f"replay of segment {segment} did not finish", retry_after=30) from error

    def close(self) -> None:
        """Ends the worker."""
        self._pool.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """A completed job with everything its judgement needs."""

    job: JobRecord
    signed: SignedReceipt
    drawn: tuple[int, ...]


def drawn_segments(desk: Desk, job: JobRecord) -> tuple[int, ...]:
    """Segments of a completed job that are replayed; none while the deciding block does not exist or no run was kept."""
    sight = desk.sight()
    completed = sight.facts.completed_blocks.get(job.job_id)
    if completed is None or completed + DRAW_DELAY_BLOCKS > sight.latest.number:
        return ()
    segments = receipt_of(desk, job).receipt.checkpoint_count - 1
    if segments < 1:
        return ()
    deciding = desk.reader.block(completed + DRAW_DELAY_BLOCKS)
    return draw_segments(job_seed(deciding.hash, job.receipt_digest), job.job_id, segments)


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
        finding = None if job.job_id in known else _judge(desk, job, replay)
        if finding is not None:
            store.save_verdict(desk.engine, finding.job_id, job.receipt_digest, finding.outcome, finding.reason)
            log.info("job_judged", job=job.job_id, outcome=finding.outcome.value, reason=finding.reason)
            found.append(finding)
    return tuple(found)


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

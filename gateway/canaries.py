"""Canaries: units of a finished job that the gateway computes itself before it signs the receipt.

secret of the gateway, job, root of the receipt --draw--> units --compute--> hashes == those the receipt commits to?

The draw hangs on the root, so the same contents are always asked the same; and a job that failed once is not asked again.
"""

import json
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from gateway.worker import WarmWorkers
from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.draws import draw_distinct
from swarm_chain.core.encoding import canonical_json, words
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.jobs import JobSpec, parse_job_spec
from swarm_chain.core.units import Hash32, JobId
from swarm_chain.reference.programs.base import Inputs
from swarm_chain.reference.programs.sandboxed import compute_unit, first_content


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """A unit to compute: from which file, and the hash that must come of it."""

    unit: int
    source: Path
    expected: Hash32


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryAsk:
    """What a worker computes: content 0, which follows from spec and inputs, and the drawn units. Files, so that asking is
    cheap."""

    document: bytes
    inputs: Mapping[Hash32, Path]
    first: Hash32
    canaries: tuple[Canary, ...]


# Finds out what is wrong with an ask; empty: it holds. Errors as `find_fault`.
Check = Callable[[CanaryAsk], str]


def draw_canaries(secret: Hash32, job_id: JobId, root: Hash32, count: int, units: int) -> tuple[int, ...]:
    """Units the gateway computes itself.

    Args:
        secret: of the gateway; nobody else can tell which units are asked for.
        job_id: the job.
        root: checkpointRoot of its receipt.
        count: how many; all if there are fewer.
        units: of the program.
    """
    if count == 0 or units == 0:
        return ()
    return draw_distinct("canaries", words(secret, job_id, root), min(count, units), units)


def find_fault(ask: CanaryAsk) -> str:
    """Computes what is asked, in whatever process it is called in, customers' code in a sandbox; what is wrong first, empty
    if all holds.

    Raises:
        UnavailableError: this machine is of another kind than the one that made the sources.
    """
    try:
        spec = parse_job_spec(json.loads(ask.document))
        inputs = {content: path.read_bytes() for content, path in ask.inputs.items()}
        if content_hash(first_content(spec, inputs)) != ask.first:
            return "content 0 is not what spec and inputs give"
        for one in ask.canaries:
            if content_hash(compute_unit(spec, inputs, one.unit, one.source.read_bytes())) != one.expected:
                return f"unit {one.unit} gives another content than the one handed in"
    except InvalidInputError as error:
        return f"a unit that the receipt calls done fails: {error.message}"
    return ""


def in_workers(workers: WarmWorkers, within_s: float) -> Check:
    """`find_fault` in processes of its own.

    Args:
        workers: which.
        within_s: seconds one job's canaries may take.
    """
    return lambda ask: workers.ask(find_fault, ask, within_s)


def canary_document(spec: JobSpec) -> bytes:
    """A spec as a worker reads it."""
    return canonical_json(spec.document())


def files_as_inputs(files: Mapping[Hash32, Path]) -> Inputs:
    """Inputs that lie in files, read when asked for."""

    def find(content: Hash32) -> bytes:
        if content not in files:
            raise InvalidInputError(
                f"input 0x{content.hex()} is not here",
                fix=f"upload it first: PUT /v1/blobs/0x{content.hex()}",
                code="unknown_input",
            )
        return files[content].read_bytes()

    return find


class CanaryDesk:
    """Checks one job after the other, so that whoever asks need not wait for it on the line.

    Args:
        check: what checks.
    """

    def __init__(self, check: Check) -> None:
        self._check = check
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="canaries")
        self._running: dict[tuple[JobId, Hash32], Future[str]] = {}
        self._lock = Lock()

    def finding(self, job_id: JobId, root: Hash32, ask: CanaryAsk, wait_s: float) -> str:
        """What is wrong with a job's contents; empty if nothing.

        Args:
            job_id: the job.
            root: of its contents.
            ask: what to compute.
            wait_s: seconds to wait for it now.

        Raises:
            UnavailableError: it is still being computed (code canaries_running), or could not be.
        """
        key = (job_id, root)
        with self._lock:
            if key not in self._running:
                self._running[key] = self._pool.submit(self._check, ask)
            future = self._running[key]
        try:
            found = future.result(timeout=wait_s)
        except TimeoutError as error:
            raise UnavailableError(
                "units of this job are being computed again", fix="ask again", code="canaries_running", retry_after=1
            ) from error
        finally:
            if future.done():
                self._forget(key)
        return found

    def close(self) -> None:
        """Takes nothing more; what runs is left to end by itself."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _forget(self, key: tuple[JobId, Hash32]) -> None:
        with self._lock:
            self._running.pop(key, None)

"""Batch jobs on Ray Data: units that are lacking flow through a pool of actors, contents reach the disk as they come.

units --from_items--> streaming --map_batches, k actors--> (unit, content | error) --iter--> folder
                                   input: one object in Ray's store, read by all of them where it lies
"""

import time
from collections.abc import Generator, Mapping
from contextlib import closing
from typing import Any, cast

import numpy as np

from node.jobs.work import Work
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.jobs import JobSpec, parse_job_spec
from swarm_chain.core.units import Hash32
from swarm_chain.reference.programs.base import inputs_of
from swarm_chain.reference.programs.batch import BatchProgram, LineRows, open_batch, require_rows
from swarm_chain.reference.programs.sandboxed import compute_unit


class UnitActor:
    """A worker of Ray Data's pool: computes units of one job, one after the other.

    Args:
        document: the spec.
        shared: bytes of the inputs as arrays of Ray's object store, by content hash.
    """

    def __init__(self, document: object, shared: Mapping[Hash32, Any]) -> None:
        import ray

        self._spec = parse_job_spec(document)
        # An array comes out of the store as a view of it: however many workers a machine has, it holds the bytes once.
        self._shared = {content: memoryview(ray.get(ref)) for content, ref in shared.items()}
        self._program: BatchProgram | None = None

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Computes the one unit of a batch; the customer's errors are values, so that Ray does not try them again."""
        unit, started = int(batch["unit"][0]), time.monotonic_ns()
        content, error = b"", ("", "", "")
        try:
            content = self._content(unit)
        except InvalidInputError as found:
            error = (found.message, found.fix, found.code)
        spent = (time.monotonic_ns() - started) // 1_000_000
        return {"unit": [unit], "content": [content], "error": [list(error)], "spent_ms": [spent]}

    def _content(self, unit: int) -> bytes:
        if self._spec.code:
            blobs = {content: bytes(view) for content, view in self._shared.items()}
            first = open_batch(self._spec, inputs_of(blobs)).first()
            return compute_unit(self._spec, blobs, unit, first)
        if self._program is None:
            self._program = _opened(self._spec, self._shared)
        return self._program.compute(unit, self._program.first())


def run_batch(work: Work) -> None:
    """Computes what a batch job lacks, its workers' actors side by side.

    Args:
        work: the job; contents its folder holds already are kept.

    Raises:
        InvalidInputError: the customer's rows or code fail; nothing further is computed then.
        UnavailableError: this process is not connected to Ray.
    """
    program, folder = cast(BatchProgram, work.program), work.folder
    require_rows(program)
    if folder.kept(0) is None:
        folder.keep(0, program.first())
    lacking = [unit for unit in range(program.units) if folder.kept(unit + 1) is None]
    if not lacking:
        return
    with closing(_computed(work, lacking)) as rows:
        for row in rows:
            _require_good(row)
            folder.keep(int(row["unit"]) + 1, row["content"])
            folder.add_time(int(row["spent_ms"]))
            folder.say(f"unit {int(row['unit']) + 1} of {program.units}")


def _computed(work: Work, lacking: list[int]) -> Generator[dict[str, Any], None, None]:
    """Ray Data's own stream of what the actors give, in the order in which it comes."""
    import ray
    import ray.data

    if not ray.is_initialized():
        raise UnavailableError("batch jobs run on Ray, and this process is not connected", code="no_ray")
    shared = {content: ray.put(np.frombuffer(work.inputs(content), np.uint8)) for content in work.spec.input_hashes}
    wanted = work.spec.resources
    ray.data.DataContext.get_current().enable_progress_bars = False
    units = ray.data.from_items([{"unit": unit} for unit in lacking], override_num_blocks=len(lacking))
    contents = units.map_batches(
        cast(Any, UnitActor),
        batch_size=1,
        batch_format="numpy",
        compute=ray.data.ActorPoolStrategy(size=min(wanted.workers, len(lacking))),
        num_cpus=wanted.cpus,
        num_gpus=wanted.gpus or None,
        memory=wanted.memory_mb * 1_000_000,
        label_selector=dict(work.labels) or None,
        fn_constructor_args=(work.spec.document(), shared),
    )
    yield from contents.iter_rows()


def _opened(spec: JobSpec, shared: Mapping[Hash32, memoryview]) -> BatchProgram:
    """The program over shared inputs, which it reads where they lie."""
    program = open_batch(spec, inputs_of({}))
    if not shared:
        return program
    (view,) = shared.values()
    return BatchProgram(spec=spec, work=program.work, read=LineRows(view, program.work.rows))


def _require_good(row: Mapping[str, Any]) -> None:
    message, fix, code = map(str, row["error"])
    if code:
        raise InvalidInputError(message, fix=fix, code=code)

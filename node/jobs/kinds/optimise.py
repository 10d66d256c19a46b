"""swarm-optimise/1 on Ray: the model is trained segment by segment, its variants are made side by side as Ray tasks.

model --task--> variant: content, judged
                latency of a batch before and after, measured where it ran -> report.json; not judged: another machine's differ
"""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from node.jobs.folder import write_whole
from node.jobs.work import Work
from swarm_chain.core.errors import InconsistentError, SwarmError
from swarm_chain.core.jobs import parse_job_spec
from swarm_chain.core.units import Hash32
from swarm_chain.reference.programs.base import inputs_of
from swarm_chain.reference.programs.optimise import OptimiseProgram
from swarm_chain.reference.programs.registry import open_program

TASK_RETRIES = 3
_ROUNDS = 30  # forward passes a latency is the median of


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantOrder:
    """What a task is asked for: a unit of a job, and what it is computed from."""

    document: object
    inputs: Mapping[Hash32, bytes]
    unit: int
    source: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeVariant:
    """A variant, the microseconds a batch takes before and after, and the milliseconds all of it took."""

    unit: int
    content: bytes
    before_us: int
    after_us: int
    spent_ms: int


def run_optimise(work: Work) -> None:
    """Trains what is lacking of the model, makes what is lacking of its variants and writes report.json.

    Args:
        work: the job, of an OptimiseProgram; the process is connected to Ray.

    Raises:
        InvalidInputError: the input is no checkpoint of the run, or training diverges.
        UnavailableError: torchao is not there as it should be.
    """
    program, folder = _program_of(work.program), work.folder
    if folder.kept(0) is None:
        folder.keep(0, program.first())
    for unit in range(program.trained):
        _train(work, program, unit)
    lacking = [unit for unit in range(program.trained, program.units) if folder.kept(unit + 1) is None]
    report = _read_report(work)
    for made in _made_on_ray(work, program, lacking):
        folder.keep(made.unit + 1, made.content)
        folder.add_time(made.spent_ms)
        figures, _, _ = made.content.partition(b"\n")
        folder.say(f"variant {made.unit - program.trained}: {figures.decode()}")
        report[str(made.unit + 1)] = {"beforeUs": made.before_us, "afterUs": made.after_us}
        write_whole(folder.path / "report.json", json.dumps({"latency": report}, sort_keys=True).encode())


def make_variant(order: VariantOrder) -> MadeVariant:
    """A variant and its latencies, in whatever process it is called in."""
    started = time.monotonic_ns()
    program = _program_of(open_program(parse_job_spec(order.document), inputs_of(order.inputs)))
    content = program.compute(order.unit, order.source)
    before_us, after_us = _latencies(program, order)
    spent = (time.monotonic_ns() - started) // 1_000_000
    return MadeVariant(unit=order.unit, content=content, before_us=before_us, after_us=after_us, spent_ms=spent)


def _train(work: Work, program: OptimiseProgram, unit: int) -> None:
    folder = work.folder
    source = folder.kept(unit)
    if folder.kept(unit + 1) is not None:
        return
    if source is None:  # spoiled on disk after what follows it was made: all of the model is made again
        folder.keep(0, program.first())
        for before in range(unit):
            _train(work, program, before)
        source = _kept(work, unit)
    started = time.monotonic_ns()
    folder.keep(unit + 1, program.compute(unit, source))
    folder.add_time((time.monotonic_ns() - started) // 1_000_000)
    folder.say(f"segment {unit + 1} of {program.trained}")


def _made_on_ray(work: Work, program: OptimiseProgram, units: list[int]) -> Iterator[MadeVariant]:
    """Variants as they are ready, `workers` of them at a time."""
    import ray

    resources, waiting = work.spec.resources, list(units)
    running: list[Any] = []
    task = ray.remote(make_variant).options(
        num_cpus=resources.cpus,
        num_gpus=resources.gpus,
        max_retries=TASK_RETRIES,
        label_selector=dict(work.labels) or None,
    )
    while waiting or running:
        while waiting and len(running) < resources.workers:
            running.append(task.remote(_order(work, program, waiting.pop(0))))
        (ready, *_), running = ray.wait(running)
        try:
            yield ray.get(ready)
        except ray.exceptions.RayTaskError as error:
            raise (error.cause if isinstance(error.cause, SwarmError) else error) from error


def _order(work: Work, program: OptimiseProgram, unit: int) -> VariantOrder:
    wanted = () if program.checkpoint is None else (program.checkpoint,)
    inputs = {content: work.inputs(content) for content in wanted}
    source = _kept(work, program.source(unit))
    return VariantOrder(document=work.spec.document(), inputs=inputs, unit=unit, source=source)


def _latencies(program: OptimiseProgram, order: VariantOrder) -> tuple[int, int]:
    """Microseconds of a batch of the held-out data, original and variant, on this machine now."""
    import torch

    from swarm_chain.reference.checkpoint import parse_checkpoint
    from swarm_chain.reference.reference_module import ReferenceModule
    from swarm_chain.reference.variants import held_out, make_variant

    flat = torch.from_numpy(parse_checkpoint(program.train, program.model(order.source)).state[0].copy())
    original, variant = (ReferenceModule(program.train, flat) for _ in range(2))
    make_variant(variant, program.variants[order.unit - program.trained])
    tokens = held_out(program.train)[:, :-1]
    times: dict[Any, list[int]] = {original: [], variant: []}
    with torch.no_grad():
        for _ in range(_ROUNDS):
            for model, measured in times.items():  # in turn, so that other load hits both alike
                started = time.monotonic_ns()
                model(tokens)
                measured.append((time.monotonic_ns() - started) // 1000)
    return round(median(times[original])), round(median(times[variant]))


def _kept(work: Work, index: int) -> bytes:
    content = work.folder.kept(index)
    if content is None:
        raise InconsistentError(f"content {index} is gone", fix="start the job again")
    return content


def _read_report(work: Work) -> dict[str, Any]:
    try:
        latency: dict[str, Any] = json.loads((work.folder.path / "report.json").read_bytes())["latency"]
    except (FileNotFoundError, ValueError, KeyError):
        return {}
    return latency


def _program_of(program: object) -> OptimiseProgram:
    if not isinstance(program, OptimiseProgram):
        raise InconsistentError("the job's program makes no variants")
    return program

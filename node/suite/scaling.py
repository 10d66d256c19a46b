"""How training scales over workers of this machine: Ray Train on 1, 2, … of them, and every run replayed by one process.

    TorchTrainer --k of its workers, gloo--> hashes of all ranks, ns --one process replays k shards--> the same hashes --> figure

A figure is shown only if all ranks ended with the same chain of checkpoints and the replay with it too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from node.config import load_settings
from node.ray_connection import ray_connection
from node.suite.metrics import Bench, Metric, per_second
from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import SwarmError, UnavailableError
from swarm_chain.core.units import ZERO_ADDRESS, Hash32
from swarm_chain.params import load_params
from swarm_chain.reference.audited import TrainingQuestion, audited_spec
from swarm_chain.reference.sharded import Shards, all_shards, sharded_gradient
from swarm_chain.reference.spec import TrainSpec, parse_train_spec
from swarm_chain.reference.train import Gradient, initial_checkpoint, run_segment

BY = "node, replayed"
MOST_WORKERS = 4  # of the suite: more cost time and say little that four do not
SEGMENTS = 5  # the first warms up
METHOD = "Ray Train, transformer, one batch a worker and step, sums in rank order, replayed by one process"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledRun:
    """What workers that trained together report: each rank's content hashes, and the ns of the slowest after warming up."""

    spec: TrainSpec
    hashes: tuple[tuple[Hash32, ...], ...]
    elapsed_ns: int

    @property
    def rate(self) -> int:
        """Samples/s of all workers together."""
        timed = (self.spec.segments - 1) * self.spec.segment_steps * self.spec.batch
        return per_second(len(self.hashes) * timed, self.elapsed_ns)


def scaling_metrics(bench: Bench) -> Iterator[Metric]:
    """Throughput and efficiency on 2, 4, … workers; a reason where there is none.

    Args:
        bench: gives the number of threads and a folder.
    """
    counts = worker_counts(bench.threads)
    try:
        if len(counts) == 1:
            raise UnavailableError("one thread: there is nothing to scale over", fix="raise SWARM_THREADS")
        settings = load_settings({"threads": counts[-1], "ray_address": "", "gpus": 0})
        with ray_connection(settings), TemporaryDirectory(dir=bench.folder, prefix="scaling-") as folder:
            runs = [checked(run) for run in run_workers(bench_spec(), counts, Path(folder))]
    except SwarmError as error:
        problem = f"{error.message}: {error.fix}" if error.fix else error.message
        yield _metric("scaling efficiency", "bps", problem=problem)
        return
    yield from rows(runs)


def rows(runs: Sequence[ScaledRun]) -> Iterator[Metric]:
    """Throughput of every run, and efficiency of all but the first, which had one worker: rate(k) · 10,000 / (k · rate(1))."""
    one = runs[0].rate
    for run in runs:
        workers = len(run.hashes)
        yield _metric(
            f"throughput, {workers} workers" if workers > 1 else "throughput, Ray Train", "samples/s", run.rate
        )
        if workers > 1:
            yield _metric(f"scaling efficiency, {workers} workers", "bps", run.rate * 10_000 // max(workers * one, 1))


def worker_counts(threads: int) -> tuple[int, ...]:
    """Powers of two up to the threads of the machine, and to MOST_WORKERS."""
    return tuple(2**power for power in range(min(threads, MOST_WORKERS).bit_length()))


def bench_spec() -> TrainSpec:
    """The transformer of mainnet's audits, on data nobody is audited with."""
    params = load_params("mainnet").training
    spec = audited_spec(params, TrainingQuestion(node=ZERO_ADDRESS, device=0, nonce=keccak(b"scaling")), 0)
    return replace(spec, steps=SEGMENTS * spec.segment_steps)


def checked(run: ScaledRun) -> ScaledRun:
    """The same run, if all ranks agree and one process that does the work of all of them comes to the same checkpoints.

    Raises:
        UnavailableError: they differ (code "not_replayed").
    """
    gradient = sharded_gradient(all_shards(len(run.hashes)))
    replayed = tuple(content_hash(content) for content in contents(run.spec, gradient))
    if any(hashes != replayed for hashes in run.hashes):
        raise UnavailableError(
            f"{len(run.hashes)} workers did not end where one process does that replays them", code="not_replayed"
        )
    return run


def contents(spec: TrainSpec, gradient: Gradient) -> Iterator[bytes]:
    """Contents of the checkpoints at the end of each segment."""
    content = initial_checkpoint(spec)
    for index in range(spec.segments):
        content = run_segment(spec, content, index, gradient)
        yield content


def run_workers(spec: TrainSpec, counts: Sequence[int], folder: Path) -> list[ScaledRun]:
    """Trains on the workers of one Ray Train run, first on few of them, then on more; Ray must be connected.

    Args:
        spec: the run of each shard.
        counts: how many workers train together, ascending; each on one thread.
        folder: for what Ray Train writes.

    Returns:
        One run for each count.

    Raises:
        UnavailableError: Ray Train is missing, or a worker failed.
    """
    try:
        from ray.train import RunConfig, ScalingConfig, TrainingFailedError
        from ray.train.torch import TorchConfig, TorchTrainer
    except ImportError as error:
        raise UnavailableError("Ray Train is missing", fix='pip install "ray[train]"', code="no_ray_train") from error
    trainer: Any = TorchTrainer(  # typed as the version before it, whose results have no value
        train_shards,  # type: ignore[arg-type]  # what it returns is in the result; its annotation says it returns nothing
        train_loop_config={"spec": spec.document(), "counts": list(counts)},
        torch_config=TorchConfig(backend="gloo"),
        scaling_config=ScalingConfig(num_workers=counts[-1]),
        run_config=RunConfig(name="scaling", storage_path=str(folder)),
    )
    try:
        told: Sequence[Any] = trainer.fit().return_value
    except TrainingFailedError as error:
        raise UnavailableError(
            f"Ray Train failed: {str(error).strip().splitlines()[0]}", code="train_failed"
        ) from error
    return [_read_run(spec, ranks) for ranks in told]


def train_shards(config: dict[str, Any]) -> Sequence[Any]:
    """The life of one worker: its shard of every step of each run it takes part in.

    Returns:
        For each run what its ranks came to, in their order: content hashes and ns. Ray Train hands rank 0's on, which takes
        part in all.
    """
    import torch.distributed as dist

    spec, rank, told = parse_train_spec(config["spec"]), dist.get_rank(), []
    for count in config["counts"]:
        together = dist.new_group(range(count))
        if rank < count:
            ranks: list[Any] = [None] * count
            dist.all_gather_object(ranks, _train_shard(spec, rank, count, together), group=together)
            told.append(ranks)
        dist.barrier()  # who has no part in a run waits for its end
    return told


def _train_shard(spec: TrainSpec, rank: int, count: int, together: Any) -> tuple[list[str], int]:
    """Content hashes of one rank, and ns from the end of the first segment, which warmed up, to that of the last."""
    from time import perf_counter_ns

    import torch
    import torch.distributed as dist

    def gather(own: Sequence[Any]) -> Sequence[Any]:
        everybodys = [torch.empty_like(own[0]) for _ in range(count)]
        dist.all_gather(everybodys, own[0], group=together)
        return everybodys

    shards = Shards(count=count, own=range(rank, rank + 1), gather=gather)
    hashes, started = [], 0
    for content in contents(spec, sharded_gradient(shards)):
        hashes.append(content_hash(content).hex())
        started = started or perf_counter_ns()
    return hashes, perf_counter_ns() - started


def _read_run(spec: TrainSpec, ranks: Sequence[tuple[Sequence[str], int]]) -> ScaledRun:
    hashes = tuple(tuple(Hash32(bytes.fromhex(one)) for one in told) for told, _ in ranks)
    return ScaledRun(spec=spec, hashes=hashes, elapsed_ns=max(ns for _, ns in ranks))


def _metric(name: str, unit: str, value: int | None = None, problem: str = "") -> Metric:
    return Metric(category="training", name=name, unit=unit, method=METHOD, paid_by=BY, value=value, problem=problem)

"""swarm-train/2 on Ray Train: workers train segment by segment, rank 0 has every state kept beside the agent.

job's actor --TorchTrainer.fit--> controller --starts, restarts--> rank 0 … k-1
                                                                   rank 0 --state--> keeper --content--> job's folder
worker dies -> all ranks start again, from the last content the keeper has
actor dies  -> the runner or the next agent starts it again, from the folder
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic_ns
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from node.jobs.kinds.train_keeper import keeper_of, standing
from node.jobs.work import Work
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.jobs import Resources
from swarm_chain.reference.parallel import CUDA, ParallelRun, kind_of
from swarm_chain.reference.programs.train_parallel import Strategy, TrainParallelProgram
from swarm_chain.reference.train import pinned, require_finite, start_of

WORKER_FAILURES = 3  # of the group, until the job's actor gives up; what is kept stays
State = NDArray[np.float32]
# Without it cuBLAS may add in another order each time.
WORKER_ENVIRONMENT = {"CUBLAS_WORKSPACE_CONFIG": ":4096:8"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RankOrder:
    """What each worker is told: the run, what it holds of the model, and who keeps the contents."""

    run: ParallelRun
    strategy: Strategy
    keeper: Any


def run_train(work: Work) -> None:
    """Trains what is lacking of a job on workers of its own.

    Args:
        work: the job; its program is a TrainParallelProgram. Ray must be connected.

    Raises:
        InvalidInputError: the run diverges.
        UnavailableError: workers died too often.
    """
    # RUNS names this for swarm-train/2 alone.
    program, folder = cast(TrainParallelProgram, work.program), work.folder
    if folder.kept(0) is None:
        folder.keep(0, program.first())
    if standing(folder, program.units) < program.units:
        problem = _fit(work, program)
        if problem is not None:
            raise problem


def train_rank(order: RankOrder) -> InvalidInputError | None:
    """The life of one worker.

    Returns:
        Why the run cannot go on, the same on every rank; None: it is done.
    """
    import ray
    import torch.distributed as dist

    at, content = ray.get(order.keeper.last.remote())
    kept = None
    try:
        for index, state, loss, spent_ms in _segments(order.run, order.strategy, at, content):
            require_finite(state, loss, index - 1)
            if dist.get_rank() == 0:
                if kept is not None:
                    ray.get(kept)  # at most one content is on its way to the disk
                kept = order.keeper.keep.remote(index, state, loss, spent_ms * order.run.workers)
    except InvalidInputError as error:
        return error
    finally:
        if kept is not None:
            ray.get(kept)
    return None


def _segments(run: ParallelRun, strategy: Strategy, at: int, content: bytes) -> Iterator[tuple[int, State, float, int]]:
    """Number, state, loss and ms of each content that this and all other ranks come to."""
    from node.jobs.kinds.trainee import Trainee

    with pinned():
        trainee = Trainee(run, strategy, start_of(run.train, content, at, kind_of(run)).state)
        for segment, batches in _batches(run, at):
            started = monotonic_ns()
            state, loss = trainee.train(batches, run.steps_of(segment).start + 1)
            yield segment + 1, state, loss, (monotonic_ns() - started) // 1_000_000


def _batches(run: ParallelRun, at: int) -> Iterator[tuple[int, range]]:
    """Segments from `at` on with the numbers of this rank's batches, as Ray Data streams them."""
    import ray.train

    rank = ray.train.get_context().get_world_rank()
    for row in ray.train.get_dataset_shard("segments").iter_rows():
        if row["segment"] >= at:
            yield row["segment"], range(row["first"] + rank, row["end"], run.workers)


def _rows(run: ParallelRun) -> list[dict[str, int]]:
    """What Ray Data streams: each segment's batches of all ranks."""
    steps = [(segment, run.steps_of(segment)) for segment in range(run.train.segments)]
    return [
        {"segment": segment, "first": these.start * run.workers, "end": these.stop * run.workers}
        for segment, these in steps
    ]


def _fit(work: Work, program: TrainParallelProgram) -> InvalidInputError | None:
    import ray
    from ray.train import DataConfig, TrainingFailedError
    from ray.train.torch import TorchConfig

    run, scratch = program.run, work.folder.path.absolute() / "ray"  # Ray takes a relative path for no path at all
    ray.data.DataContext.get_current().enable_progress_bars = False
    trainer: Any = _trainer()(
        train_rank,
        train_loop_config=RankOrder(run=run, strategy=program.strategy, keeper=keeper_of(work.folder, run)),
        torch_config=TorchConfig(backend="nccl" if run.device == CUDA else "gloo"),
        scaling_config=_scaling(work.spec.resources, dict(work.labels)),
        run_config=_run_config(str(scratch)),
        datasets={"segments": ray.data.from_items(_rows(run), override_num_blocks=1)},
        dataset_config=DataConfig(datasets_to_split=[]),  # all ranks see all rows, and each takes its batches of them
    )
    try:
        problem: InvalidInputError | None = trainer.fit().return_value
    except TrainingFailedError as error:
        reason = str(error).strip().splitlines()[0]
        raise UnavailableError(f"Ray Train failed: {reason}", code="train_failed") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return problem


def _trainer() -> Any:
    """TorchTrainer without Ray's cleaner of reservations, which outlives a run that is killed: it asks a dashboard for ever."""
    from ray.train.v2._internal.callbacks.placement_group_callback import PlacementGroupCleanerCallback
    from ray.train.v2.torch.torch_trainer import TorchTrainer

    class Trainer(TorchTrainer):
        def _create_default_callbacks(self) -> list[Any]:
            callbacks: list[Any] = super()._create_default_callbacks()
            return [one for one in callbacks if not isinstance(one, PlacementGroupCleanerCallback)]

    return Trainer


def _scaling(resources: Resources, labels: dict[str, str]) -> Any:
    from ray.train import ScalingConfig

    needed = {"CPU": resources.cpus, **({"GPU": resources.gpus} if resources.gpus else {})}
    return ScalingConfig(
        num_workers=resources.workers,
        use_gpu=resources.gpus > 0,
        resources_per_worker=needed,
        label_selector=labels or None,  # type: ignore[call-arg]  # typed as the version before it
    )


def _run_config(storage: str) -> Any:
    from ray.train import FailureConfig, RunConfig

    return RunConfig(
        name="train",
        storage_path=storage,
        failure_config=FailureConfig(max_failures=WORKER_FAILURES),
        worker_runtime_env={"env_vars": WORKER_ENVIRONMENT},  # type: ignore[call-arg]  # typed as the version before it
    )

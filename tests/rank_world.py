"""Several ranks of one training run as processes of this machine, without Ray: gloo over a file."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from node.jobs.kinds.trainee import Trainee
from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.jobs import JobSpec, parse_job_spec
from swarm_chain.reference.parallel import ParallelRun, first_content, kind_of, run_ranks
from swarm_chain.reference.spec import TrainSpec
from swarm_chain.reference.train import end_of, pinned, start_of

SPEC = TrainSpec(
    model="transformer",
    seed=7,
    steps=6,
    segment_steps=2,
    batch=4,
    context=8,
    vocabulary=16,
    width=16,
    heads=2,
    layers=2,
    learning_rate_micro=5000,
)
MLP = replace(SPEC, model="mlp")


@dataclass(frozen=True, slots=True, kw_only=True)
class RankCase:
    """A run and what its ranks hold of the model."""

    run: ParallelRun
    strategy: str


def job_of(case: RankCase) -> JobSpec:
    """The job of a case."""
    work = {name: value for name, value in case.run.train.document().items() if name not in {"kind", "program"}}
    spread = {"workers": case.run.workers, "strategy": case.strategy, "precision": case.run.precision}
    resources = {"workers": case.run.workers}
    return parse_job_spec({"kind": "train", "program": "swarm-train/2", "work": work | spread, "resources": resources})


def replayed(run: ParallelRun) -> list[str]:
    """Hashes of all contents, by this process alone."""
    contents = [first_content(run)]
    for index in range(run.train.segments):
        contents.append(run_ranks(run, contents[-1], index))
    return [content_hash(content).hex() for content in contents]


def trained(cases: Sequence[RankCase], folder: Path) -> list[list[str]]:
    """What each rank comes to: for every case its contents' hashes, in a line. All cases have the same number of workers."""
    from torch.multiprocessing.spawn import spawn

    count = cases[0].run.workers
    spawn(_rank, args=(count, list(cases), str(folder)), nprocs=count)  # type: ignore[no-untyped-call]
    return [(folder / str(rank)).read_text().splitlines() for rank in range(count)]


def _rank(rank: int, count: int, cases: list[RankCase], folder: str) -> None:
    import torch.distributed as dist

    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=count)
    lines = [" ".join(_hashes(case, rank)) for case in cases]
    (Path(folder) / str(rank)).write_text("\n".join(lines))
    dist.destroy_process_group()


def _hashes(case: RankCase, rank: int) -> list[str]:
    run = case.run
    content = first_content(run)
    hashes = [content_hash(content).hex()]
    with pinned():
        start = start_of(run.train, content, 0, kind_of(run))
        trainee = Trainee(run, case.strategy, start.state)
        for index in range(run.train.segments):
            start = start_of(run.train, content, index, kind_of(run))
            batches = [step * run.workers + rank for step in run.steps_of(index)]
            content = end_of(start, content_hash(content), *trainee.train(batches, run.steps_of(index).start + 1))
            hashes.append(content_hash(content).hex())
    return hashes

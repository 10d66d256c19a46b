"""A training job through our program against bare Ray Train, the same steps; and what replaying its drawn segments costs.

bare: TorchTrainer, DistributedDataParallel or fully_shard as they come, torch's Adam, the same batches, nothing kept.
"""

import argparse
import os
import secrets
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32), RAY_USAGE_STATS_ENABLED="0")
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # binds to loopback only; both are read when ray is imported

from _report import Result, print_report, seconds_of, typical_ratio

from node.jobs.folder import JobFolder
from node.jobs.work import JobOrder, run_job
from swarm_chain.core.checkpoints import drawn_count
from swarm_chain.core.jobs import JobSpec, parse_job_spec
from swarm_chain.reference.programs.base import inputs_of
from swarm_chain.reference.programs.registry import open_program
from swarm_chain.reference.programs.train_parallel import TrainParallelProgram

GOAL = 0.05


def job_of(options: argparse.Namespace) -> JobSpec:
    """The job that both do."""
    sizes = {"model": "transformer", "seed": 1, "steps": options.segments * options.segment_steps}
    shape = {"batch": options.batch, "context": 32, "vocabulary": 64, "width": options.width, "heads": 4, "layers": 2}
    spread = {"workers": options.workers, "strategy": options.strategy, "learning_rate_micro": 1000}
    work = {**sizes, **shape, **spread, "segment_steps": options.segment_steps}
    return parse_job_spec(
        {"kind": "train", "program": "swarm-train/2", "work": work, "resources": {"workers": options.workers}}
    )


def bare_rank(program: TrainParallelProgram) -> None:
    """What a customer's script on bare Ray Train does for the same training."""
    import torch
    from torch import nn

    from node.jobs.kinds.trainee import StageModule
    from swarm_chain.reference.checkpoint import parse_checkpoint
    from swarm_chain.reference.data import train_batch
    from swarm_chain.reference.models import parameter_views, stages, targets_of

    torch.set_num_threads(1)
    run, rank = program.run, torch.distributed.get_rank()
    flat = torch.from_numpy(parse_checkpoint(run.train, program.first()).state[0].copy())
    weights = parameter_views(run.train, flat)
    model = bare_model(program.strategy, nn.Sequential(*(StageModule(stage, weights) for stage in stages(run.train))))
    adam = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.99))
    for step in range(run.train.steps):
        tokens = torch.from_numpy(train_batch(run.train, step * run.workers + rank))
        adam.zero_grad()
        nn.functional.cross_entropy(model(tokens[:, :-1]), targets_of(run.train, tokens)).backward()  # type: ignore[no-untyped-call]  # torch does not type it
        adam.step()


def bare_model(strategy: str, model: Any) -> Any:
    """The model as torch's own documentation spreads it."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.nn.parallel import DistributedDataParallel

    if strategy == "ddp":
        return DistributedDataParallel(model)
    import torch

    mesh = init_device_mesh("cpu", (torch.distributed.get_world_size(),))
    for part in (*model, model):
        fully_shard(part, mesh=mesh)
    return model


def run_bare(program: TrainParallelProgram, folder: Path) -> None:
    """The baseline."""
    from ray.train import RunConfig, ScalingConfig
    from ray.train.torch import TorchConfig, TorchTrainer

    trainer: Any = TorchTrainer(
        bare_rank,  # type: ignore[arg-type]  # any object is handed on
        train_loop_config=program,  # type: ignore[arg-type]  # typed as a dict, handed on as it is
        torch_config=TorchConfig(backend="gloo"),
        scaling_config=ScalingConfig(num_workers=program.run.workers),
        run_config=RunConfig(name="bare", storage_path=str(folder)),
    )
    trainer.fit()


def run_ours(spec: JobSpec, folder: Path) -> None:
    """The job as the agent has it run, in a task of its own."""
    import ray

    order = JobOrder(document=spec.document(), folder=str(folder))
    result = ray.get(ray.remote(run_job).options(num_cpus=0).remote(order))
    assert result.exit_code == 0, result.reason


def replay_seconds(program: TrainParallelProgram, folder: JobFolder, rounds: int) -> list[float]:
    """What a judge needs for the drawn segments of a job."""
    times = []
    draws = drawn_count(program.units)
    for number in range(rounds):
        started = perf_counter()
        for drawn in range(draws):
            at = (number + drawn * program.units // draws) % program.units
            source = folder.kept(at)
            assert source is not None
            assert program.compute(at, source) == folder.kept(at + 1), "an honest segment does not replay"
        times.append(perf_counter() - started)
    return times


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--strategy", choices=["ddp", "fsdp"], default="ddp")
    parser.add_argument("--segments", type=int, default=60)
    parser.add_argument("--segment-steps", type=int, default=50)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--width", type=int, default=96)
    parser.add_argument("--rounds", type=int, default=1)
    print_report("jobs_train", measured(parser.parse_args()))


def measured(options: argparse.Namespace) -> list[Result]:
    """The figures."""
    import ray

    spec = job_of(options)
    program = open_program(spec, inputs_of({}))
    assert isinstance(program, TrainParallelProgram)
    ray.init(address="local", num_cpus=options.workers, include_dashboard=False, log_to_driver=False)
    with TemporaryDirectory() as scratch:
        folders = iter(Path(scratch) / f"job-{number}" for number in range(options.rounds))
        bare, ours = seconds_of(
            lambda: run_bare(program, Path(scratch) / "bare"),
            lambda: run_ours(spec, next(folders)),
            rounds=options.rounds,
        )
        replays = replay_seconds(program, JobFolder(path=Path(scratch) / "job-0"), 3)
    ray.shutdown()
    over, share = typical_ratio(ours, bare) - 1, median(replays) / median(ours)
    name = f"{options.strategy}, {options.workers} workers"
    return [
        Result(name=f"overhead, {name}", value=median(ours), unit="s", baseline=median(bare), ratio=over, goal=GOAL),
        Result(name="replay", value=median(replays), unit="s", baseline=median(ours), ratio=share, goal=GOAL),
    ]


if __name__ == "__main__":
    main()

"""A search through our tune kind over the same search on bare Ray Tune, and what a judge pays beside it.

Bare: the same trials, each just as long, listed beforehand; neither proposals nor stops, neither contents nor study.
"""

import argparse
import os
import secrets
import sys
from contextlib import redirect_stdout
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from _report import Result, print_report, seconds_of, typical_ratio

os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}  # Ray reads them when it is imported
os.environ |= {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}

import yaml

from node.jobs.folder import JobFolder
from node.jobs.work import JobOrder, run_job
from swarm_chain.core.checkpoints import drawn_count
from swarm_chain.core.jobs import JobSpec, parse_job_spec
from swarm_chain.reference.programs.base import inputs_of
from swarm_chain.reference.programs.registry import open_program
from swarm_chain.reference.programs.tune import TuneProgram

EXAMPLE = Path(__file__).parent.parent / "examples" / "tune.yaml"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=48)
    parser.add_argument("--generation", type=int, default=12)
    parser.add_argument("--steps-per-rung", type=int, default=120)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    import ray

    ray.init(address="local", num_cpus=2, num_gpus=0, include_dashboard=False, log_to_driver=False)
    with redirect_stdout(sys.stderr):  # Tune prints tables
        results = measured(_spec(options), options.rounds)
    print_report("jobs_tune", results)
    ray.shutdown()


def measured(spec: JobSpec, rounds: int) -> list[Result]:
    """Figures of a search."""
    with TemporaryDirectory() as folder:
        study, program = _searched(spec, Path(folder) / "first")  # and Ray is warm
        device_s = JobFolder(path=Path(folder) / "first").spent_ms() / 1000
        trials = [program.trial_of(content) for content in study[1:-1]]
        plans = [(dict(trial.parameters), len(trial.values)) for trial in trials]
        names = iter(range(rounds))
        ours, bare = seconds_of(
            lambda: _searched(spec, Path(folder) / str(next(names))), lambda: _bare(spec, plans, folder), rounds=rounds
        )
    units = seconds_of(*(lambda unit=unit: program.compute(unit, study[-1]) for unit in range(program.units)), rounds=1)
    drawn = drawn_count(program.units)
    replay = drawn * sum(times[0] for times in units) / program.units
    rungs = sum(length for _, length in plans)
    return [
        Result(name="search", value=median(ours), unit="s", baseline=median(bare), ratio=typical_ratio(ours, bare), goal=1.05),
        Result(name="rungs run", value=rungs, unit="rungs", baseline=len(plans) * program.work.rungs,
               ratio=rungs / (len(plans) * program.work.rungs)),
        Result(name=f"replay of {drawn} drawn units over all trials", value=replay, unit="s", baseline=device_s,
               ratio=replay / device_s, goal=0.05),
        Result(name="study", value=len(study[-1]), unit="bytes"),
    ]  # fmt: skip


def _searched(spec: JobSpec, folder: Path) -> tuple[list[bytes], TuneProgram]:
    result = run_job(JobOrder(document=spec.document(), folder=str(folder)))
    assert result.exit_code == 0, result.reason
    kept = [JobFolder(path=folder).kept(index) or b"" for index in range(len(result.contents))]
    return kept, _program(spec)


def _bare(spec: JobSpec, plans: list[tuple[dict[str, int], int]], folder: str) -> None:
    """The same trials, each as long as in our search, on Ray Tune alone."""
    from ray import tune

    trainable = tune.with_parameters(_bare_trial, document=spec.document())
    results = tune.Tuner(
        tune.with_resources(trainable, {"cpu": spec.resources.cpus}),
        param_space={"plan": tune.grid_search([{"parameters": one, "rungs": length} for one, length in plans])},
        tune_config=tune.TuneConfig(
            metric="value", mode="min", max_concurrent_trials=spec.resources.workers, reuse_actors=True
        ),
        run_config=tune.RunConfig(storage_path=folder, name="bare", verbose=0),
    ).fit()
    assert not results.errors


def _bare_trial(config: dict[str, Any], document: object) -> None:
    from itertools import islice

    from ray import tune

    plan = config["plan"]
    for value in islice(_program(parse_job_spec(document)).values(plan["parameters"]), plan["rungs"]):
        tune.report({"value": value})


def _program(spec: JobSpec) -> TuneProgram:
    program = open_program(spec, inputs_of({}))
    assert isinstance(program, TuneProgram)
    return program


def _spec(options: argparse.Namespace) -> JobSpec:
    document = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    names = ("trials", "generation", "steps_per_rung")
    document["work"] |= {"startup": options.generation} | {name: getattr(options, name) for name in names}
    return parse_job_spec(document)


if __name__ == "__main__":
    main()

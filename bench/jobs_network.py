"""A job of a minute from submit to receipt, over the same job on bare Ray; and what plan and submit take.

Everything runs on this machine: chain, member, gateway, three nodes. Times of the commands are those of their processes.
"""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import yaml
from _report import Result, print_report, seconds_of

from tests.e2e import acts
from tests.e2e.examples import Ran, is_completed, open_for_work, run_example, submit
from tests.e2e.world import open_world

EXAMPLE = Path(__file__).parent.parent / "examples" / "train.yaml"
GOAL, COMMAND_S = 1.05, 2.0
UNITS = 100  # of 0.6 s: one of them is computed again before the receipt is signed


def quiet(_: str) -> None:
    """Says nothing."""


def measured(folder: Path, options: argparse.Namespace) -> Sequence[Result]:
    """The figures."""
    spec = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    spec["work"] |= {"steps": options.steps, "segment_steps": options.steps // UNITS}
    file, small = folder / "minute.yaml", folder / "small.yaml"
    file.write_text(yaml.safe_dump(spec), encoding="utf-8")
    small.write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    with open_world(folder / "world") as world:
        open_for_work(world, quiet)
        run_example(world, small, quiet)  # everybody is warm, and the gateway knows what a unit takes
        jobs: list[int] = []
        plans, submits = seconds_of(
            lambda: world.swarm("job", "plan", str(small), account=acts.CUSTOMER),
            lambda: jobs.append(submit(world, small)),
            rounds=options.rounds,
        )
        for job in jobs:
            world.wait_for(f"job {job}", partial(is_completed, world, job))
        ran = run_example(world, file, quiet)
    return _results(median(plans), median(submits), ran)


def _results(plan: float, submit: float, ran: Ran) -> Sequence[Result]:
    network, bare = ran.run_ms / 1000, ran.bare_ms / 1000
    return [
        Result(name="swarm job plan", value=plan, unit="s", goal=COMMAND_S),
        Result(name="swarm job submit", value=submit, unit="s", goal=COMMAND_S),
        Result(name="job, from submit to receipt", value=network, unit="s", baseline=bare, ratio=network / bare, goal=GOAL),
    ]  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=3)
    with TemporaryDirectory(prefix="swarm-") as folder:
        print_report("jobs_network", measured(Path(folder), parser.parse_args()))


if __name__ == "__main__":
    main()

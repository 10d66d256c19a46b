"""How long the whole local suite of `swarm node bench` takes at the minimal preset, category by category."""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, perf_counter_ns

from _report import Result, print_report

from node.bench import PRESETS, BackendResult
from node.suite.cli import CATEGORIES, measured
from node.suite.metrics import Bench

GOAL_S = 180.0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    backends: list[BackendResult] = []
    seconds: dict[str, float] = {}
    with TemporaryDirectory() as folder:
        bench = Bench(
            shape=PRESETS["minimal"],
            runs=3,
            device="cpu",
            threads=options.threads,
            folder=Path(folder),
            clock_ns=perf_counter_ns,
        )
        for category in CATEGORIES:
            started = perf_counter()
            measured(bench, category, backends)
            seconds[category] = perf_counter() - started
    results = [Result(name=name, value=value, unit="s") for name, value in seconds.items() if value > 0.001]
    print_report("suite", [Result(name="whole suite", value=sum(seconds.values()), unit="s", goal=GOAL_S), *results])


if __name__ == "__main__":
    main()

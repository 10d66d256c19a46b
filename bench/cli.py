"""Start-up of the command line: help and a command that touches no chain, against the bare interpreter."""

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from _report import Result, print_report, seconds_of, typical_ratio

HELP_GOAL_MS = 200.0
OFFLINE_GOAL_MS = 300.0


def runner(*command: str) -> Callable[[], object]:
    """Runs a program to its end; it must succeed."""
    return lambda: subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    swarm = str(Path(sys.executable).parent / "swarm")
    bare = runner(sys.executable, "-c", "pass")
    with TemporaryDirectory() as home:
        listing = runner("env", f"SWARM_KEYSTORE_DIR={home}", swarm, "wallet", "list", "--json")
        works = (bare, runner(swarm, "--help"), listing)
        for work in works:
            work()  # the first run writes byte code
        bare_s, help_s, listing_s = seconds_of(*works, rounds=options.rounds)
    floor = 1000 * median(bare_s)
    print_report(
        "cli",
        [
            Result(name="swarm --help", value=1000 * median(help_s), unit="ms", baseline=floor, goal=HELP_GOAL_MS),
            Result(
                name="swarm wallet list",
                value=1000 * median(listing_s),
                unit="ms",
                baseline=floor,
                goal=OFFLINE_GOAL_MS,
            ),
            Result(
                name="swarm --help over python -c pass",
                value=1000 * median(help_s),
                unit="ms",
                baseline=floor,
                ratio=typical_ratio(help_s, bare_s),
            ),
        ],
    )


if __name__ == "__main__":
    main()

"""Runs the audit and prints its table: `python -m tools.audit [slither] [halmos] [coverage] [mutation] [--only CONTRACT]`."""

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from swarm_chain.core.errors import SwarmError
from tools.audit import coverage, halmos, mutate, slither
from tools.audit.table import Row, all_ok, render

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("slither", "halmos", "coverage", "mutation")


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0 when every figure holds, 1 when one does not, else that of the error."""
    options = _parser().parse_args(arguments)
    measures = _measures(tuple(options.only))
    rows: list[Row] = []
    try:
        for part in options.part or PARTS:
            started = time.monotonic()
            sys.stderr.write(f"{part} ...\n")
            rows.extend(measures[part](ROOT))
            sys.stderr.write(f"{part}: {time.monotonic() - started:.0f} s\n")
    except SwarmError as error:
        sys.stderr.write(f"{error.message}\n{error.fix}\n")
        return error.exit_code
    sys.stdout.write(f"{render(rows)}\n")
    return 0 if all_ok(rows) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tools.audit", description="slither, Halmos, coverage, mutation")
    parser.add_argument("part", nargs="*", choices=(*PARTS, []), help="which parts to run (all of them)")
    parser.add_argument("--only", action="append", default=[], metavar="CONTRACT", help="mutate this contract alone")
    return parser


def _measures(contracts: tuple[str, ...]) -> Mapping[str, Callable[[Path], tuple[Row, ...]]]:
    return {
        "slither": slither.measure,
        "halmos": halmos.measure,
        "coverage": coverage.measure,
        "mutation": partial(mutate.measure, contracts=contracts),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

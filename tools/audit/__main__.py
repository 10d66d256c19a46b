"""Runs the audit and prints its table: `python -m tools.audit [slither] [halmos] [coverage] [mutation] [--all]`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from swarm_chain.core.errors import SwarmError
from tools.audit import slither
from tools.audit.table import Row, all_ok, render

ROOT = Path(__file__).resolve().parents[2]
PARTS = {"slither": slither.measure}


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0 when every figure holds, 1 when one does not, else that of the error."""
    parser = argparse.ArgumentParser(prog="tools.audit", description="slither, Halmos, coverage, mutation")
    parser.add_argument("part", nargs="*", choices=(*PARTS, []), help="which parts to run (all of them)")
    chosen = parser.parse_args(arguments).part or list(PARTS)
    rows: list[Row] = []
    try:
        for part in chosen:
            sys.stderr.write(f"{part} ...\n")
            rows.extend(PARTS[part](ROOT))
    except SwarmError as error:
        sys.stderr.write(f"{error.message}\n{error.fix}\n")
        return error.exit_code
    sys.stdout.write(f"{render(rows)}\n")
    return 0 if all_ok(rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

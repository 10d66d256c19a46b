"""Halmos over contracts/test/symbolic: every `check_` function holds for all inputs, and the control is refuted."""

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.audit.process import forge_settings, run_tool
from tools.audit.table import Row

PROGRAM = Path(".venv-halmos/bin/halmos")
FOLDER = Path("build/audit/halmos")
CHECKS = Path("contracts/test/symbolic")
# False on purpose: where Halmos proves this one too, its proofs are worth nothing.
CONTROL = "ControlSymbolic"
# yices 2.6.4, the solver taken by itself, answers "sat" to queries over arrays that z3 refutes.
OPTIONS = ("--solver", "z3", "--solver-timeout-assertion", "120s", "--no-status")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One property and what Halmos says about it."""

    contract: str
    name: str
    proven: bool
    refuted: bool


def measure(root: Path) -> tuple[Row, ...]:
    """Compiles the checks and lets Halmos walk every path of each.

    Args:
        root: the repository.

    Returns:
        A row a contract and one for the control.

    Raises:
        UnavailableError: forge or Halmos failed.
    """
    folder = root / FOLDER
    # Halmos reads whatever lies there, also what was built from a check that is gone.
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    report = folder / "report.json"
    run_tool(
        [str(root / PROGRAM), *OPTIONS, "--forge-build-out", str(FOLDER / "out"), "--json-output", str(report)],
        folder=root,
        settings={**forge_settings(folder), "FOUNDRY_PROFILE": "symbolic"},
        good_statuses=(0, 1),
    )
    return judge(read_checks(json.loads(report.read_text(encoding="utf-8"))), read_names(root / CHECKS))


def read_checks(report: Mapping[str, Any]) -> tuple[Check, ...]:
    """Checks of Halmos's JSON report; proven is only what was walked to the end, without a cut loop."""
    return tuple(
        Check(
            contract=place.rpartition(":")[2],
            name=item["name"].partition("(")[0],
            proven=item["exitcode"] == 0 and item["num_bounded_loops"] == 0,
            refuted=item["exitcode"] == 1,
        )
        for place, items in report["test_results"].items()
        for item in items
    )


def read_names(folder: Path) -> Mapping[str, frozenset[str]]:
    """Names of the checks of each contract, as the sources have them: a check that Halmos passes over must not look proven."""
    names: dict[str, frozenset[str]] = {}
    for path in sorted(folder.glob("*.t.sol")):
        text = path.read_text(encoding="utf-8")
        contract = re.findall(r"^contract (\w+)", text, re.MULTILINE)[0]
        names[contract] = frozenset(re.findall(r"function (check_\w+)", text))
    return names


def judge(checks: Sequence[Check], names: Mapping[str, frozenset[str]]) -> tuple[Row, ...]:
    """Rows of the table: all of a contract's checks proven; the control refuted."""
    rows = [_row(contract, wanted, checks) for contract, wanted in names.items() if contract != CONTROL]
    refuted = {check.name for check in checks if check.contract == CONTROL and check.refuted}
    wanted = names.get(CONTROL, frozenset())
    control = Row(
        part="halmos",
        what="control",
        figure=f"{len(refuted)} of {len(wanted)} false checks refuted",
        needs="all",
        ok=bool(wanted) and refuted == wanted,
        notes=tuple(sorted(f"{name} is false and was not refuted" for name in wanted - refuted)),
    )
    return (*rows, control)


def _row(contract: str, wanted: frozenset[str], checks: Sequence[Check]) -> Row:
    proven = {check.name for check in checks if check.contract == contract and check.proven}
    return Row(
        part="halmos",
        what=contract.removesuffix("Symbolic"),
        figure=f"{len(proven & wanted)} of {len(wanted)} checks proven",
        needs="all",
        ok=bool(wanted) and wanted <= proven,
        notes=tuple(sorted(f"{contract}.{name} is not proven" for name in wanted - proven)),
    )

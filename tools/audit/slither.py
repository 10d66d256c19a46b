"""slither over the contracts of contracts/src: every finding is fixed, or justified by name in slither.toml."""

import json
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tools.audit.process import forge_settings, run_tool
from tools.audit.table import Row

JUSTIFIED = Path("tools/audit/slither.toml")
PROGRAM = Path(".venv-slither/bin/slither")
FOLDER = Path("build/audit/slither")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What slither says about one place."""

    check: str
    impact: str
    place: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Justification:
    """Why findings of one check at the named places are no weakness; `where` may hold wildcards."""

    check: str
    where: str
    reason: str

    def covers(self, finding: Finding) -> bool:
        """Whether it speaks of this finding."""
        return self.check == finding.check and fnmatchcase(finding.place, self.where)


def measure(root: Path) -> tuple[Row, ...]:
    """Builds the contracts with their syntax trees, runs slither and sorts what it found.

    Args:
        root: the repository.

    Returns:
        One row: open findings must be none, and no justification may be left without a finding.

    Raises:
        UnavailableError: forge or slither failed.
    """
    folder = root / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    settings = forge_settings(folder)
    run_tool(["forge", "build", "contracts/src", "--build-info", "--quiet"], folder=root, settings=settings)
    report = folder / "report.json"
    command = [str(root / PROGRAM), ".", "--ignore-compile", "--foundry-out-directory", str(FOLDER / "out")]
    run_tool(
        [*command, "--filter-paths", "node_modules", "--json", str(report)],
        folder=root,
        settings=settings,
        good_statuses=(0, 255),
    )
    return (judge(read_findings(json.loads(report.read_text())), read_justifications(root / JUSTIFIED)),)


def read_findings(report: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Findings of slither's JSON report.

    Raises:
        ValueError: slither says that its run failed.
    """
    if not report["success"]:
        raise ValueError(f"slither failed: {report['error']}")
    return tuple(
        Finding(
            check=item["check"],
            impact=item["impact"],
            place=_place(item["elements"][0]),
            text=item["description"].splitlines()[0].strip(),
        )
        for item in report["results"].get("detectors", ())
    )


def read_justifications(path: Path) -> tuple[Justification, ...]:
    """Justifications of the committed file; each needs all three fields."""
    return tuple(Justification(**item) for item in tomllib.loads(path.read_text(encoding="utf-8"))["justified"])


def judge(findings: Sequence[Finding], justified: Sequence[Justification]) -> Row:
    """The row of the table: what is open and which justifications nothing needs any more."""
    unexplained = [found for found in findings if not any(item.covers(found) for item in justified)]
    unused = [item for item in justified if not any(item.covers(found) for found in findings)]
    notes = [f"{found.impact} {found.check} at {found.place}: {found.text}" for found in unexplained]
    notes += [f"no finding needs the justification of {item.check} at {item.where}" for item in unused]
    explained = len(findings) - len(unexplained)
    return Row(
        part="slither",
        what="findings",
        figure=f"{len(unexplained)} open, {explained} justified, {len(unused)} stale",
        needs="0 open, 0 stale",
        ok=not notes,
        notes=tuple(notes),
    )


def _place(element: Mapping[str, Any]) -> str:
    """`Contract.member` of the element a finding starts with."""
    names = [element["name"]]
    parent = element.get("type_specific_fields", {}).get("parent")
    while parent is not None:
        names.append(parent["name"])
        parent = parent.get("type_specific_fields", {}).get("parent")
    owner_and_member = [name for name in reversed(names) if name][:2]
    return ".".join(owner_and_member)

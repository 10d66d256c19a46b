"""Coverage of contracts/src by the unit tests alone, as forge counts it: lines and branches."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.audit.process import forge_settings, run_tool
from tools.audit.table import Row, percent, share_bps

FOLDER = Path("build/audit/coverage")
NEEDED_LINES_BPS = 9800
NEEDED_BRANCHES_BPS = 9500
# Fewer runs than in make test: a line that is reached at all is reached early.
SETTINGS = {"TEST": "contracts/test/unit", "FUZZ_RUNS": "32"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCoverage:
    """How often each line and each way out of a branch of one file was taken."""

    path: str
    lines: Mapping[int, int]
    branches: Mapping[tuple[int, int, int], int]

    def missing(self) -> Iterator[str]:
        """Places that no test reaches, as `path:line`."""
        for line, hits in sorted(self.lines.items()):
            if hits == 0:
                yield f"{self.path}:{line} is never run"
        for (line, _, way), hits in sorted(self.branches.items()):
            if hits == 0:
                yield f"{self.path}:{line} way {way} of the branch is never taken"


def measure(root: Path) -> tuple[Row, ...]:
    """Runs the tests with counters and reads what they reached.

    Args:
        root: the repository.

    Returns:
        A row a contract and two for the whole of contracts/src.

    Raises:
        UnavailableError: the tests fail or the counters cannot be built.
    """
    folder = root / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    report = folder / "lcov.info"
    command = ["forge", "coverage", "--report", "lcov", "--report-file", str(report)]
    run_tool(command, folder=root, settings=forge_settings(folder, **SETTINGS))
    return judge(read_lcov(report.read_text(encoding="utf-8")))


def read_lcov(text: str) -> tuple[FileCoverage, ...]:
    """Files of contracts/src in a report of forge, in lcov's format."""
    sections = re.findall(r"^SF:(contracts/src/.+)\n((?:.*\n)*?)end_of_record", text, re.MULTILINE)
    return tuple(
        FileCoverage(
            path=path,
            lines={int(line): int(hits) for line, hits in re.findall(r"^DA:(\d+),(\d+)", body, re.MULTILINE)},
            branches={
                (int(line), int(block), int(way)): 0 if hits == "-" else int(hits)
                for line, block, way, hits in re.findall(r"^BRDA:(\d+),(\d+),(\d+),(-|\d+)", body, re.MULTILINE)
            },
        )
        for path, body in sections
    )


def judge(files: Sequence[FileCoverage]) -> tuple[Row, ...]:
    """Rows of the table: the thresholds hold for the whole, a file's row shows where to look."""
    rows = [_file_row(file) for file in files]
    notes = tuple(place for file in files for place in file.missing())
    lines = [hits for file in files for hits in file.lines.values()]
    branches = [hits for file in files for hits in file.branches.values()]
    return (
        *rows,
        _total("all lines", lines, NEEDED_LINES_BPS, notes),
        _total("all branches", branches, NEEDED_BRANCHES_BPS, notes),
    )


def _file_row(file: FileCoverage) -> Row:
    lines, branches = list(file.lines.values()), list(file.branches.values())
    figure = f"{_figure(lines)} lines, {_figure(branches)} branches"
    return Row(
        part="coverage", what=Path(file.path).stem, figure=figure, needs="", ok=True, notes=tuple(file.missing())
    )


def _total(what: str, hits: Sequence[int], needed_bps: int, notes: tuple[str, ...]) -> Row:
    reached = sum(count > 0 for count in hits)
    return Row(
        part="coverage",
        what=what,
        figure=f"{percent(share_bps(reached, len(hits)))} ({_figure(hits)})",
        needs=percent(needed_bps),
        ok=bool(hits) and share_bps(reached, len(hits)) >= needed_bps,
        notes=notes,
    )


def _figure(hits: Sequence[int]) -> str:
    return f"{sum(count > 0 for count in hits)}/{len(hits)}"

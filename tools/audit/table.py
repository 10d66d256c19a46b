"""What a part of the audit answers: rows of one table and the notes behind them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

HEAD = ("part", "what", "figure", "needs", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure of the audit and what it must be."""

    part: str
    what: str
    figure: str
    needs: str
    ok: bool
    notes: tuple[str, ...] = ()


def render(rows: Sequence[Row]) -> str:
    """The table as text, columns aligned, the notes of failing rows below.

    Args:
        rows: in the order in which they are shown.
    """
    cells = [HEAD, *((row.part, row.what, row.figure, row.needs, "ok" if row.ok else "FAILS") for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEAD))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join([*lines, *_notes(rows)])


def all_ok(rows: Sequence[Row]) -> bool:
    """Whether something was measured and every row holds; an empty table proves nothing."""
    return bool(rows) and all(row.ok for row in rows)


def share_bps(part: int, whole: int) -> int:
    """`part` of `whole` in bps, rounded down; nothing of nothing is all of it."""
    return 10_000 if whole == 0 else part * 10_000 // whole


def percent(bps: int) -> str:
    """Bps as a percentage with one digit, rounded down."""
    return f"{bps // 100}.{bps % 100 // 10} %"


def _notes(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        if row.notes and not row.ok:
            yield f"\n{row.part} {row.what}:"
            yield from (f"  {note}" for note in row.notes)

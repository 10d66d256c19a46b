"""Tables of protocol numbers: (input, output) rows with ascending inputs that start at 0, read by integers alone."""

from collections.abc import Sequence
from itertools import pairwise

Table = Sequence[tuple[int, int]]


def interpolate(table: Table, value: int) -> int:
    """Read a piecewise-linear table, rounded down.

    Args:
        table: (input, output) pairs, inputs strictly ascending.
        value: at least the first input; above the last one the last output holds.
    """
    low_in, low_out = table[0]
    for high_in, high_out in table[1:]:
        if value < high_in:
            return low_out + (high_out - low_out) * (value - low_in) // (high_in - low_in)
        low_in, low_out = high_in, high_out
    return low_out


def step(table: Table, value: int) -> int:
    """Read a table of steps: the output of the last input that is not above the value.

    Args:
        table: (input, output) pairs, inputs strictly ascending.
        value: at least the first input.
    """
    return [output for reached, output in table if reached <= value][-1]


def rises(table: Table, least: int, most: int) -> bool:
    """Tell whether inputs start at 0 and ascend, and outputs never fall and stay within [least, most]."""
    return _ordered(table) and _bounded(table, least, most) and all(a[1] <= b[1] for a, b in pairwise(table))


def falls(table: Table, least: int, most: int) -> bool:
    """Tell whether inputs start at 0 and ascend, and outputs never rise and stay within [least, most]."""
    return _ordered(table) and _bounded(table, least, most) and all(a[1] >= b[1] for a, b in pairwise(table))


def _ordered(table: Table) -> bool:
    return len(table) >= 2 and table[0][0] == 0 and all(a[0] < b[0] for a, b in pairwise(table))


def _bounded(table: Table, least: int, most: int) -> bool:
    return all(least <= output <= most for _, output in table)

"""Tables read by integers, and what a table must be."""

import pytest

from swarm_chain.core.tables import Table, falls, interpolate, rises, step
from swarm_chain.params import load_params

AVAILABILITY = load_params("minimal").rewards.availability_table


@pytest.mark.parametrize(
    ("availability", "expected"),
    [
        (0, 0),
        (8999, 0),
        (9000, 0),
        (9250, 2500),
        (9500, 5000),
        (9700, 7000),
        (9900, 9000),
        (9990, 10000),
        (10000, 10000),
        (20000, 10000),
    ],
)
def test_interpolate_when_read_then_linear_between_rows_and_flat_after_the_last(
    availability: int, expected: int
) -> None:
    assert interpolate(AVAILABILITY, availability) == expected


def test_interpolate_when_a_table_falls_then_rounded_down_too() -> None:
    assert interpolate(((0, 10), (3, 0)), 1) == 6


@pytest.mark.parametrize(("value", "expected"), [(0, 1), (9, 1), (10, 2), (99, 2), (100, 3), (10**9, 3)])
def test_step_when_a_row_is_reached_then_it_holds_until_the_next(value: int, expected: int) -> None:
    assert step(((0, 1), (10, 2), (100, 3)), value) == expected


@pytest.mark.parametrize(
    "table",
    [
        ((0, 5),),
        ((1, 5), (2, 6)),
        ((0, 5), (0, 6)),
        ((0, 5), (2, 6), (1, 7)),
        ((0, 6), (1, 5)),
        ((0, 4), (1, 6)),
        ((0, 5), (1, 9)),
    ],
)
def test_rises_when_rows_are_few_unordered_falling_or_out_of_bounds_then_not(table: Table) -> None:
    assert not rises(table, 5, 8)


def test_rises_and_falls_when_flat_then_both() -> None:
    flat = ((0, 5), (7, 5))

    assert rises(flat, 5, 5)
    assert falls(flat, 5, 5)
    assert not falls(((0, 5), (7, 6)), 5, 6)

"""Draws without replacement: every number once, each bound to its prefix."""

import pytest

from swarm_chain.core.draws import draw_distinct
from swarm_chain.core.encoding import keccak, words
from swarm_chain.core.errors import InvalidInputError

PREFIX = words(keccak(b"seed"), 7)


def test_draw_when_everything_is_drawn_then_each_number_comes_once() -> None:
    assert sorted(draw_distinct("rows", PREFIX, 50, 50)) == list(range(50))


def test_draw_when_more_is_drawn_then_what_came_before_stays() -> None:
    assert draw_distinct("rows", PREFIX, 20, 1000)[:5] == draw_distinct("rows", PREFIX, 5, 1000)


def test_draw_when_numbers_repeat_then_the_first_of_each_counts() -> None:
    hashed = [int.from_bytes(keccak(PREFIX + words(counter)), "big") % 10 for counter in range(100)]

    assert list(draw_distinct("rows", PREFIX, 10, 10)) == list(dict.fromkeys(hashed))


def test_draw_when_the_prefix_differs_then_the_numbers_do() -> None:
    assert draw_distinct("rows", PREFIX, 8, 2**31) != draw_distinct("rows", words(keccak(b"seed"), 8), 8, 2**31)


@pytest.mark.parametrize(("count", "size"), [(0, 4), (5, 4), (1, 0), (-1, 4)])
def test_draw_when_it_cannot_be_done_then_it_is_refused(count: int, size: int) -> None:
    with pytest.raises(InvalidInputError, match="number of drawn rows"):
        draw_distinct("rows", PREFIX, count, size)

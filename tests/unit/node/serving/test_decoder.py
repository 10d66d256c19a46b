"""Requests decoded side by side: whoever is beside them and whenever they come, their answers are the reference's."""

import math
import random
import time
from collections.abc import Callable

import numpy as np
import pytest

from node.serving.decoder import Decoder
from node.serving.products import (
    Int8Products,
    NumpyProducts,
    PackedProducts,
    Products,
    ProductsBySize,
    Sums,
    fastest_products,
)
from swarm_chain.core.rowchain import Int8Matrix
from swarm_chain.reference.programs.tokens import ModelWork, model_of, seed_hash
from swarm_chain.reference.tokenmodel import TokenModel, build_model
from tests.serve_world import FIRST, SIZES, given

MODEL = model_of(ModelWork(**SIZES), FIRST)
NOW, AT_THE_END, APART_S = 0.0, math.inf, 3600.0
Told = dict[str, list[list[int]]]


def decoder(most: int, make: Callable[[TokenModel], Products] = NumpyProducts) -> Decoder[str]:
    return Decoder(MODEL, make(MODEL), most)


def run(side: Decoder[str], until: float = math.inf, apart_s: float = APART_S) -> Told:
    """What everybody is told until nobody is left."""
    told: Told = {}
    while len(side):
        for owner, numbers in side.burst(until, apart_s):
            told.setdefault(owner, []).append(numbers)
    return told


@pytest.mark.parametrize("make", [NumpyProducts, Int8Products, PackedProducts])
@pytest.mark.parametrize("until", [0.0, math.inf])
def test_decoder_when_requests_of_all_lengths_come_and_go_then_each_answer_is_the_reference_s(
    make: Callable[[TokenModel], Products], until: float
) -> None:
    draw = random.Random(3)
    asked = [([draw.randrange(64) for _ in range(draw.randint(1, 9))], draw.randrange(12)) for _ in range(40)]
    side, coming = decoder(5, make), list(enumerate(asked))
    told: dict[str, list[int]] = {}
    while coming or len(side):
        while coming and len(side) < 5:
            number, (prompt, tokens) = coming.pop(0)
            side.join(str(number), prompt, tokens, draw.choice((NOW, AT_THE_END)))
        for owner, numbers in side.burst(until, APART_S):
            told.setdefault(owner, []).extend(numbers)

    assert {int(owner): tuple(numbers) for owner, numbers in told.items()} == {
        number: given(FIRST, prompt, tokens) for number, (prompt, tokens) in enumerate(asked)
    }


def test_decoder_when_a_request_is_due_then_its_first_token_comes_alone_and_the_rest_at_the_end() -> None:
    side = decoder(2)
    side.join("streamed", [1, 2], 6, NOW)
    side.join("whole", [3], 4, AT_THE_END)
    first, *rest = given(FIRST, [1, 2], 6)

    assert run(side) == {"streamed": [[first], rest], "whole": [list(given(FIRST, [3], 4))]}


def test_decoder_when_chunks_are_no_time_apart_then_every_token_comes_alone() -> None:
    side = decoder(1)
    side.join("streamed", [1, 2], 6, NOW)

    assert run(side, apart_s=0.0) == {"streamed": [[token] for token in given(FIRST, [1, 2], 6)]}


def test_decoder_when_a_short_request_joins_a_long_one_then_it_leaves_first() -> None:
    side = decoder(2)
    side.join("long", [1, 2], 50, AT_THE_END)
    assert side.burst(0.0, APART_S) == []
    side.join("short", [3], 2, AT_THE_END)

    assert list(run(side)) == ["short", "long"]


def test_decoder_when_a_request_is_dropped_then_it_is_told_nothing_and_the_others_go_on() -> None:
    side = decoder(3)
    for owner, prompt in (("first", [1, 2, 3]), ("gone", [4]), ("last", [5, 6])):
        side.join(owner, prompt, 5, AT_THE_END)
    side.burst(0.0, APART_S)
    side.drop("gone")

    assert side.owners() == ["first", "last"]
    assert run(side) == {"first": [list(given(FIRST, [1, 2, 3], 5))], "last": [list(given(FIRST, [5, 6], 5))]}


def test_products_when_sums_are_the_largest_there_are_then_bytes_give_them_too() -> None:
    made = build_model(ModelWork(width=1024, layers=1, vocabulary=8), seed_hash(FIRST))
    made.layers[0][:], made.head[:] = -64, -64
    widest, narrow = np.full((3, 2048), -128, dtype=np.int8), np.full((3, 1024), 127, dtype=np.int8)

    for way in (NumpyProducts(made), Int8Products(made), PackedProducts(made)):
        assert (way.times(widest, 0) == 2**24).all()
        assert (way.times(narrow, 1) == -127 * 64 * 1024).all()


class Wrong(Int8Products):
    """Off by one."""

    def times(self, rows: Int8Matrix, matrix: int) -> Sums:
        return super().times(rows, matrix) + 1


class Broken(Int8Products):
    """Has no such product, as torch on some processors."""

    def times(self, rows: Int8Matrix, matrix: int) -> Sums:
        raise RuntimeError(f"no product of {len(rows)} rows by matrix {matrix}")


class Missing(Int8Products):
    """Is not in this torch."""

    def __init__(self, model: TokenModel) -> None:
        raise AttributeError(f"no such product for {model.head.shape}")


@pytest.mark.parametrize("other", [Wrong, Broken, Missing])
def test_fastest_products_when_a_way_is_wrong_or_fails_then_the_reference_s(other: type[Int8Products]) -> None:
    assert {type(way) for ways in fastest_products(MODEL, 4, [other]).ways for way in ways} == {NumpyProducts}


class Slow(NumpyProducts):
    """Right, and slow for several rows."""

    def times(self, rows: Int8Matrix, matrix: int) -> Sums:
        time.sleep(0.01 * (len(rows) > 2))
        return super().times(rows, matrix)


class SlowAlone(NumpyProducts):
    """Right, and slow for few rows."""

    def times(self, rows: Int8Matrix, matrix: int) -> Sums:
        time.sleep(0.01 * (len(rows) <= 2))
        return super().times(rows, matrix)


def test_fastest_products_when_one_is_faster_for_few_rows_and_another_for_many_then_each_is_taken_there() -> None:
    ways = fastest_products(MODEL, 9, [Slow, SlowAlone]).ways

    assert len(ways) == len(MODEL.layers) + 1
    for way in ways:
        assert len(way) == 5  # at most 1, 2, 4, 8 and 16 rows
        assert not any(isinstance(few, SlowAlone) for few in way[:2])
        assert not any(isinstance(many, Slow) for many in way[2:])


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 64])
def test_products_by_size_when_rows_are_few_or_many_then_the_way_for_so_many(count: int) -> None:
    asked: list[int] = []

    class Tells(NumpyProducts):
        def __init__(self, most: int) -> None:
            super().__init__(MODEL)
            self.most = most

        def times(self, rows: Int8Matrix, matrix: int) -> Sums:
            asked.append(self.most)
            return super().times(rows, matrix)

    by_size = ProductsBySize([[Tells(1), Tells(2), Tells(4)]] * (len(MODEL.layers) + 1))
    by_size.times(np.zeros((count, len(MODEL.head)), dtype=np.int8), len(MODEL.layers))

    assert asked == [next((most for most in (1, 2, 4) if count <= most), 4)]

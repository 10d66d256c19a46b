"""The lid on batches follows the load; the meter lets in what there is room for and logs what was answered."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from node.serving.adaptive import BatchPace, next_lid
from node.serving.batches import TokenRequest, batched_embeddings
from node.serving.meter import Meter
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.reference.programs.tokens import ModelWork, model_of, seed_hash
from tests.serve_world import FIRST, SECOND, SIZES, entry, given

PACE = BatchPace(most=32, batch_ms=100)
REQUEST = TokenRequest(model=seed_hash(FIRST), prompt=(1, 2), tokens=5)


def test_lid_when_batches_are_full_and_in_time_then_it_grows_to_the_most() -> None:
    lid, seen = 1, []
    while lid < PACE.most:
        lid = next_lid(lid, lid, 50, PACE)
        seen.append(lid)

    assert seen == [2, 3, 4, 6, 9, 13, 19, 28, 32]
    assert next_lid(32, 32, 50, PACE) == 32


def test_lid_when_a_batch_took_too_long_then_it_shrinks_below_what_was_in_it_and_never_below_one() -> None:
    assert next_lid(32, 20, 101, PACE) == 15
    assert next_lid(1, 1, 5000, PACE) == 1


def test_lid_when_a_batch_was_not_full_then_it_stays() -> None:
    assert next_lid(8, 3, 10, PACE) == 8


def test_embeddings_when_of_two_models_in_one_batch_then_each_its_own() -> None:
    seeds = [FIRST, SECOND, FIRST]
    requests = [TokenRequest(model=seed_hash(seed), prompt=(3, place), tokens=0) for place, seed in enumerate(seeds)]
    models = [model_of(ModelWork(**SIZES), seed) for seed in seeds]

    right = [given(seed, (3, place), 0) for place, seed in enumerate(seeds)]
    assert batched_embeddings(requests, models) == right


def test_meter_when_an_answer_is_whole_then_it_is_logged_before_its_last_chunk_leaves() -> None:
    meter = Meter(1, 64)

    async def ask() -> list[bool]:
        return [meter.answered.empty() async for _ in meter.tokens(_answer)(REQUEST)]

    assert asyncio.run(ask()) == [True, False]
    assert meter.answered.get_nowait() == entry(FIRST, (1, 2), 5)


def test_meter_when_its_room_is_used_then_refused_and_a_broken_request_leaves_its_place() -> None:
    meter = Meter(1, 64)

    async def ask() -> None:
        with pytest.raises(UnavailableError, match="replica"):
            [chunk async for chunk in meter.tokens(_broken)(REQUEST)]
        assert [chunk async for chunk in meter.tokens(_answer)(REQUEST)]
        with pytest.raises(UnavailableError, match="paid for"):
            [chunk async for chunk in meter.tokens(_answer)(REQUEST)]

    asyncio.run(ask())
    assert meter.answered.qsize() == 1


def test_meter_when_a_request_is_longer_than_the_context_then_refused_and_not_counted() -> None:
    meter = Meter(1, 6)

    async def ask() -> None:
        with pytest.raises(InvalidInputError, match="too long"):
            [chunk async for chunk in meter.tokens(_answer)(REQUEST)]

    asyncio.run(ask())
    assert meter.answered.empty()


async def _answer(request: TokenRequest) -> AsyncIterator[list[int]]:
    tokens = list(given(FIRST, request.prompt, request.tokens))
    yield tokens[:2]
    yield tokens[2:]


async def _broken(_request: TokenRequest) -> AsyncIterator[list[int]]:
    yield [1]
    raise UnavailableError("the replica is gone")

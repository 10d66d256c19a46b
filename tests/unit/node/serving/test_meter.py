"""The meter lets in what there is room for and logs what was answered."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from node.serving.batches import TokenRequest
from node.serving.meter import Meter
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.reference.programs.tokens import seed_hash
from tests.serve_world import FIRST, entry, given

REQUEST = TokenRequest(model=seed_hash(FIRST), prompt=(1, 2), tokens=5)


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

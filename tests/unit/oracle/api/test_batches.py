"""Group commit: nobody is answered before its own row is durable, and nobody pays for another's fault."""

import asyncio
import sqlite3
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from oracle.api.batches import MAX_BATCH, Batches
from oracle.pipeline.intake import Incoming, arrive, keep_commitments
from oracle.store import evidence
from oracle.store.evidence import Instant, Saved
from swarm_chain.core.errors import InvalidInputError, SwarmError, UnavailableError
from swarm_chain.core.model import SignedCommitment
from tests.member_world import ALICE, BOB, HEADS, STRANGER, MemberWorld


def refuse_negative(number: int) -> int:
    """A check that refuses numbers below zero."""
    if number < 0:
        raise InvalidInputError(f"{number} is negative")
    return number


async def put_all(batches: Batches[int, int, int], numbers: Sequence[int]) -> list[int | BaseException]:
    """Outcome of each, all put at once."""
    return list(await asyncio.gather(*map(batches.put, numbers), return_exceptions=True))


def test_batches_when_many_wait_then_they_share_few_transactions_and_each_gets_its_own_outcome() -> None:
    sizes: list[int] = []

    def keep(numbers: Sequence[int]) -> list[int | SwarmError]:
        sizes.append(len(numbers))
        return [number * 10 for number in numbers]

    count = 2 * MAX_BATCH + 1
    outcomes = asyncio.run(put_all(Batches(refuse_negative, keep), range(count)))
    assert outcomes == [number * 10 for number in range(count)]
    assert sizes == [MAX_BATCH, MAX_BATCH, 1]


def test_batches_when_one_is_refused_then_the_others_are_kept() -> None:
    outcomes = asyncio.run(put_all(Batches(refuse_negative, list), [1, -2, 3]))
    assert [type(outcome) for outcome in outcomes] == [int, InvalidInputError, int]


def test_batches_when_keeping_fails_then_all_of_the_batch_are_told_and_the_next_batch_goes_on() -> None:
    def keep(numbers: Sequence[int]) -> list[int | SwarmError]:
        if 0 in numbers:
            raise UnavailableError("the disk is full")
        return list(numbers)

    async def story() -> tuple[list[int | BaseException], list[int | BaseException]]:
        batches = Batches(refuse_negative, keep)
        return await put_all(batches, [0, 1]), await put_all(batches, [2])

    failed, next_ones = asyncio.run(story())
    assert [type(outcome) for outcome in failed] == [UnavailableError, UnavailableError]
    assert next_ones == [2]


def test_commitments_when_kept_together_then_each_counts_or_is_refused_as_if_it_came_alone(world: MemberWorld) -> None:
    window = world.open()
    mine, other = (world.commit(world.commitment(window, heads=heads)) for heads in (HEADS, HEADS[::-1]))
    strange = world.commit(world.commitment(window, node=STRANGER), key=STRANGER)
    bobs = world.commit(world.commitment(window, node=BOB), key=BOB)
    forged = world.commit(world.commitment(window, node=BOB, heads=HEADS[::-1]), key=ALICE)
    outcomes = _together(world, [mine, mine, strange, other, forged, bobs])
    assert [_word(outcome) for outcome in outcomes] == [
        Saved.NEW,
        Saved.DUPLICATE,
        "unknown_node",
        Saved.CONFLICT,
        "wrong_signer",
        Saved.NEW,
    ]
    counted = {r.signed for r in evidence.arrivals(world.engine, [world.record(window)]) if r.first}
    assert counted == {mine, bobs}


def test_commitment_when_answered_then_another_process_would_find_it_on_disk(
    world: MemberWorld, tmp_path: Path
) -> None:
    window = world.open()
    (outcome,) = _together(world, [world.commit(world.commitment(window))])
    with sqlite3.connect(f"file:{tmp_path / 'oracle.db'}?mode=ro", uri=True) as other:
        (count,) = other.execute("SELECT count(*) FROM commitments").fetchone()
    assert (_word(outcome), count) == (Saved.NEW, 1)


def test_commitment_when_it_waits_for_its_batch_then_the_time_of_its_arrival_counts(world: MemberWorld) -> None:
    window = world.open()
    incoming = _incoming(world, world.commit(world.commitment(window)))
    world.clock.sleep(3)
    (kept,) = keep_commitments(world.member.desk, [arrive(world.member.desk, incoming)])
    assert not isinstance(kept, SwarmError)
    assert kept[1].elapsed_ms == 1


@pytest.mark.parametrize("boot", ["another boot", ""])
def test_commitment_when_measured_by_another_clock_then_only_that_one_is_turned_away(
    world: MemberWorld, boot: str
) -> None:
    desk, window = world.member.desk, world.open()
    strange = Incoming(signed=world.commit(world.commitment(window)), at=Instant(boot=boot, ms=10**15))
    sound = _incoming(world, world.commit(world.commitment(window, node=BOB), key=BOB))
    kept = keep_commitments(desk, [arrive(desk, strange), arrive(desk, sound)])
    assert [_word(outcome) for outcome in kept] == ["other_clock", Saved.NEW]


def _incoming(world: MemberWorld, signed: SignedCommitment) -> Incoming:
    return Incoming(signed=signed, at=world.member.desk.instant)


def _together(world: MemberWorld, signed: Sequence[SignedCommitment]) -> list[object]:
    desk = world.member.desk

    async def put() -> list[object]:
        batches = Batches(partial(arrive, desk), partial(keep_commitments, desk))
        everyone = (batches.put(_incoming(world, one)) for one in signed)
        return list(await asyncio.gather(*everyone, return_exceptions=True))

    return asyncio.run(put())


def _word(outcome: object) -> object:
    return outcome.code if isinstance(outcome, SwarmError) else outcome[0] if isinstance(outcome, tuple) else outcome

"""Cache, items and lanes of the memory set in exact integers: three times the same dependent walk.

    start(seedCache) --walk 2 rows of the generation before, per generation-->  cache    the same for all nodes
    start(seedItems) --walk `mixes` rows of the cache------------------------>  items    private to a device
    start(seedLanes) --walk `reads` items------------------------------------>  results  new with every nonce

A state is 16 words. One step of a walk folds all of them to the number of the next row and stirs that row in, so nobody knows
what to read next before it has read what comes first. An item needs the cache alone, which is why a judge holds no dataset.

Source: docs/spec/memory.md.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from swarm_chain.core.memory import MemoryEpoch, MemoryShape, seed_cache
from swarm_chain.core.rowchain import Indices, Words, splitmix64

ROW_WORDS = 16
_RESULT_WORDS = 4
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
AT_ONCE = 1024  # states walked together: they stay in the second-level cache while rows come from memory

# Rows of 16 words by their numbers: (r,) int64 -> (r, 16) uint64, which the caller may overwrite.
Fetch = Callable[[Indices], Words]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCache:
    """The cache of an epoch: `rows` is (cache_rows, 16) uint64, made from `seed`."""

    seed: int
    rows: Words


def start(seed: int | Words, indices: Indices) -> Words:
    """Give the states that walks begin with.

    Args:
        seed: an integer in [0, 2^64), or one for each index, (r,) uint64.
        indices: numbers of rows, items or lanes, (r,) int64, each >= 0.

    Returns:
        (r, 16) uint64: word w of state i is splitmix64(seed, 16·i + w).
    """
    first = indices.astype(np.uint64)[:, np.newaxis] * np.uint64(ROW_WORDS)  # (r, 1)
    index: Words = np.add(first, np.arange(ROW_WORDS, dtype=np.uint64), dtype=np.uint64)  # (r, 16)
    seeds = np.asarray(seed, dtype=np.uint64).reshape(-1, 1)  # (1, 1) or (r, 1)
    return splitmix64(seeds, index)


def walk(states: Words, fetch: Fetch, size: int | Words, steps: int) -> Words:
    """Read `steps` rows one after the other, each chosen by all that was read before.

    Args:
        states: (r, 16) uint64; not changed.
        fetch: gives the rows of a number.
        size: how many rows there are, or how many for each state, (r,) uint64.
        steps: rows to read, >= 0.

    Returns:
        (r, 16) uint64.
    """
    divisor = np.asarray(size, dtype=np.uint64)
    for _ in range(steps):
        chosen: Indices = np.remainder(fold(states), divisor).view(np.int64)  # (r,), each far below 2^63
        states = stir(states, fetch(chosen))
    return states


def fold(states: Words) -> Words:
    """Give the word that chooses the next row: the exclusive or of all 16, (r, 16) -> (r,) uint64."""
    folded: Words = np.bitwise_xor.reduce(states, axis=1)
    return folded


def stir(states: Words, rows: Words) -> Words:
    """Mix a row into each state; for a given state no two rows give the same, so no byte of a row can be left out.

    Args:
        states: (r, 16) uint64.
        rows: (r, 16) uint64; overwritten.

    Returns:
        (r, 16) uint64, in the memory of `rows`: m_w = (state_w ^ row_w) · 0x9E3779B97F4A7C15 mod 2^64, and then
        m_w ^ (m_{w+1} >> 32), where the word after the last is the first.
    """
    rows ^= states
    rows *= _MULTIPLIER
    upper = rows >> _HALF
    rows[:, :-1] ^= upper[:, 1:]
    rows[:, -1] ^= upper[:, 0]
    return rows


def build_cache(epoch: MemoryEpoch, shape: MemoryShape) -> MemoryCache:
    """Build the cache of an epoch, generation by generation.

    Args:
        epoch: chain, beacon, number and seed.
        shape: gives rows and generations.

    Returns:
        The cache; while it is built, twice its size is in use. Generation 0 is `start`; each row of a later one has
        walked two rows of the one before, so a row alone costs up to 3^generations rows of generation 0.
    """
    seed, count = seed_cache(epoch, shape), shape.cache_rows
    rows = in_chunks(count, lambda indices: start(seed, indices))
    for _ in range(shape.generations):
        rows = _next_generation(rows)
    rows.flags.writeable = False
    return MemoryCache(seed=seed, rows=rows)


def in_chunks(count: int, made: Callable[[Indices], Words]) -> Words:
    """Fill one buffer chunk by chunk.

    Args:
        count: rows to make, > 0.
        made: gives rows of 16 words by their numbers.

    Returns:
        (count, 16) uint64; beside it only one chunk is in use.
    """
    rows = np.empty((count, ROW_WORDS), dtype=np.uint64)
    for first in range(0, count, AT_ONCE):
        last = min(first + AT_ONCE, count)
        rows[first:last] = made(np.arange(first, last, dtype=np.int64))
    return rows


def stored(rows: Words) -> Fetch:
    """Read rows from memory, as an honest device does."""
    return lambda indices: rows.take(indices, axis=0)


def computed(cache: Fetch, cache_rows: int, mixes: int, seed: int | Words) -> Fetch:
    """Compute items instead of holding them, as a judge does: `mixes` dependent rows of the cache for each.

    Args:
        cache: reads the cache.
        cache_rows: its size.
        mixes: rows mixed into an item.
        seed: what `seed_items` gave, or one for each item that is asked for, (r,) uint64.

    Returns:
        Items by their numbers.
    """
    return lambda indices: walk(start(seed, indices), cache, cache_rows, mixes)


def results(states: Words) -> bytes:
    """Give what lanes committed to: each state folded to 32 bytes.

    Args:
        states: (r, 16) uint64, where the walks ended.

    Returns:
        r · 32 bytes: word q of a result is the exclusive or of the words w of the state with w mod 4 = q, little-endian.
    """
    by_quarter = states.reshape(-1, ROW_WORDS // _RESULT_WORDS, _RESULT_WORDS)
    folded: Words = np.bitwise_xor.reduce(by_quarter, axis=1)  # (r, 4)
    return folded.astype("<u8", copy=False).tobytes()


def _next_generation(rows: Words) -> Words:
    before = stored(rows)
    return in_chunks(len(rows), lambda indices: walk(before(indices), before, len(rows), 2))

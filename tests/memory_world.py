"""One small epoch of the memory set for tests: its cache, an honest device, and cases of what it answers."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

from node.measure.memory import Dataset, MemoryRun, answer, commitment_of, hold, open_lanes
from oracle.judge.memory import MemoryCase
from swarm_chain.core.encoding import keccak
from swarm_chain.core.memory import (
    MemoryChallenge,
    MemoryEpoch,
    MemoryShape,
    draw_lanes,
    lanes_tree,
    nonce_of,
    seed_lanes,
)
from swarm_chain.core.memoryset import Fetch, MemoryCache, build_cache, results, start, walk
from swarm_chain.core.merkle import root
from swarm_chain.core.rowchain import Indices, Words
from swarm_chain.core.units import Address, EpochNumber, Hash32

SHAPE = MemoryShape(cache_rows=64, generations=2, mixes=8, items=300, lanes=32, least_reads=4)
EPOCH = MemoryEpoch(
    chain_id=31337,
    beacon=Address("0x00000000000000000000000000000000000bEaC0"),
    epoch=EpochNumber(7),
    epoch_seed=keccak(b"epoch 7"),
)
NODE = Address("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
MALLORY = Address("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC")
DRAW_SEED = keccak(b"kept by the member")
CHALLENGE = MemoryChallenge(epoch=EPOCH, node=NODE, device=0, shape=SHAPE, nonce=nonce_of(DRAW_SEED))
DRAWS, ANSWER_MS = 8, 1000


class CountingFetch:
    """Reads rows and counts them: work that does not depend on the machine."""

    def __init__(self, rows: Words) -> None:
        self._rows = rows
        self.count = 0

    def __call__(self, indices: Indices) -> Words:
        """Rows of the numbers."""
        self.count += len(indices)
        return self._rows[indices]


@cache
def cache_of(epoch: MemoryEpoch = EPOCH, shape: MemoryShape = SHAPE) -> MemoryCache:
    """The epoch's cache; built once."""
    return build_cache(epoch, shape)


@cache
def dataset_of(challenge: MemoryChallenge = CHALLENGE) -> Dataset:
    """What an honest device holds that is asked this."""
    epoch, shape = challenge.epoch, challenge.shape
    return hold(cache_of(epoch, shape), epoch, challenge.node, challenge.device, shape)


def honest_run(challenge: MemoryChallenge = CHALLENGE) -> MemoryRun:
    """The run of a device that holds everything."""
    return answer(challenge, dataset_of(replace(challenge, nonce=CHALLENGE.nonce)), (0, challenge.shape.lanes - 1))


def run_with(challenge: MemoryChallenge, fetch: Fetch) -> MemoryRun:
    """The run of a device that gets its items in some other way."""
    shape = challenge.shape
    lanes = np.arange(shape.lanes, dtype=np.int64)
    return committed(challenge, results(walk(start(seed_lanes(challenge), lanes), fetch, shape.items, shape.reads)))


def committed(challenge: MemoryChallenge, lane_results: bytes) -> MemoryRun:
    """The run of a device that answers with these results, wherever it has them from."""
    return MemoryRun(challenge=challenge, lane_results=lane_results, tree=lanes_tree(lane_results))


def drawn(run: MemoryRun, draw_seed: Hash32 = DRAW_SEED, draws: int = DRAWS) -> tuple[int, ...]:
    """Lanes a run must open."""
    return draw_lanes(draw_seed, run.challenge, root(run.tree), draws)


def case_of(run: MemoryRun, draw_seed: Hash32 = DRAW_SEED, draws: int = DRAWS, elapsed_ms: int = 40) -> MemoryCase:
    """The case of a device that opens what was drawn."""
    return MemoryCase(
        challenge=run.challenge,
        draw_seed=draw_seed,
        draws=draws,
        answer_ms=ANSWER_MS,
        elapsed_ms=elapsed_ms,
        commitment=commitment_of(run),
        proof=open_lanes(run, drawn(run, draw_seed, draws)),
    )


def asked(draw_seed: Hash32, challenge: MemoryChallenge = CHALLENGE) -> MemoryChallenge:
    """The same question with another nonce."""
    return replace(challenge, nonce=nonce_of(draw_seed))


def relabelled(run: MemoryRun, challenge: MemoryChallenge) -> MemoryRun:
    """The results of one challenge under the name of another."""
    return replace(run, challenge=challenge)


def plain_walk(state: list[int], row_of: Callable[[int], list[int]], size: int, steps: int) -> list[int]:
    """The definition in Python's own integers: nothing vectorised, nothing clever."""
    for _ in range(steps):
        folded = 0
        for word in state:
            folded ^= word
        row = row_of(folded % size)
        mixed = [((word ^ other) * 0x9E3779B97F4A7C15) % 2**64 for word, other in zip(state, row, strict=True)]
        state = [word ^ (mixed[(place + 1) % 16] >> 32) for place, word in enumerate(mixed)]
    return state

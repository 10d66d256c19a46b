"""The honest prover of the memory set: holds a dataset, answers a nonce from it, opens drawn lanes.

    epoch seed --hold--> Dataset --answer(nonce)--> MemoryRun --commitment_of--> MemoryCommitment     in `answer_ms`
                                                        └──────open_lanes(draw)--> MemoryProof        after the draw

This one computes with numpy; `node.measure.memory_torch` holds, walks and hashes on a GPU, where a million leaves take less time
than an answer has. Both give the same bytes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from swarm_chain.core.errors import InconsistentError, InvalidInputError
from swarm_chain.core.memory import (
    RESULT_BYTES,
    LaneOpening,
    MemoryChallenge,
    MemoryCommitment,
    MemoryEpoch,
    MemoryProof,
    MemoryShape,
    lanes_tree,
    seed_items,
    seed_lanes,
)
from swarm_chain.core.memoryset import AT_ONCE, Fetch, MemoryCache, computed, in_chunks, results, start, stored, walk
from swarm_chain.core.merkle import path, root
from swarm_chain.core.rowchain import Indices, Words
from swarm_chain.core.units import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """The items of one device in one epoch: `items` is (shape.items, 16) uint64, one buffer."""

    cache: MemoryCache
    epoch: MemoryEpoch
    node: Address
    device: int
    shape: MemoryShape
    items: Words

    def answer(self, challenge: MemoryChallenge, check_lanes: Sequence[int]) -> "MemoryRun":
        """Walk all lanes of a challenge through the dataset; see `answer`."""
        return answer(challenge, self, check_lanes)


class HeldSet(Protocol):
    """A dataset, wherever it is held."""

    @property
    def cache(self) -> MemoryCache:
        """What its items are made from."""
        ...

    @property
    def epoch(self) -> MemoryEpoch:
        """The epoch it is of."""
        ...

    def answer(self, challenge: MemoryChallenge, check_lanes: Sequence[int]) -> "MemoryRun":
        """Walk all lanes of a challenge through it."""
        ...


Hold = Callable[[MemoryCache, MemoryEpoch, Address, int, MemoryShape], HeldSet]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRun:
    """An answered challenge: `lane_results` is 32 bytes a lane in lane order, `tree` the tree over them."""

    challenge: MemoryChallenge
    lane_results: bytes
    tree: bytes


def hold(cache: MemoryCache, epoch: MemoryEpoch, node: Address, device: int, shape: MemoryShape) -> Dataset:
    """Build the dataset of a device for an epoch, chunk by chunk into one buffer.

    Args:
        cache: the cache of the same epoch and shape.
        epoch: chain, beacon, number and seed.
        node: address of the node key.
        device: index of the device on its node.
        shape: what was planned for the device's claim.

    Returns:
        The dataset; it takes shape.items · 128 bytes, and while it is built less than a MiB more.
    """
    seed = seed_items(epoch, node, device)
    item = computed(stored(cache.rows), shape.cache_rows, shape.mixes, seed)
    items = in_chunks(shape.items, item)
    items.flags.writeable = False
    return Dataset(cache=cache, epoch=epoch, node=node, device=device, shape=shape, items=items)


def answer(challenge: MemoryChallenge, dataset: Dataset, check_lanes: Sequence[int]) -> MemoryRun:
    """Walk all lanes of a challenge through a dataset.

    Args:
        challenge: what a member asked.
        dataset: what the device holds.
        check_lanes: lanes to walk once more through items made from the cache, each in [0, lanes); the caller draws two.

    Returns:
        The run.

    Raises:
        InvalidInputError: the challenge is of another device, epoch or size.
        InconsistentError: what is held is not what was built; nothing may be committed.

    Source: docs/spec/memory.md "Timeline".
    """
    require_asked(challenge, (dataset.epoch, dataset.node, dataset.device, dataset.shape))
    lanes = range(0, challenge.shape.lanes, AT_ONCE)
    parts = (np.arange(first, min(first + AT_ONCE, challenge.shape.lanes), dtype=np.int64) for first in lanes)
    lane_results = b"".join(_results_of(challenge, part, stored(dataset.items)) for part in parts)
    check_against_cache(challenge, dataset.cache, lane_results, check_lanes)
    return MemoryRun(challenge=challenge, lane_results=lane_results, tree=lanes_tree(lane_results))


def require_asked(challenge: MemoryChallenge, held: tuple[MemoryEpoch, Address, int, MemoryShape]) -> None:
    """Refuse a challenge of another epoch, node, device or size than what is held.

    Raises:
        InvalidInputError: it is.
    """
    if (challenge.epoch, challenge.node, challenge.device, challenge.shape) != held:
        raise InvalidInputError("the challenge is not about this dataset", fix="hold the dataset of the epoch's plan")


def commitment_of(run: MemoryRun) -> MemoryCommitment:
    """Give what a device commits to."""
    return MemoryCommitment(challenge=run.challenge, root=root(run.tree))


def open_lanes(run: MemoryRun, lanes: Sequence[int]) -> MemoryProof:
    """Open drawn lanes.

    Args:
        run: the answered challenge.
        lanes: lane numbers in draw order, each in [0, lanes).

    Returns:
        The proof, not signed.
    """
    openings = tuple(
        LaneOpening(
            lane=lane,
            result=run.lane_results[lane * RESULT_BYTES : (lane + 1) * RESULT_BYTES],
            path=path(run.tree, lane),
        )
        for lane in lanes
    )
    return MemoryProof(challenge=run.challenge, root=root(run.tree), openings=openings)


def _results_of(challenge: MemoryChallenge, lanes: Indices, fetch: Fetch) -> bytes:
    shape = challenge.shape
    return results(walk(start(seed_lanes(challenge), lanes), fetch, shape.items, shape.reads))


def check_against_cache(
    challenge: MemoryChallenge, cache: MemoryCache, lane_results: bytes, lanes: Sequence[int]
) -> None:
    """Walk some lanes once more through items made from the cache.

    Raises:
        InconsistentError: what is held is not what was built (code "memory_differs").
    """
    shape = challenge.shape
    seed = seed_items(challenge.epoch, challenge.node, challenge.device)
    right = _results_of(
        challenge,
        np.array(lanes, dtype=np.int64),
        computed(stored(cache.rows), shape.cache_rows, shape.mixes, seed),
    )
    held = b"".join(lane_results[lane * RESULT_BYTES : (lane + 1) * RESULT_BYTES] for lane in lanes)
    if held != right:
        raise InconsistentError(
            "a lane of the dataset does not follow from the cache",
            code="memory_differs",
            fix="test the device's memory; nothing was committed",
        )

"""The prover of the memory set on a device of torch's: the dataset is one tensor there, lanes walk and are hashed there.

Numbers are int64 with the bits of uint64: torch multiplies and adds modulo 2^64 in both; only shifts and remainders differ.
What comes out is the numpy prover's to the bit, and two lanes of every answer are walked again from the cache before it is sent.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch

from node.measure.memory import MemoryRun, check_against_cache, require_asked
from swarm_chain.core.memory import MemoryChallenge, MemoryEpoch, MemoryShape, seed_items, seed_lanes
from swarm_chain.core.memoryset import ROW_WORDS, MemoryCache
from swarm_chain.core.units import Address
from swarm_chain.reference.keccak_torch import tree_of_results
from swarm_chain.reference.splitmix_torch import logical_right, signed, words_of

AT_ONCE = 2**20  # states walked together: 128 MiB of them, and as much again twice on the way
_MULTIPLIER = signed(0x9E3779B97F4A7C15, 64)

Fetch = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceDataset:
    """The items of one device in one epoch, held by it: `items` is (shape.items, 16) int64 on `place`."""

    cache: MemoryCache
    epoch: MemoryEpoch
    node: Address
    device: int
    shape: MemoryShape
    place: str
    items: torch.Tensor

    def answer(self, challenge: MemoryChallenge, check_lanes: Sequence[int]) -> MemoryRun:
        """Walk all lanes of a challenge through the dataset, and hash them, on the device.

        Raises:
            InvalidInputError: the challenge is of another device, epoch or size.
            InconsistentError: what is held is not what was built; nothing may be committed.
        """
        require_asked(challenge, (self.epoch, self.node, self.device, self.shape))
        seed, shape = seed_lanes(challenge), challenge.shape
        parts = [self._results(seed, part) for part in _numbers(shape.lanes, self.place)]
        lane_results = torch.cat(parts)  # (lanes, 4)
        tree = tree_of_results(lane_results)
        found = MemoryRun(challenge=challenge, lane_results=_bytes(lane_results), tree=_bytes(tree))
        check_against_cache(challenge, self.cache, found.lane_results, check_lanes)
        return found

    def _results(self, seed: int, lanes: torch.Tensor) -> torch.Tensor:
        states = _walk(_start(seed, lanes), _stored(self.items), self.shape.items, self.shape.reads)
        quarters = states.view(-1, 4, 4)
        return quarters[:, 0] ^ quarters[:, 1] ^ quarters[:, 2] ^ quarters[:, 3]


def hold_on(
    place: str, cache: MemoryCache, epoch: MemoryEpoch, node: Address, device: int, shape: MemoryShape
) -> DeviceDataset:
    """Build the dataset of a device for an epoch in its own memory.

    Args:
        place: torch's name of the device, "cuda:0" or "cpu".
        cache: the cache of the same epoch and shape.
        epoch: chain, beacon, number and seed.
        node: address of the node key.
        device: index of the device on its node.
        shape: what was planned for the device's claim.

    Returns:
        The dataset; beside shape.items · 128 bytes it takes the cache and, while it is built, some hundred MiB.
    """
    rows = torch.from_numpy(cache.rows.view("<i8").copy()).to(place)
    seed, cached = seed_items(epoch, node, device), _stored(rows)
    items = torch.empty((shape.items, ROW_WORDS), dtype=torch.int64, device=place)
    for numbers in _numbers(shape.items, place):
        items[numbers] = _walk(_start(seed, numbers), cached, shape.cache_rows, shape.mixes)
    return DeviceDataset(cache=cache, epoch=epoch, node=node, device=device, shape=shape, place=place, items=items)


def _numbers(count: int, place: str) -> Iterator[torch.Tensor]:
    for first in range(0, count, AT_ONCE):
        yield torch.arange(first, min(first + AT_ONCE, count), device=place)


def _start(seed: int, numbers: torch.Tensor) -> torch.Tensor:
    words = torch.arange(ROW_WORDS, device=numbers.device)
    return words_of(seed, numbers[:, None] * ROW_WORDS + words)


def _stored(rows: torch.Tensor) -> Fetch:
    return lambda numbers: rows.index_select(0, numbers)


def _walk(states: torch.Tensor, fetch: Fetch, size: int, steps: int) -> torch.Tensor:
    for _ in range(steps):
        states = _stir(states, fetch(_remainder(_fold(states), size)))
    return states


def _fold(states: torch.Tensor) -> torch.Tensor:
    half = ROW_WORDS // 2
    while half:
        states = states[:, :half] ^ states[:, half:]
        half //= 2
    return states[:, 0]


def _remainder(words: torch.Tensor, size: int) -> torch.Tensor:
    """Remainder of unsigned words: of their upper 63 bits first, which are no negative number."""
    return (logical_right(words, 1) % size * 2 + (words & 1)) % size


def _stir(states: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    rows ^= states
    rows *= _MULTIPLIER
    upper = logical_right(rows, 32)
    rows[:, :-1] ^= upper[:, 1:]
    rows[:, -1] ^= upper[:, 0]
    return rows


def _bytes(words: torch.Tensor) -> bytes:
    return words.cpu().numpy().astype("<i8", copy=False).tobytes()

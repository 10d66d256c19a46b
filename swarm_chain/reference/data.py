"""Sequences a reference model learns from: generated from the seed by position, so that any batch can be made alone.

A token follows the one before it by a secret table seven times out of eight, and is drawn freely otherwise.
"""

from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from swarm_chain.core.encoding import keccak, words
from swarm_chain.core.rowchain import splitmix64

Tokens = NDArray[np.int64]


class Seeded(Protocol):
    """What numbers are generated from."""

    @property
    def seed(self) -> int:
        """In [0, 2^53)."""
        ...


class SequenceSpec(Seeded, Protocol):
    """Which sequences there are: of a TrainSpec, or of another program's work."""

    @property
    def batch(self) -> int:
        """Sequences in a batch."""
        ...

    @property
    def context(self) -> int:
        """Tokens a model sees; a sequence has one more."""
        ...

    @property
    def vocabulary(self) -> int:
        """Number of tokens there are."""
        ...


_NOISE_IN_EIGHT = 1
_INITIAL: Final = b"swarm.train.init.v1"


def train_batch(spec: SequenceSpec, step: int) -> Tokens:
    """Batch of one training step.

    Args:
        spec: the run.
        step: number of the step, >= 0.

    Returns:
        (batch, context + 1) int64 in [0, vocabulary); the last column is only predicted.
    """
    return _sequences(spec, _stream(spec, b"swarm.train.batch.v1"), step)


def held_out_batch(spec: SequenceSpec) -> Tokens:
    """Batch the model never trains on, same shape and rule as `train_batch`."""
    return _sequences(spec, _stream(spec, b"swarm.train.heldout.v1"), 0)


def initial_parameters(spec: Seeded, sizes: tuple[tuple[int, int], ...], tag: bytes = _INITIAL) -> NDArray[np.float32]:
    """Flat starting parameters, uniform in ±1/sqrt(fan-in).

    Args:
        spec: the run.
        sizes: (number of elements, fan-in) of each parameter, in order.
        tag: what else the numbers depend on.

    Returns:
        (p,) float32; every operation on the way is exact or correctly rounded.
    """
    total = sum(size for size, _ in sizes)
    raw = splitmix64(_stream(spec, tag), np.arange(total, dtype=np.uint64))
    unit = (raw >> np.uint64(40)).astype(np.float32) * np.float32(2**-23) - np.float32(1)  # (p,) in [-1, 1)
    scale = np.concatenate([np.full(size, 1 / np.sqrt(np.float32(fan_in)), np.float32) for size, fan_in in sizes])
    flat: NDArray[np.float32] = unit * scale
    return flat


def _stream(spec: Seeded, tag: bytes) -> int:
    return int.from_bytes(keccak(words(keccak(tag), spec.seed))[:8], "big")


def _sequences(spec: SequenceSpec, stream: int, step: int) -> Tokens:
    length, size = spec.context + 1, np.uint64(spec.vocabulary)
    table = splitmix64(_stream(spec, b"swarm.train.table.v1"), np.arange(spec.vocabulary, dtype=np.uint64)) % size
    first = np.uint64(step * spec.batch * length)
    raw = splitmix64(stream, first + np.arange(spec.batch * length, dtype=np.uint64)).reshape(spec.batch, length)
    noisy = raw >> np.uint64(61) < np.uint64(_NOISE_IN_EIGHT)  # (batch, length)
    free = (raw & np.uint64(0xFFFFFFFF)) % size
    tokens = free.copy()
    for position in range(1, length):
        tokens[:, position] = np.where(noisy[:, position], free[:, position], table[tokens[:, position - 1]])
    return tokens.astype(np.int64)

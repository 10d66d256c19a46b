"""Recomputes rows and whole commitments from public data: seeds are on chain, so any machine can."""

from collections.abc import Callable, Sequence

import numpy as np

from swarm_chain.core.compute import ComputeChallenge, commitment_tree, seed_w, seed_x
from swarm_chain.core.court import RowTrace, trace_row
from swarm_chain.core.rowchain import Compute, Int8Matrix

# Told how many rows of how many are done.
Progress = Callable[[int, int], None]


class Recomputer:
    """Recomputation on one backend; the last W is kept, because all devices of a window with one n share it.

    Args:
        compute: backend whose known answers are checked.
    """

    def __init__(self, compute: Compute) -> None:
        self._compute = compute
        self._w_key: tuple[int, int] | None = None
        self._w: Int8Matrix = np.empty((0, 0), dtype=np.int8)

    def trace(self, challenge: ComputeChallenge, row: int) -> RowTrace:
        """All states of one row; InvalidInputError if there is no such row."""
        return trace_row(challenge, row, self._weights(challenge))

    def heads(self, challenge: ComputeChallenge, rows: Sequence[int]) -> tuple[bytes, ...]:
        """The true committed part of some rows.

        Args:
            challenge: what was to be computed.
            rows: row numbers, each in [0, m).

        Returns:
            64 bytes a row, in the order of the rows.
        """
        shape, w = challenge.shape, self._weights(challenge)
        if not rows:
            return ()
        x = self._compute.rows(
            seed_x(challenge.window, challenge.node, challenge.device), np.array(rows, dtype=np.int64), shape.n
        )
        return tuple(head.tobytes() for head in self._compute.run_chain(x, w, shape.steps))

    def tree(self, challenge: ComputeChallenge, progress: Progress = lambda _done, _total: None) -> bytes:
        """The tree an honest device commits to, which costs what the proof cost.

        Args:
            challenge: what was to be computed.
            progress: told after each chunk.

        Returns:
            The tree in the layout of `merkle`; memory is bounded by W, one chunk of the backend and 128 bytes a row.
        """
        m, at_once = challenge.shape.m, max(1, self._compute.chunk_bytes // challenge.shape.n)
        heads: list[bytes] = []
        for first in range(0, m, at_once):
            heads += self.heads(challenge, range(first, min(first + at_once, m)))
            progress(len(heads), m)
        return commitment_tree(b"".join(heads))

    def _weights(self, challenge: ComputeChallenge) -> Int8Matrix:
        n = challenge.shape.n
        key = (seed_w(challenge.window, n), n)
        if key != self._w_key:
            self._w = self._compute.weights(*key)
            self._w_key = key
        return self._w

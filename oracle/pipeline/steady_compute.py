"""A judge's backend that may fail without anyone being blamed or excused for it.

backend fails --told, alarmed--> the reference does the same rows --> the same bytes as at every other member

A verdict never depends on the health of one member's machine: if the reference fails too, this member has no verdict at
all and its tick fails. A proof that makes the judge stumble is another thing: it fails as malformed, at every member.
"""

from collections.abc import Callable

from swarm_chain.core.errors import SwarmError
from swarm_chain.core.rowchain import Compute, Indices, Int8Matrix, NumpyCompute

# What torch, Ray and an exhausted machine raise; a wrong call of ours is none of these and is not covered up.
FAILURES = (SwarmError, RuntimeError, MemoryError, OSError)


class SteadyCompute:
    """Compute on a backend, and on the reference wherever that one fails.

    Args:
        backend: knows its answers.
        tell: told the backend's name and why it failed, each time.
    """

    def __init__(self, backend: Compute, tell: Callable[[str, str], None]) -> None:
        self._backend = backend
        self._reference = NumpyCompute()
        self._tell = tell

    @property
    def name(self) -> str:
        """Name of the backend."""
        return self._backend.name

    @property
    def chunk_bytes(self) -> int:
        """How many bytes of X one call of `run_chain` should be given."""
        return self._backend.chunk_bytes

    def weights(self, seed: int, n: int) -> Int8Matrix:
        """W of a seed, (n, n) int8."""
        try:
            return self._backend.weights(seed, n)
        except FAILURES as error:
            self._tell(self.name, repr(error))
            return self._reference.weights(seed, n)

    def rows(self, seed: int, indices: Indices, n: int) -> Int8Matrix:
        """Rows of X0 of a seed, (r, n) int8."""
        try:
            return self._backend.rows(seed, indices, n)
        except FAILURES as error:
            self._tell(self.name, repr(error))
            return self._reference.rows(seed, indices, n)

    def run_chain(self, x: Int8Matrix, w: Int8Matrix, steps: int) -> Int8Matrix:
        """First 64 bytes of each row after `steps` >= 1 steps, (r, 64) int8; leaves x as it is."""
        try:
            return self._backend.run_chain(x.copy(), w, steps)  # a backend may overwrite x before it fails
        except FAILURES as error:
            self._tell(self.name, repr(error))
            return self._reference.run_chain(x.copy(), w, steps)

"""The row chain as Ray tasks: blocks of rows on many machines, W sent once; imported only where a cluster is configured."""

from functools import cache
from typing import Any

import numpy as np
import ray
from ray.exceptions import RayError

from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.known_answers import wrong_answers
from swarm_chain.core.rowchain import Compute, Indices, Int8Matrix, NumpyCompute
from swarm_chain.reference.rowchain_torch import TorchCompute

BLOCK_BYTES = 2**20
WORKER_RETRIES = 2  # a worker that died is replaced and its block done again
BLOCKS_AT_ONCE = 64
ANSWER_WITHIN_S = 120.0


def connect(address: str) -> None:
    """Joins a cluster, once a process.

    Args:
        address: `host:port` of its head; the token comes from Ray's own environment (RAY_AUTH_MODE=token).

    Raises:
        UnavailableError: it does not answer, or refuses the token.
    """
    try:
        ray.init(address=address, log_to_driver=False, ignore_reinit_error=True)
    except (RayError, ConnectionError, RuntimeError) as error:
        raise UnavailableError(
            f"the Ray cluster at {address} cannot be joined: {_first_line(error)}",
            fix="check SWARM_ORACLE_RAY_ADDRESS and the token, or leave the address out to judge in this process",
            code="ray_unavailable",
        ) from error


class RayCompute:
    """Compute on the Ray cluster this process has joined; the same bytes as the reference, whatever backend a worker has."""

    name = "ray"
    chunk_bytes = BLOCK_BYTES * BLOCKS_AT_ONCE

    def __init__(self) -> None:
        self._reference = NumpyCompute()
        self._sent: tuple[Int8Matrix, Any] | None = None  # the last W and where the cluster holds it
        self._task = ray.remote(_run_block).options(num_cpus=1, max_retries=WORKER_RETRIES)

    def weights(self, seed: int, n: int) -> Int8Matrix:
        """W of a seed, (n, n) int8."""
        return self._reference.weights(seed, n)

    def rows(self, seed: int, indices: Indices, n: int) -> Int8Matrix:
        """Rows of X0 of a seed, (r, n) int8."""
        return self._reference.rows(seed, indices, n)

    def run_chain(self, x: Int8Matrix, w: Int8Matrix, steps: int) -> Int8Matrix:
        """First 64 bytes of each row after `steps` >= 1 steps, (r, 64) int8.

        Raises:
            UnavailableError: the cluster did not do all blocks, after its own retries, in time.
        """
        at_once = max(1, BLOCK_BYTES // x.shape[1])
        try:
            held = self._held(w)
            tasks = [self._task.remote(x[first : first + at_once], held, steps) for first in range(0, len(x), at_once)]
            heads: Int8Matrix = np.concatenate(ray.get(tasks, timeout=ANSWER_WITHIN_S))
        except RayError as error:
            self._sent = None
            raise UnavailableError(f"Ray did not judge: {_first_line(error)}", code="ray_failed") from error
        return heads

    def _held(self, w: Int8Matrix) -> Any:
        if self._sent is None or self._sent[0] is not w:
            self._sent = w, ray.put(w)
        return self._sent[1]


def _run_block(x: Int8Matrix, w: Int8Matrix, steps: int) -> Int8Matrix:
    return _worker_backend().run_chain(x.copy(), w, steps)  # what Ray hands over cannot be written to


@cache
def _worker_backend() -> Compute:
    torch = TorchCompute("cpu", 1)
    return NumpyCompute() if wrong_answers(torch) else torch


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]

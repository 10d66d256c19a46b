"""Exact int8 rate of this machine's backends: known answers first, then whole runs at a preset."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from node.prove import prove
from swarm_chain.core.compute import ComputeChallenge, ComputeShape, ComputeWindow, mtops
from swarm_chain.core.rowchain import Compute
from swarm_chain.core.units import ZERO_ADDRESS, Hash32, Mtops, WindowId
from swarm_chain.reference.backends import fault_of

# compute-proof.md "Presets"; T of the GPU presets is sized in the network, here it is fixed to keep runs short.
PRESETS = {
    "minimal": ComputeShape(m=1024, n=256, steps=64),
    "cpu": ComputeShape(m=4096, n=1024, steps=64),
    "gpu": ComputeShape(m=65536, n=4096, steps=64),
    "gpu-large": ComputeShape(m=131072, n=8192, steps=64),
}
CHECKED_ROWS = (0, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendResult:
    """What one backend achieved; `best_ms` is the shortest of the runs, zero if it failed the known answers."""

    backend: str
    known_answers_passed: bool
    best_ms: int = 0
    rate_mtops: Mtops = Mtops(0)


def bench_backends(
    backends: Sequence[Compute], shape: ComputeShape, runs: int, clock_ns: Callable[[], int]
) -> Iterator[BackendResult]:
    """Measure backends one after the other.

    Args:
        backends: candidates; one that fails the known answers is not timed.
        shape: size of a run.
        runs: runs of each, at least 1.
        clock_ns: monotonic clock, nanoseconds.

    Returns:
        One result a backend, as soon as it is known.
    """
    for backend in backends:
        if fault_of(backend):
            yield BackendResult(backend=backend.name, known_answers_passed=False)
            continue
        best = min(_timed(backend, shape, clock_ns) for _ in range(runs))
        best_ms = max(1, best // 1_000_000)
        yield BackendResult(
            backend=backend.name, known_answers_passed=True, best_ms=best_ms, rate_mtops=mtops(shape, best_ms)
        )


def _timed(backend: Compute, shape: ComputeShape, clock_ns: Callable[[], int]) -> int:
    window = ComputeWindow(chain_id=0, beacon=ZERO_ADDRESS, window_id=WindowId(0), window_seed=Hash32(bytes(32)))
    challenge = ComputeChallenge(window=window, node=ZERO_ADDRESS, device=0, shape=shape)
    started = clock_ns()
    prove(challenge, backend, CHECKED_ROWS)
    return clock_ns() - started

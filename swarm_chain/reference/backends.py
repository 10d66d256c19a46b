"""Which backend of the row chain a process uses: the fastest of those that know their answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.known_answers import wrong_answers
from swarm_chain.core.rowchain import Compute, NumpyCompute

_TRIAL_ROWS, _TRIAL_N, _TRIAL_STEPS = 512, 1024, 4
_TRIALS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The backend to use, and the names of those that gave a wrong answer and must not be used."""

    compute: Compute
    rejected: tuple[str, ...] = ()


def candidates(device: str, threads: int) -> tuple[Compute, ...]:
    """List the backends of a device, the reference last.

    Args:
        device: torch device string, "cpu" or "cuda:<index>".
        threads: CPU threads they may use, at least 1.

    Returns:
        Backends that have not been examined yet.
    """
    from swarm_chain.reference.rowchain_torch import TorchCompute

    return TorchCompute(device, threads), NumpyCompute()


def choose(backends: Sequence[Compute], clock_ns: Callable[[], int]) -> Choice:
    """Examine backends by the known answers and take the fastest that passes.

    Args:
        backends: candidates, at least one.
        clock_ns: monotonic clock for the trial runs, nanoseconds.

    Returns:
        The choice; whoever calls it logs what was rejected.

    Raises:
        InconsistentError: none gave the right answers.

    Source: compute-proof.md "Verifying fast".
    """
    trusted = [backend for backend in backends if not wrong_answers(backend)]
    rejected = tuple(backend.name for backend in backends if backend not in trusted)
    if not trusted:
        raise InconsistentError(
            f"no compute backend gives the known answers: {', '.join(rejected)}",
            fix="run `swarm node doctor`; this machine's arithmetic or its torch installation is broken",
            code="known_answer_failed",
        )
    if len(trusted) == 1:
        return Choice(compute=trusted[0], rejected=rejected)
    return Choice(compute=min(trusted, key=lambda backend: _trial(backend, clock_ns)), rejected=rejected)


def _trial(backend: Compute, clock_ns: Callable[[], int]) -> int:
    """Shortest of some trial runs, nanoseconds: other work on the machine only ever makes a run longer."""
    w = backend.weights(1, _TRIAL_N)
    indices = np.arange(_TRIAL_ROWS, dtype=np.int64)
    times = []
    for _ in range(_TRIALS):
        x = backend.rows(2, indices, _TRIAL_N)
        started = clock_ns()
        backend.run_chain(x, w, _TRIAL_STEPS)
        times.append(clock_ns() - started)
    return min(times)

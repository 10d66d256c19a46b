"""Which backend of the row chain a process uses: the fastest of those that know their answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.known_answers import wrong_answers
from swarm_chain.core.rowchain import Compute, NumpyCompute

_TRIAL_ROWS, _TRIAL_N, _TRIAL_STEPS = 512, 1024, 4
_TRIALS = 5
# A device that takes chunks of this size would spend a trial of 512 rows on starting it. It gets a whole chunk at the width of
# the gpu preset, where the part of a step that does not multiply weighs as much as in a window.
_DEVICE_CHUNK_BYTES = 2**26
_DEVICE_TRIAL_N = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A backend that must not be used, and why: it gave wrong answers, or it failed."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The backend to use, and those that must not be used."""

    compute: Compute
    rejected: tuple[Rejection, ...] = ()


def candidates(device: str, threads: int) -> tuple[Compute, ...]:
    """List the backends of a device, the reference last.

    Args:
        device: torch device string, "cpu" or "cuda:<index>".
        threads: CPU threads they may use, at least 1.

    Returns:
        Backends that have not been examined yet; Triton's is the first of a GPU where the package is installed.
    """
    if device.startswith("cuda"):
        return *_gpu_candidates(device), NumpyCompute()
    from swarm_chain.reference.rowchain_torch import TorchCompute

    return TorchCompute(device, threads), NumpyCompute()


def fault_of(backend: Compute) -> str:
    """Examine a backend by the known answers.

    Args:
        backend: a candidate; may be broken in any way.

    Returns:
        Why it must not be used, one line; empty if it may be trusted.
    """
    try:
        wrong = wrong_answers(backend)
    # Compilers, linkers and drivers fail with exceptions of their own and with assertions: whatever it is, the backend is
    # not to be used, and the process that asked goes on with another one.
    except Exception as error:  # noqa: BLE001
        first_line = (str(error).strip().splitlines() or [""])[0]
        return f"{type(error).__name__}: {first_line}"
    widths = ", ".join(f"n = {answer.shape.n}" for answer in wrong)
    return f"wrong answers at {widths}" if wrong else ""


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
    faults = [(backend, fault_of(backend)) for backend in backends]
    trusted = [backend for backend, fault in faults if not fault]
    rejected = tuple(Rejection(name=backend.name, reason=fault) for backend, fault in faults if fault)
    if not trusted:
        raise InconsistentError(
            f"no compute backend gives the known answers: {'; '.join(f'{one.name}: {one.reason}' for one in rejected)}",
            fix="run `swarm node doctor`; this machine's arithmetic or its torch installation is broken",
            code="known_answer_failed",
        )
    if len(trusted) == 1:
        return Choice(compute=trusted[0], rejected=rejected)
    return Choice(compute=max(trusted, key=lambda backend: _rate(backend, clock_ns)), rejected=rejected)


def _gpu_candidates(device: str) -> tuple[Compute, ...]:
    from swarm_chain.reference.device_compute import DeviceCompute
    from swarm_chain.reference.rowchain_cuda import CudaProgram
    from swarm_chain.reference.rowchain_triton import TritonProgram

    programs = (TritonProgram(), CudaProgram()) if find_spec("triton") else (CudaProgram(),)
    return tuple(DeviceCompute(program, device) for program in programs)


def _rate(backend: Compute, clock_ns: Callable[[], int]) -> int:
    """Products a second of the shortest of some trial runs: other work on the machine only ever makes a run longer."""
    on_device = backend.chunk_bytes >= _DEVICE_CHUNK_BYTES
    n = _DEVICE_TRIAL_N if on_device else _TRIAL_N
    indices = np.arange(backend.chunk_bytes // n if on_device else _TRIAL_ROWS, dtype=np.int64)
    w = backend.weights(1, n)
    times = []
    for _ in range(_TRIALS):
        x = backend.rows(2, indices, n)
        started = clock_ns()
        backend.run_chain(x, w, _TRIAL_STEPS)
        times.append(clock_ns() - started)
    return len(indices) * n * n * _TRIAL_STEPS * 10**9 // max(1, min(times))

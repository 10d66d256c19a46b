"""A backend that does not know its answers is never used, and of the others the fastest is."""

import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import count

import numpy as np
import pytest
import torch
from structlog.testing import capture_logs

from node.bench import bench_backends
from node.compute.worker import backend_name
from swarm_chain.core.compute import ComputeShape
from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.known_answers import KNOWN_ANSWERS, wrong_answers
from swarm_chain.core.rowchain import Indices, Int8Matrix, NumpyCompute, step, top_byte
from swarm_chain.reference.backends import Rejection, candidates, choose


class Saturating(NumpyCompute):
    """Adds up in 16 bits, as CPU kernels without the right instructions do."""

    name = "saturating"

    def run_chain(self, x: Int8Matrix, w: Int8Matrix, steps: int) -> Int8Matrix:
        for _ in range(steps):
            product = x.astype(np.int32) @ w.astype(np.int32)
            x = top_byte(np.clip(product, -(2**15), 2**15 - 1).astype(np.int32))
        return x[:, :64]


class OffByOneRow(NumpyCompute):
    """Generates the rows that follow the ones it was asked for."""

    name = "off-by-one-row"

    def rows(self, seed: int, indices: Indices, n: int) -> Int8Matrix:
        return super().rows(seed, indices + 1, n)


class UnmaskedWeights(NumpyCompute):
    """Forgets that weights have seven bits."""

    name = "unmasked-weights"

    def weights(self, seed: int, n: int) -> Int8Matrix:
        return super().rows(seed, np.arange(n), n).T


class OneStepShort(NumpyCompute):
    """Skips a step of long runs."""

    name = "one-step-short"

    def run_chain(self, x: Int8Matrix, w: Int8Matrix, steps: int) -> Int8Matrix:
        return super().run_chain(x, w, max(1, steps - 1))


class WrongInOneColumn(NumpyCompute):
    """One column of each product but the last is off by one."""

    name = "wrong-in-one-column"

    def run_chain(self, x: Int8Matrix, w: Int8Matrix, steps: int) -> Int8Matrix:
        for _ in range(steps - 1):
            x = step(x, w)
            x[:, -1] ^= 1
        return step(x, w[:, :64])


class Failing(NumpyCompute):
    """Cannot be set up: its compiler, its driver or its package is broken."""

    name = "failing"

    def __init__(self, error: Exception) -> None:
        self._error = error

    def weights(self, seed: int, n: int) -> Int8Matrix:
        super().weights(seed, n)
        raise self._error


class FailingLater(NumpyCompute):
    """Generates, but its step does not compile."""

    name = "failing-later"

    def run_chain(self, x: Int8Matrix, w: Int8Matrix, steps: int) -> Int8Matrix:
        super().run_chain(x, w, steps)
        raise CompilationFailedError("at 12:8:\n  tl.dot(a, b)")


class CompilationFailedError(Exception):
    """Of no family Python knows, as compilers' errors are."""


BROKEN = [Saturating(), OffByOneRow(), UnmaskedWeights(), OneStepShort(), WrongInOneColumn()]


@dataclass
class Named(NumpyCompute):
    """The reference under another name."""

    name: str


class WholeChunk(Named):
    """Takes large chunks and answers a trial at once: only its size is of interest."""

    chunk_bytes = 2**27
    rows_tried = 0

    def rows(self, seed: int, indices: Indices, n: int) -> Int8Matrix:
        if n != 4096:
            return super().rows(seed, indices, n)
        self.rows_tried = len(indices)
        return np.zeros((1, n), dtype=np.int8)

    def weights(self, seed: int, n: int) -> Int8Matrix:
        return np.zeros((n, 64), dtype=np.int8) if n == 4096 else super().weights(seed, n)

    def run_chain(self, x: Int8Matrix, w: Int8Matrix, steps: int) -> Int8Matrix:
        return x[:, :64] if x.shape[1] == 4096 else super().run_chain(x, w, steps)


@pytest.mark.parametrize("backend", BROKEN, ids=lambda backend: backend.name)
def test_broken_backend_fails_the_known_answers(backend: NumpyCompute) -> None:
    assert wrong_answers(backend)


def test_broken_backends_are_rejected_by_name_and_the_reference_is_used() -> None:
    choice = choose([*BROKEN, NumpyCompute()], count().__next__)

    assert choice.compute.name == "numpy"
    assert [one.name for one in choice.rejected] == [backend.name for backend in BROKEN]
    assert all(one.reason.startswith("wrong answers at n = ") for one in choice.rejected)


@pytest.mark.parametrize(
    "error",
    [RuntimeError("CUDA error"), AssertionError(), ImportError("libcuda"), MemoryError(), CompilationFailedError("x")],
    ids=lambda error: type(error).__name__,
)
def test_backend_that_raises_is_rejected_with_its_reason_and_the_next_is_used(error: Exception) -> None:
    choice = choose([Failing(error), FailingLater(), NumpyCompute()], count().__next__)

    assert choice.compute.name == "numpy"
    assert choice.rejected == (
        Rejection(name="failing", reason=f"{type(error).__name__}: {error}"),
        Rejection(name="failing-later", reason="CompilationFailedError: at 12:8:"),
    )


def test_no_backend_is_used_when_all_raise_and_the_error_says_why() -> None:
    with pytest.raises(InconsistentError, match="failing: RuntimeError: no driver"):
        choose([Failing(RuntimeError("no driver"))], count().__next__)


def test_bench_when_a_backend_raises_then_it_has_not_passed_and_the_others_are_measured() -> None:
    shape = ComputeShape(m=64, n=64, steps=1)
    failed, passed = bench_backends([FailingLater(), NumpyCompute()], shape, 1, count().__next__)

    assert (failed.known_answers_passed, failed.best_ms) == (False, 0)
    assert passed.known_answers_passed


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_worker_of_a_gpu_that_is_not_there_uses_the_reference_and_logs_why() -> None:
    with capture_logs() as logs:
        used = backend_name("cuda:0", 1)

    told = {line["backend"]: line["reason"] for line in logs if line["event"] == "compute_backend_rejected"}
    assert used == "numpy"
    assert set(told) == {one.name for one in candidates("cuda:0", 1)} - {"numpy"}
    assert all(reason.strip() for reason in told.values())


def test_device_with_large_chunks_is_tried_on_a_whole_one() -> None:
    # The two take the same time for a trial, but the second one does far more in it.
    small, large = Named("small"), WholeChunk("large")

    assert choose([small, large], count().__next__).compute.name == "large"
    assert large.rows_tried == 2**27 // 4096


def test_no_backend_is_used_when_all_are_broken() -> None:
    with pytest.raises(InconsistentError, match="saturating"):
        choose([Saturating()], count().__next__)


def test_fastest_trusted_backend_is_used() -> None:
    # A clock on which the first backend's trials last longer and longer, so that the second one's are never shorter,
    # and one on which time goes ever slower.
    slower_and_slower = (n * n for n in count())
    faster_and_faster = (10**9 - (10**4 - n) ** 2 for n in count())

    assert choose([Named("first"), Named("second")], slower_and_slower.__next__).compute.name == "first"
    assert choose([Named("first"), Named("second")], faster_and_faster.__next__).compute.name == "second"


def test_candidates_of_the_cpu_end_with_the_reference() -> None:
    assert [backend.name for backend in candidates("cpu", 1)] == ["torch-cpu", "numpy"]


def test_candidates_of_a_gpu_begin_with_triton_where_it_is_installed() -> None:
    triton = ["triton-cuda:0"] if find_spec("triton") else []

    assert [backend.name for backend in candidates("cuda:0", 1)] == [*triton, "torch-cuda:0", "numpy"]


def test_triton_is_not_imported_before_it_runs() -> None:
    code = (
        "import sys; from swarm_chain.reference.backends import candidates; candidates('cuda:0', 1); "
        "sys.exit('triton' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_known_answers_cover_several_shapes() -> None:
    assert {answer.shape.n for answer in KNOWN_ANSWERS} == {64, 256, 1024}

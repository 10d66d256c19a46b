"""A backend that does not know its answers is never used, and of the others the fastest is."""

from dataclasses import dataclass
from itertools import count

import numpy as np
import pytest

from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.known_answers import KNOWN_ANSWERS, wrong_answers
from swarm_chain.core.rowchain import Indices, Int8Matrix, NumpyCompute, step, top_byte
from swarm_chain.reference.backends import candidates, choose


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


BROKEN = [Saturating(), OffByOneRow(), UnmaskedWeights(), OneStepShort(), WrongInOneColumn()]


@dataclass
class Named(NumpyCompute):
    """The reference under another name."""

    name: str


@pytest.mark.parametrize("backend", BROKEN, ids=lambda backend: backend.name)
def test_broken_backend_fails_the_known_answers(backend: NumpyCompute) -> None:
    assert wrong_answers(backend)


def test_broken_backends_are_rejected_by_name_and_the_reference_is_used() -> None:
    choice = choose([*BROKEN, NumpyCompute()], count().__next__)

    assert choice.compute.name == "numpy"
    assert choice.rejected == tuple(backend.name for backend in BROKEN)


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


def test_known_answers_cover_several_shapes() -> None:
    assert {answer.shape.n for answer in KNOWN_ANSWERS} == {64, 256, 1024}

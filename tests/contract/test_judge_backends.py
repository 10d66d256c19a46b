"""What a judge computes with: Ray tasks and a backend that fails give the reference's bytes, and nobody passes by it."""

from dataclasses import replace

import numpy as np
import pytest

from oracle.judge.compute import judge_openings
from oracle.pipeline.ray_compute import BLOCK_BYTES, RayCompute
from oracle.pipeline.steady_compute import SteadyCompute
from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.known_answers import wrong_answers
from swarm_chain.core.rowchain import Compute, Indices, Int8Matrix, NumpyCompute
from tests.compute_world import case_of, honest_run

TOLD = list[tuple[str, str]]


class FailingCompute:
    """A backend that does its work, spoils its input and then fails all the same."""

    name = "failing"
    chunk_bytes = 2**18

    def __init__(self, error: Exception) -> None:
        self._error = error
        self._reference = NumpyCompute()

    def weights(self, seed: int, n: int) -> Int8Matrix:
        """Never gives W."""
        self._reference.weights(seed, n)
        raise self._error

    def rows(self, seed: int, indices: Indices, n: int) -> Int8Matrix:
        """Never gives rows."""
        self._reference.rows(seed, indices, n)
        raise self._error

    def run_chain(self, x: Int8Matrix, w: Int8Matrix, steps: int) -> Int8Matrix:
        """Never gives heads."""
        self._reference.run_chain(x, w, steps)
        x.fill(0)
        raise self._error


def steady(backend: Compute) -> tuple[SteadyCompute, TOLD]:
    """A steady backend and what it told."""
    told: TOLD = []
    return SteadyCompute(backend, lambda name, why: told.append((name, why))), told


@pytest.mark.parametrize("error", [RuntimeError("cuda"), MemoryError(), OSError("gone"), UnavailableError("ray")])
def test_backend_when_it_fails_then_the_verdicts_are_the_references_and_it_is_told(error: Exception) -> None:
    honest = case_of(honest_run())
    assert honest.proof is not None
    openings = honest.proof.openings
    lie = (replace(openings[0], head=bytes(64)), *openings[1:])
    cases = [honest, replace(honest, proof=replace(honest.proof, openings=lie))]
    compute, told = steady(FailingCompute(error))
    verdicts = judge_openings(cases, compute)
    assert verdicts == judge_openings(cases, NumpyCompute())
    assert [verdict.outcome for verdict in verdicts] == [Outcome.PASSED, Outcome.FAILED]
    assert {name for name, _ in told} == {"failing"}


def test_backend_when_it_is_called_wrongly_then_the_fault_is_not_covered_up() -> None:
    compute, told = steady(FailingCompute(TypeError("a fault of ours")))
    with pytest.raises(TypeError):
        judge_openings([case_of(honest_run())], compute)
    assert told == []


def test_steady_backend_when_nothing_fails_then_it_knows_its_answers_and_tells_nothing() -> None:
    compute, told = steady(NumpyCompute())
    assert (wrong_answers(compute), told) == (wrong_answers(NumpyCompute()), [])


@pytest.mark.long
@pytest.mark.usefixtures("ray_cluster")
def test_ray_when_rows_are_split_over_tasks_then_the_same_bytes_in_the_same_order() -> None:
    compute, n, count = RayCompute(), 64, 3 * BLOCK_BYTES // 64 + 5
    reference = NumpyCompute()
    x, w = reference.rows(7, np.arange(count, dtype=np.int64), n), reference.weights(8, n)
    assert not wrong_answers(compute)
    assert np.array_equal(compute.run_chain(x, w, 2), reference.run_chain(x.copy(), w, 2))
    assert judge_openings([case_of(honest_run())], compute) == judge_openings([case_of(honest_run())], reference)


@pytest.mark.usefixtures("ray_cluster")
def test_ray_when_a_task_crashes_then_unavailable_and_never_a_result() -> None:
    reference = NumpyCompute()
    x, w = reference.rows(7, np.arange(8, dtype=np.int64), 64), reference.weights(8, 32)
    with pytest.raises(UnavailableError) as failed:
        RayCompute().run_chain(x, w, 2)  # shapes that do not fit make the task itself fail
    assert failed.value.code == "ray_failed"

"""Backends of a GPU, run on a CPU: Triton's kernels in its interpreter and cuBLAS's program on CPU tensors, byte for byte."""

import json
from collections.abc import Callable, Iterator
from typing import Any
from weakref import ref

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.known_answers import KNOWN_ANSWERS, wrong_answers
from swarm_chain.core.rowchain import Compute, Int8Matrix, NumpyCompute, input_rows, step, weights
from swarm_chain.reference.device_compute import DeviceCompute
from swarm_chain.reference.rowchain_cuda import CudaProgram
from swarm_chain.reference.rowchain_torch import TorchCompute
from tests.compute_world import VECTORS
from tests.triton_interpreter import CHUNK_BYTES, InterpretedTriton, interpreted_triton

CASES: list[dict[str, Any]] = json.loads(VECTORS.read_text(encoding="utf-8"))["cases"]
SEEDS = (0, 1, 2**31, 2**32 + 3, 2**63 - 1, 2**63, 2**64 - 1)
EXTREMES = ((-128, -64), (-128, 63), (127, -64), (127, 63))
REFERENCE = NumpyCompute()


class LowByteProgram(CudaProgram):
    """Keeps the low byte of the scattered product, which is linear and collapses."""

    def step(self, x: torch.Tensor, by_columns: torch.Tensor, out: torch.Tensor) -> None:
        """One wrong step."""
        out.copy_((torch._int_mm(x, by_columns.t()) * (0x9E3779B1 - 2**32)).bitwise_and(0xFF))


class LastColumnsProgram(CudaProgram):
    """Takes the last columns where fewer than all are asked for."""

    def step(self, x: torch.Tensor, by_columns: torch.Tensor, out: torch.Tensor) -> None:
        """One step with the columns in the wrong order at the end."""
        super().step(x, by_columns.flip(0) if len(by_columns) < x.shape[1] else by_columns, out)


class OneBufferProgram(CudaProgram):
    """Leaves the buffer it should write as it was in all steps but the last."""

    def step(self, x: torch.Tensor, by_columns: torch.Tensor, out: torch.Tensor) -> None:
        """A step that only the heads see."""
        if out.shape[1] < x.shape[1]:
            super().step(x, by_columns, out)


@pytest.fixture(scope="module")
def triton() -> Iterator[InterpretedTriton]:
    pytest.importorskip("triton", reason="Triton is there on Linux x86-64 only")
    with interpreted_triton() as interpreted:
        yield interpreted


@pytest.fixture(params=["triton", "cuda"])
def backend(request: pytest.FixtureRequest) -> Compute:
    if request.param == "triton":
        interpreted: Compute = request.getfixturevalue("triton")
        return interpreted
    return DeviceCompute(CudaProgram(), "cpu", CHUNK_BYTES)


def matrix(rows: int, n: int, entry: int) -> Int8Matrix:
    return np.full((rows, n), entry, dtype=np.int8)


def test_known_answers_pass(backend: Compute) -> None:
    # The interpreter takes seconds for the largest.
    answers = KNOWN_ANSWERS[:2] if isinstance(backend, InterpretedTriton) else KNOWN_ANSWERS

    assert wrong_answers(backend, answers) == ()


@pytest.mark.parametrize("case", CASES[:2], ids=lambda case: f"n={case['n']}")
def test_rows_weights_and_every_step_equal_the_vectors(backend: Compute, case: dict[str, Any]) -> None:
    x = backend.rows(int(case["seedX"], 16), np.array([0]), case["n"])
    w = backend.weights(int(case["seedW"], 16), case["n"])
    heads = [backend.run_chain(x, w, steps + 1).tobytes() for steps in range(case["steps"])]

    # The vectors hold the first 64 bytes of everything.
    assert x[0, :64].tobytes() == bytes.fromhex(case["x0Row0"][2:])
    assert w[:64, 0].tobytes() == bytes.fromhex(case["weightColumn0"][2:])
    assert heads == [bytes.fromhex(state[2:]) for state in case["row0AfterEachStep"][1:]]


@pytest.mark.parametrize("seed", SEEDS)
def test_generation_equals_the_reference_for_seeds_of_any_size(backend: Compute, seed: int) -> None:
    indices = np.array([0, 3, 131_071, 70_000])

    assert np.array_equal(backend.rows(seed, indices, 128), input_rows(seed, indices, 128))
    assert np.array_equal(backend.weights(seed, 64), weights(seed, 64))


@pytest.mark.parametrize("rows", [1, 16, 17, 63, 65, 1000])
def test_any_number_of_rows_gives_the_bytes_of_the_reference(backend: Compute, rows: int) -> None:
    x, w = input_rows(3, np.arange(rows), 128), weights(4, 128)

    assert np.array_equal(backend.run_chain(x.copy(), w, 3), REFERENCE.run_chain(x, w, 3))


@pytest.mark.parametrize("entries", EXTREMES)
def test_products_of_extreme_bytes_are_exact(backend: Compute, entries: tuple[int, int]) -> None:
    x, w = matrix(64, 1024, entries[0]), matrix(1024, 1024, entries[1])

    assert np.array_equal(backend.run_chain(x.copy(), w, 1), REFERENCE.run_chain(x, w, 1))


@settings(max_examples=15, deadline=None)
@given(
    rows=st.integers(1, 130),
    n=st.sampled_from([64, 128]),
    steps=st.integers(1, 3),
    seed=st.integers(0, 2**64 - 1),
    extreme=st.booleans(),
)
def test_chain_equals_the_reference(
    triton: InterpretedTriton, rows: int, n: int, steps: int, seed: int, extreme: bool
) -> None:
    x, w = input_rows(seed, np.arange(rows), n), weights(seed ^ 1, n)
    if extreme:  # every entry at one end of its range, signs at random
        x, w = np.where(x < 0, -128, 127).astype(np.int8), np.where(w < 0, -64, 63).astype(np.int8)

    assert np.array_equal(triton.run_chain(x, w, steps), REFERENCE.run_chain(x, w, steps))


def test_matrices_that_stay_on_the_device_give_the_same_heads(triton: InterpretedTriton) -> None:
    x, w = input_rows(7, np.arange(100), 128), weights(8, 128)

    assert np.array_equal(triton.all_there((7, 8), 100, 128, 3), REFERENCE.run_chain(x, w, 3))


def test_every_block_size_gives_the_bytes_of_the_reference(triton: InterpretedTriton) -> None:
    x, w = input_rows(9, np.arange(300), 256), weights(10, 256)  # rows that fill no number of blocks

    for made in triton.step_in_every_block_size(x, w):
        assert np.array_equal(made, step(x, w))


@pytest.mark.parametrize("fault", [{"saturates": True}, {"low_byte": True}], ids=str)
def test_known_answers_reject_a_kernel_that_cheats(triton: InterpretedTriton, fault: dict[str, bool]) -> None:
    assert triton.wrong_widths(**fault) == (64, 256)


def test_known_answers_pass_on_the_cheating_kernel_without_its_cheats(triton: InterpretedTriton) -> None:
    assert triton.wrong_widths() == ()


@pytest.mark.parametrize(
    "program", [LowByteProgram(), LastColumnsProgram(), OneBufferProgram()], ids=lambda program: type(program).__name__
)
def test_known_answers_reject_a_program_that_cheats(program: CudaProgram) -> None:
    assert wrong_answers(DeviceCompute(program, "cpu"), KNOWN_ANSWERS[:2])


def test_array_that_was_handed_out_cannot_be_changed_behind_the_device() -> None:
    compute = DeviceCompute(CudaProgram(), "cpu")
    for handed_out in (compute.rows(1, np.arange(4), 64), compute.weights(2, 64)):
        with pytest.raises(ValueError, match="read-only"):
            handed_out[0, 0] = 1


@pytest.mark.parametrize("change", [np.copy, lambda w: w.view(), np.ascontiguousarray], ids=["copy", "view", "by rows"])
def test_array_that_is_not_the_one_handed_out_is_taken_for_what_it_holds(
    change: Callable[[Int8Matrix], Int8Matrix],
) -> None:
    compute = DeviceCompute(CudaProgram(), "cpu")
    x, w = compute.rows(1, np.arange(70), 64), compute.weights(2, 64)

    assert np.array_equal(compute.run_chain(change(x), change(w), 2), REFERENCE.run_chain(x, w, 2))


def test_same_array_given_twice_gives_the_same_heads() -> None:
    compute = DeviceCompute(CudaProgram(), "cpu")
    x, w = compute.rows(1, np.arange(70), 64), compute.weights(2, 64)
    first = compute.run_chain(x, w, 4)

    assert np.array_equal(compute.run_chain(x, w, 4), first)
    assert np.array_equal(first, REFERENCE.run_chain(x, w, 4))


def test_original_goes_when_its_array_goes() -> None:
    made: list[Any] = []

    class Watched(CudaProgram):
        def runs(self, seed: int, indices: torch.Tensor, n: int) -> torch.Tensor:
            rows = super().runs(seed, indices, n)
            made.append(ref(rows))
            return rows

    compute = DeviceCompute(Watched(), "cpu")
    x = compute.rows(1, np.arange(4), 64)
    assert made[0]() is not None
    del x

    assert made[0]() is None


def test_torch_on_a_cpu_refuses_a_gpu() -> None:
    with pytest.raises(InvalidInputError, match="is no CPU"):
        TorchCompute("cuda:0")

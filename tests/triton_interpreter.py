"""Triton's kernels on a CPU, in a process of their own: what is decorated there is interpreted as long as it lives."""

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context

import numpy as np
import torch

from swarm_chain.core.known_answers import KNOWN_ANSWERS, wrong_answers
from swarm_chain.core.rowchain import Indices, Int8Matrix
from swarm_chain.reference.device_compute import DeviceCompute
from swarm_chain.reference.rowchain_triton import TritonProgram

CHUNK_BYTES = 2**17  # small, so that a test's matrix takes several chunks


@dataclass(frozen=True, slots=True, kw_only=True)
class InterpretedTriton:
    """Compute on the interpreter's process; the matrices stay there between two calls as they would on a GPU."""

    process: ProcessPoolExecutor
    name: str = "triton-cpu"
    chunk_bytes: int = CHUNK_BYTES

    def weights(self, seed: int, n: int) -> Int8Matrix:
        """W of a seed, (n, n) int8."""
        return self.process.submit(_weights, seed, n).result()

    def rows(self, seed: int, indices: Indices, n: int) -> Int8Matrix:
        """Rows of X0 of a seed, (r, n) int8."""
        return self.process.submit(_rows, seed, indices, n).result()

    def run_chain(self, x: Int8Matrix, w: Int8Matrix, steps: int) -> Int8Matrix:
        """First 64 bytes of each row after `steps` >= 1 steps, (r, 64) int8."""
        return self.process.submit(_run_chain, x, w, steps).result()

    def all_there(self, seeds: tuple[int, int], rows: int, n: int, steps: int) -> Int8Matrix:
        """Heads of the first rows where nothing but them leaves the process."""
        return self.process.submit(_all_there, seeds, rows, n, steps).result()

    def step_in_every_block_size(self, x: Int8Matrix, w: Int8Matrix) -> list[Int8Matrix]:
        """One whole step, (r, n) int8, by each configuration among which a GPU's is chosen."""
        return self.process.submit(_step_in_every_block_size, x, w).result()

    def wrong_widths(self, *, saturates: bool = False, low_byte: bool = False) -> tuple[int, ...]:
        """Widths of the first two known answers that a kernel gets wrong; an honest one without flags."""
        return self.process.submit(_wrong_widths, saturates, low_byte).result()


@contextmanager
def interpreted_triton() -> Iterator[InterpretedTriton]:
    """A fresh process whose Triton interprets."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_interpret) as process:
        yield InterpretedTriton(process=process)


def _interpret() -> None:
    os.environ["TRITON_INTERPRET"] = "1"


@cache
def _compute() -> DeviceCompute:
    return DeviceCompute(TritonProgram(), "cpu", CHUNK_BYTES)


def _weights(seed: int, n: int) -> Int8Matrix:
    return _compute().weights(seed, n)


def _rows(seed: int, indices: Indices, n: int) -> Int8Matrix:
    return _compute().rows(seed, indices, n)


def _run_chain(x: Int8Matrix, w: Int8Matrix, steps: int) -> Int8Matrix:
    return _compute().run_chain(x, w, steps)


def _all_there(seeds: tuple[int, int], rows: int, n: int, steps: int) -> Int8Matrix:
    x = _compute().rows(seeds[0], np.arange(rows, dtype=np.int64), n)
    return _compute().run_chain(x, _compute().weights(seeds[1], n), steps)


def _step_in_every_block_size(x: Int8Matrix, w: Int8Matrix) -> list[Int8Matrix]:
    from swarm_chain.reference import triton_kernels as kernels

    (r, n), on_device, by_columns = x.shape, torch.from_numpy(x), torch.from_numpy(np.ascontiguousarray(w.T))
    made = []
    for blocks in (config.kwargs for config in kernels.LARGE):
        out = torch.zeros((r, n), dtype=torch.int8)
        grid = (-(-r // blocks["BLOCK_M"]) * -(-n // blocks["BLOCK_N"]),)
        kernels.step[grid](on_device, by_columns, out, r, n, n, **blocks)
        made.append(out.numpy())
    return made


def _wrong_widths(saturates: bool, low_byte: bool) -> tuple[int, ...]:
    from tests.triton_kernels_broken import BrokenProgram

    compute = DeviceCompute(BrokenProgram(saturates=saturates, low_byte=low_byte), "cpu")
    return tuple(answer.shape.n for answer in wrong_answers(compute, KNOWN_ANSWERS[:2]))

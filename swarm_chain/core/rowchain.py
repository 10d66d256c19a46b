"""Matrices and the step of the row-chain proof of compute, in exact integers.

    seedX --splitmix64--> X0 (m, n) --step--> X1 --step--> … --step--> XT     the first 64 bytes of a row are committed
    seedW --splitmix64--> W (n, n), the same for all nodes of a window        step: top byte of (X·W · odd constant)

Rows never mix: row i of XT follows from row i of X0 and W alone, which is why a judge recomputes only the drawn rows.
Source: compute-proof.md.
"""

from collections import deque
from collections.abc import Iterator
from itertools import chain
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from swarm_chain.core.compute import HEAD_BYTES
from swarm_chain.core.errors import InvalidInputError

Int8Matrix = NDArray[np.int8]
Int32Matrix = NDArray[np.int32]
Words = NDArray[np.uint64]

Indices = NDArray[np.int64]

MULTIPLIER = 0x9E3779B1
# A float32 holds every integer up to 2^24, and |x·w| <= 2^7 · 2^6: sums of 2^11 products are exact in any order.
_EXACT_TERMS = 2048
_COLUMNS_AT_ONCE = (
    2**23
)  # entries of W generated at a time: the 64-bit words of all of W would take eight times its size


class Compute(Protocol):
    """A backend that does the row chain: numpy, or torch on a CPU or GPU. Matrices are numpy arrays on both sides.

    Attributes:
        name: stable name for logs, tables and configuration.
        chunk_bytes: how many bytes of X one call of `run_chain` should be given; bounds memory.
    """

    @property
    def name(self) -> str: ...

    @property
    def chunk_bytes(self) -> int: ...

    def weights(self, seed: int, n: int) -> Int8Matrix:
        """W of a seed, (n, n) int8, in the layout the backend multiplies fastest."""
        ...

    def rows(self, seed: int, indices: Indices, n: int) -> Int8Matrix:
        """Rows of X0 of a seed, (r, n) int8."""
        ...

    def run_chain(self, x: Int8Matrix, w: Int8Matrix, steps: int) -> Int8Matrix:
        """First 64 bytes of each row after `steps` >= 1 steps, (r, 64) int8; may overwrite x."""
        ...


class NumpyCompute:
    """The reference backend: exact on every machine, and what a backend falls back to that fails its known answers."""

    name = "numpy"
    chunk_bytes = 2**18  # a block and its products stay in the second-level cache

    def weights(self, seed: int, n: int) -> Int8Matrix:
        """W of a seed, (n, n) int8."""
        return weights(seed, n)

    def rows(self, seed: int, indices: Indices, n: int) -> Int8Matrix:
        """Rows of X0 of a seed, (r, n) int8."""
        return input_rows(seed, indices, n)

    def run_chain(self, x: Int8Matrix, w: Int8Matrix, steps: int) -> Int8Matrix:
        """First 64 bytes of each row after `steps` >= 1 steps, (r, 64) int8."""
        return step(run_rows(x, w, steps - 1), w[:, :HEAD_BYTES])


def splitmix64(seed: int | Words, index: Words) -> Words:
    """Give words of the counter-mode generator; any word can be computed alone.

    Args:
        seed: an integer in [0, 2^64), or several that broadcast with the positions, uint64.
        index: positions, any shape, uint64.

    Returns:
        Words of the same shape, uint64; byte b of a word is its bits 8b to 8b + 7.
    """
    z = (index + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + np.asarray(seed, dtype=np.uint64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def input_rows(seed: int, indices: Indices, n: int) -> Int8Matrix:
    """Generate rows of X0.

    Args:
        seed: what `seed_x` gave.
        indices: row numbers, (r,) int64, each in [0, m).
        n: width of the matrix.

    Returns:
        (r, n) int8 in [-128, 127].
    """
    return _runs(seed, indices, n)


def weight_columns(seed: int, columns: Indices, n: int) -> Int8Matrix:
    """Generate columns of W, one after the other, as the generator makes them.

    Args:
        seed: what `seed_w` gave.
        columns: column numbers, (c,) int64, each in [0, n).
        n: width of the matrix.

    Returns:
        (c, n) int8 in [-64, 63]; row i of the result is column columns[i] of W.
    """
    columns_first: Int8Matrix = (_runs(seed, columns, n) & np.int8(0x7F)) - np.int8(64)
    return columns_first


def weight_column(seed: int, column: int, n: int) -> Int8Matrix:
    """Generate one column of W, as the court does.

    Args:
        seed: what `seed_w` gave.
        column: column number, in [0, n).
        n: width of the matrix.

    Returns:
        (n,) int8 in [-64, 63].

    Raises:
        InvalidInputError: there is no such column.
    """
    if not 0 <= column < n:
        raise InvalidInputError(f"W has no column {column}", fix=f"use a column from 0 to {n - 1}")
    only: Int8Matrix = weight_columns(seed, np.array([column], dtype=np.int64), n)[0]
    return only


def weights(seed: int, n: int) -> Int8Matrix:
    """Generate W.

    Args:
        seed: what `seed_w` gave.
        n: width of the matrix.

    Returns:
        (n, n) int8 in [-64, 63], W[k][j]; stored by columns, as the generator makes them.
    """
    by_columns = np.empty((n, n), dtype=np.int8)
    at_once = max(1, _COLUMNS_AT_ONCE // n)
    for first in range(0, n, at_once):
        columns = np.arange(first, min(first + at_once, n), dtype=np.int64)
        by_columns[first : first + at_once] = weight_columns(seed, columns, n)
    return by_columns.T


def step(x: Int8Matrix, w: Int8Matrix) -> Int8Matrix:
    """Do one step of the chain exactly.

    Args:
        x: (r, n) int8.
        w: (n, c) int8 in [-64, 63]: W, or the columns of it that are asked for.

    Returns:
        (r, c) int8: the top byte of (x·w) · 0x9E3779B1 mod 2^32.
    """
    return run_rows(x, w, 1)


def run_rows(x: Int8Matrix, w: Int8Matrix, steps: int) -> Int8Matrix:
    """Do all steps for some rows: the reference that every backend must equal byte for byte.

    Args:
        x: (r, n) int8, rows of X0.
        w: (n, n) int8 in [-64, 63].
        steps: number of products, >= 0.

    Returns:
        (r, n) int8, the same rows of X_steps.
    """
    last = deque(chain((x,), walk_rows(x, w, steps)), maxlen=1)  # keeps one state at a time
    return last[0]


def walk_rows(x: Int8Matrix, w: Int8Matrix, steps: int) -> Iterator[Int8Matrix]:
    """Do all steps for some rows and give the state after each: a court asks for a state in the middle.

    Args:
        x: (r, n) int8, rows of X0.
        w: (n, n) int8 in [-64, 63].
        steps: number of products, >= 0.

    Returns:
        An iterator of (r, n) int8: the same rows of X_1, X_2, … X_steps.
    """
    slabs = [w[k : k + _EXACT_TERMS].astype(np.float32) for k in range(0, len(w), _EXACT_TERMS)]
    for _ in range(steps):
        x = top_byte(_exact_product(x, slabs))
        yield x


def top_byte(product: Int32Matrix) -> Int8Matrix:
    """Scatter exact products over a byte each: multiply by an odd constant mod 2^32, keep the top byte.

    Args:
        product: (r, n) int32.

    Returns:
        (r, n) int8. Neither linear mod 256, as the low byte is, nor collapsing, as clamping is.
    """
    scattered = product.view(np.uint32) * np.uint32(MULTIPLIER)
    return (scattered >> np.uint32(24)).astype(np.uint8).view(np.int8)


def _runs(seed: int, indices: Indices, n: int) -> Int8Matrix:
    # Run i is the n bytes of the words i·n/8 … (i+1)·n/8 - 1, each word little-endian.
    first = indices.astype(np.uint64)[:, np.newaxis] * np.uint64(n // 8)  # (r, 1)
    index: Words = np.add(first, np.arange(n // 8, dtype=np.uint64), dtype=np.uint64)  # (r, n/8)
    return splitmix64(seed, index).astype("<u8", copy=False).view(np.int8)  # (r, n)


def _exact_product(x: Int8Matrix, slabs: list[NDArray[np.float32]]) -> Int32Matrix:
    total = np.zeros((len(x), slabs[0].shape[1]), dtype=np.int32)
    for number, slab in enumerate(slabs):
        part = x[:, number * _EXACT_TERMS :][:, : len(slab)].astype(np.float32)
        total += (part @ slab).astype(np.int32)
    return total

"""Products of a token model's matrices with rows of bytes: exact whichever way they are computed, so the fastest way is taken.

NumpyProducts   small integers in float32, as the reference has them
Int8Products    bytes, a quarter of what has to be read, and far faster where the processor multiplies bytes
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from swarm_chain.core.rowchain import Int8Matrix
from swarm_chain.reference.tokenmodel import TokenModel

Sums = NDArray[np.int32]
_TRIALS: Final = 3


class Products(Protocol):
    """Multiplies rows by the matrices of a model: those of its layers in their order, then the head."""

    def times(self, rows: Int8Matrix, matrix: int) -> Sums:
        """Exact sums, (rows, columns of the matrix) int32."""
        ...


class NumpyProducts:
    """The reference's way.

    Args:
        model: whose matrices.
    """

    def __init__(self, model: TokenModel) -> None:
        self._matrices = (*model.layers, model.head)

    def times(self, rows: Int8Matrix, matrix: int) -> Sums:
        """Exact sums, (rows, columns of the matrix) int32."""
        sums: Sums = (rows.astype(np.float32) @ self._matrices[matrix]).astype(np.int32)
        return sums


class Int8Products:
    """Bytes by bytes into int32, by torch.

    Args:
        model: whose matrices.
    """

    def __init__(self, model: TokenModel) -> None:
        import torch  # seconds and 200 MB, which only replicas need

        self._multiply: Callable[..., Any] = torch._int_mm
        self._tensor: Callable[..., Any] = torch.from_numpy
        # Columns lie one after the other: fastest for one row, and no slower for many.
        self._matrices = tuple(
            torch.from_numpy(np.ascontiguousarray(matrix.T.astype(np.int8))).t()
            for matrix in (*model.layers, model.head)
        )

    def times(self, rows: Int8Matrix, matrix: int) -> Sums:
        """Exact sums, (rows, columns of the matrix) int32."""
        sums: Sums = self._multiply(self._tensor(rows), self._matrices[matrix]).numpy()
        return sums


def fastest_products(
    model: TokenModel, sizes: Sequence[int], others: Sequence[Callable[[TokenModel], Products]] = (Int8Products,)
) -> Products:
    """Try the ways on this processor.

    Args:
        model: whose matrices.
        sizes: numbers of rows that count alike.
        others: ways beside the reference's.

    Returns:
        The one that takes the least time a row, of those that give what the reference gives.
    """
    reference = NumpyProducts(model)
    right = [way for make in others if _is_right(way := make(model), reference, _trials(model, sizes))]
    return min((reference, *right), key=lambda way: sum(_seconds(way, _trials(model, [size])) / size for size in sizes))


def _is_right(way: Products, reference: Products, trials: Sequence[tuple[Int8Matrix, int]]) -> bool:
    try:
        return all(np.array_equal(way.times(*one), reference.times(*one)) for one in trials)
    except RuntimeError:  # torch has no such product for this processor
        return False


def _trials(model: TokenModel, sizes: Sequence[int]) -> list[tuple[Int8Matrix, int]]:
    """Rows for every matrix."""
    drawn = np.random.default_rng(0)
    return [
        (drawn.integers(-128, 128, (size, len(matrix)), dtype=np.int8), number)
        for size in sizes
        for number, matrix in enumerate((*model.layers, model.head))
    ]


def _seconds(way: Products, trials: Sequence[tuple[Int8Matrix, int]]) -> float:
    """Of the shortest run: other work on the machine only ever makes one longer."""
    times = []
    for _ in range(_TRIALS):
        started = time.perf_counter()
        for rows, matrix in trials:
            way.times(rows, matrix)
        times.append(time.perf_counter() - started)
    return min(times)

"""Products of a token model's matrices with rows of bytes: exact whichever way they are computed, so the fastest way is taken.

NumpyProducts    small integers in float32, as the reference has them
Int8Products     bytes, a quarter of what has to be read: for one row, and for small matrices
PackedProducts   bytes in the order the processor multiplies them: for several rows of large matrices
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from swarm_chain.core.rowchain import Int8Matrix
from swarm_chain.reference.tokenmodel import TokenModel

Sums = NDArray[np.int32]
_Trial = tuple[Int8Matrix, int]  # rows, and the matrix
_TRIALS: Final = 3
_RAISED: Final = 128


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


class PackedProducts:
    """Bytes by bytes, by oneDNN, from matrices laid out for it once: `Int8Products` lays them out at each product.

    Args:
        model: whose matrices.
    """

    def __init__(self, model: TokenModel) -> None:
        import torch

        self._multiply: Callable[..., Any] = torch.ops.onednn.qlinear_pointwise
        self._tensor: Callable[..., Any] = torch.from_numpy
        # Scales 1 and zeros 0, no bias, float32 out, nothing after it.
        self._plain: tuple[Any, ...] = (
            torch.ones(1),
            torch.zeros(1, dtype=torch.int64),
            None,
            1.0,
            0,
            torch.float32,
            "none",
            [],
            "",
        )
        self._matrices = tuple(
            torch.ops.onednn.qlinear_prepack(torch.from_numpy(np.ascontiguousarray(matrix.T.astype(np.int8))), None)
            for matrix in (*model.layers, model.head)
        )

    def times(self, rows: Int8Matrix, matrix: int) -> Sums:
        """Exact sums, (rows, columns of the matrix) int32: they are whole float32 for the reason the reference's are."""
        raised = self._tensor(rows.view(np.uint8) ^ np.uint8(_RAISED))  # it takes bytes from 0 on
        product = self._multiply(raised, 1.0, _RAISED, self._matrices[matrix], *self._plain)
        sums: Sums = product.numpy().astype(np.int32)
        return sums


class ProductsBySize:
    """Another way for another number of rows.

    Args:
        ways: `ways[matrix][k]` is for at most 2^k rows, the last one for any more.
    """

    def __init__(self, ways: Sequence[Sequence[Products]]) -> None:
        self.ways = ways

    def times(self, rows: Int8Matrix, matrix: int) -> Sums:
        """Exact sums, (rows, columns of the matrix) int32."""
        ways = self.ways[matrix]
        return ways[min((len(rows) - 1).bit_length(), len(ways) - 1)].times(rows, matrix)


Maker = Callable[[TokenModel], Products]


def fastest_products(
    model: TokenModel, most: int, others: Sequence[Maker] = (Int8Products, PackedProducts)
) -> ProductsBySize:
    """Try the ways on this processor.

    Args:
        model: whose matrices.
        most: rows at once, at least 1.
        others: ways beside the reference's.

    Returns:
        For each matrix and number of rows the fastest of those that give what the reference gives.
    """
    reference = NumpyProducts(model)
    sizes = [1 << doubled for doubled in range((most - 1).bit_length() + 1)]
    trials = [
        [_trial(matrix, number, size) for size in sizes] for number, matrix in enumerate((*model.layers, model.head))
    ]
    right = [way for make in others if (way := _right(make, model, reference, trials)) is not None]
    return ProductsBySize([[_fastest((reference, *right), trial) for trial in matrix] for matrix in trials])


def _right(make: Maker, model: TokenModel, reference: Products, trials: Sequence[Sequence[_Trial]]) -> Products | None:
    try:
        way = make(model)
        same = all(np.array_equal(way.times(*one), reference.times(*one)) for matrix in trials for one in matrix)
    except (AttributeError, RuntimeError):  # torch has no such product, or none for this processor
        return None
    return way if same else None


def _trial(matrix: NDArray[Any], number: int, size: int) -> _Trial:
    drawn = np.random.default_rng(number)
    return drawn.integers(-128, 128, (size, len(matrix)), dtype=np.int8), number


def _fastest(ways: Sequence[Products], trial: _Trial) -> Products:
    return min(ways, key=lambda way: _seconds(way, trial))


def _seconds(way: Products, trial: _Trial) -> float:
    """Of the shortest run: other work on the machine only ever makes one longer."""
    times = []
    for _ in range(_TRIALS):
        started = time.perf_counter()
        way.times(*trial)
        times.append(time.perf_counter() - started)
    return min(times)

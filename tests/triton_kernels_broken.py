"""Kernels that compute almost the right thing; the known answers must tell. Imported only in Triton's interpreter."""

import torch
import triton
import triton.language as tl

from swarm_chain.core.rowchain import MULTIPLIER
from swarm_chain.reference.rowchain_triton import TritonProgram

_MULTIPLIER = tl.constexpr(MULTIPLIER)
_TILE = 64


@triton.jit
def _step(x, by_columns, out, n, columns, SATURATES: tl.constexpr, LOW_BYTE: tl.constexpr, TILE: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    cols = tl.program_id(1) * TILE + tl.arange(0, TILE)
    total = tl.zeros((TILE, TILE), dtype=tl.int32)
    for first in range(0, n, TILE):
        k = first + tl.arange(0, TILE)
        left, right = tl.load(x + rows[:, None] * n + k[None, :]), tl.load(by_columns + cols[None, :] * n + k[:, None])
        total = tl.dot(left, right, total, out_dtype=tl.int32)
        if SATURATES:
            total = tl.minimum(tl.maximum(total, -32768), 32767)
    scattered = total.to(tl.uint32, bitcast=True) * _MULTIPLIER
    if not LOW_BYTE:
        scattered = scattered >> 24
    tl.store(out + rows[:, None] * columns + cols[None, :], scattered.to(tl.uint8).to(tl.int8, bitcast=True))


class BrokenProgram(TritonProgram):
    """Triton's program with another step.

    Args:
        saturates: adds up in 16 bits.
        low_byte: keeps the wrong end of the scattered product.
    """

    def __init__(self, *, saturates: bool = False, low_byte: bool = False) -> None:
        self._options = {"SATURATES": saturates, "LOW_BYTE": low_byte}

    def step(self, x: torch.Tensor, by_columns: torch.Tensor, out: torch.Tensor) -> None:
        """One step; rows and columns are multiples of 64."""
        (r, n), columns = x.shape, len(by_columns)
        _step[(r // _TILE, columns // _TILE)](x, by_columns, out, n, columns, TILE=_TILE, **self._options)

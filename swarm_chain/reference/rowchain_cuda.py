"""The row chain on a GPU without a compiler: cuBLAS does the product, torch the step.

    block of X (b, n) int8 --_int_mm--> C (b, c) int32 --multiply in place--> --shift, narrow--> out (b, c) int8

The int32 product goes to memory and back, which the fused kernel of `rowchain_triton` spares; a block bounds it.
"""

import torch

from swarm_chain.core.rowchain import MULTIPLIER
from swarm_chain.reference import splitmix_torch

_BLOCK_ENTRIES = 2**25  # of the int32 product: 128 MiB
_SLAB_ENTRIES = 2**26  # of W generated at a time: the words of all of W would take three times its size
_LEAST_ROWS = 32  # `_int_mm` refuses 16 rows and fewer on CUDA


class CudaProgram:
    """Arithmetic of the row chain through `torch._int_mm`."""

    name = "torch"

    def runs(self, seed: int, indices: torch.Tensor, n: int) -> torch.Tensor:
        """Rows of X0: indices (r,) int64 to (r, n) int8 in [-128, 127]."""
        out = torch.empty((len(indices), n), dtype=torch.int8, device=indices.device)
        at_once = max(1, _SLAB_ENTRIES // n)
        for slab, rows in zip(torch.split(indices, at_once), torch.split(out, at_once), strict=True):
            rows.copy_(splitmix_torch.runs(seed, slab, n))
        return out

    def columns(self, seed: int, n: int, device: torch.device) -> torch.Tensor:
        """All columns of W, one a row: (n, n) int8 in [-64, 63], on a device."""
        return splitmix_torch.as_weights(self.runs(seed, torch.arange(n, device=device), n))

    def step(self, x: torch.Tensor, by_columns: torch.Tensor, out: torch.Tensor) -> None:
        """One step: x (r, n) and columns of W (c, n) to out (r, c), all int8 and contiguous, c a multiple of 64."""
        at_once = max(_LEAST_ROWS, _BLOCK_ENTRIES // len(by_columns))
        for block, bytes_out in zip(torch.split(x, at_once), torch.split(out, at_once), strict=True):
            _step(block, by_columns, bytes_out)


def _step(x: torch.Tensor, by_columns: torch.Tensor, out: torch.Tensor) -> None:
    padding = max(0, _LEAST_ROWS - len(x))
    padded = torch.nn.functional.pad(x, (0, 0, 0, padding)) if padding else x
    # W by columns is the transposed operand that cuBLAS wants: its int8 kernels take no other order.
    product = torch._int_mm(padded, by_columns.t())[: len(x)]  # (b, c) int32
    product.mul_(splitmix_torch.signed(MULTIPLIER, 32))  # int32 wraps
    torch.bitwise_right_shift(product, 24, out=out)  # arithmetic; narrows on the way, without a third int32 pass

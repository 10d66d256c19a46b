"""The row chain in Triton: generation on the device, and a step that stores one byte for every int32 it computes.

Triton compiles at the first call: it needs a C compiler and Python's headers on the machine, and is imported only then.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

_BYTES_A_WORD = 8


class TritonProgram:
    """Arithmetic of the row chain in Triton kernels, in order with torch's stream; on a CPU only in Triton's interpreter."""

    name = "triton"

    def runs(self, seed: int, indices: torch.Tensor, n: int) -> torch.Tensor:
        """Rows of X0: indices (r,) int64 to (r, n) int8 in [-128, 127]."""
        return _generated(seed, indices, n, as_weights=False)

    def columns(self, seed: int, n: int, device: torch.device) -> torch.Tensor:
        """All columns of W, one a row: (n, n) int8 in [-64, 63]."""
        return _generated(seed, torch.arange(n, device=device), n, as_weights=True)

    def step(self, x: torch.Tensor, by_columns: torch.Tensor, out: torch.Tensor) -> None:
        """One step: x (r, n) and columns of W (c, n) to out (r, c), all int8 and contiguous."""
        from swarm_chain.reference import triton_kernels as kernels

        (r, n), columns = x.shape, len(by_columns)

        def programs(blocks: dict[str, int]) -> tuple[int]:
            return (-(-r // blocks["BLOCK_M"]) * -(-columns // blocks["BLOCK_N"]),)

        with _current(x.device):
            if x.is_cuda and kernels.is_large(r, columns):
                kernels.tuned_step[programs](x, by_columns, out, r, columns, n)
            else:
                kernels.step[programs](x, by_columns, out, r, columns, n, **kernels.SMALL, **kernels.SMALL_LAUNCH)


def _generated(seed: int, indices: torch.Tensor, n: int, *, as_weights: bool) -> torch.Tensor:
    from swarm_chain.reference import triton_kernels as kernels

    words_a_run = n // _BYTES_A_WORD
    words = torch.empty((len(indices), words_a_run), dtype=torch.int64, device=indices.device)
    count, block = words.numel(), kernels.GENERATE_BLOCK
    with _current(indices.device):
        kernels.generate[(-(-count // block),)](
            words, indices, seed, count, words_a_run.bit_length() - 1, AS_WEIGHTS=as_weights, BLOCK=block
        )
    return words.view(torch.int8)  # (r, n)


def _current(device: torch.device) -> AbstractContextManager[Any]:
    # Triton launches on the current device, whichever its arguments are on.
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()

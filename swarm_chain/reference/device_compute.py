"""The row chain on an accelerator: what stays there, what travels, and how much memory it takes.

    seedW ──columns──► W (n, n) ───────────────┐  stays for the window, one column after the other
    seedX ──runs──► X0 (rows, n) ──step──► spare ──step──► X0 ──…──► heads (rows, 64) ──pinned──► host

The arithmetic is a `DeviceProgram`. The port hands out numpy arrays, so X0 and W are copied to the host once; the originals stay
and are found again by the array that was handed out. Nothing but the heads is waited for between two chunks.
Memory: n² + 2 · chunk_bytes, and what the program needs for itself.
"""

from typing import Protocol

import numpy as np
import torch

from swarm_chain.core.compute import HEAD_BYTES
from swarm_chain.core.rowchain import Indices, Int8Matrix
from swarm_chain.reference.device_copies import DeviceCopies

# 32768 rows at n = 4096: thousands of tiles for any card, and little memory beside W.
_CHUNK_BYTES = 2**27


class DeviceProgram(Protocol):
    """Arithmetic of the row chain on tensors of one device; whatever it starts is in order with torch's stream."""

    @property
    def name(self) -> str:
        """Stable name for logs, tables and configuration."""
        ...

    def runs(self, seed: int, indices: torch.Tensor, n: int) -> torch.Tensor:
        """Rows of X0: indices (r,) int64 to (r, n) int8 in [-128, 127]."""
        ...

    def columns(self, seed: int, n: int, device: torch.device) -> torch.Tensor:
        """All columns of W, one a row: (n, n) int8 in [-64, 63], on a device."""
        ...

    def step(self, x: torch.Tensor, by_columns: torch.Tensor, out: torch.Tensor) -> None:
        """One step: x (r, n) and columns of W (c, n) to out (r, c), all int8 and contiguous, c a multiple of 64."""
        ...


class DeviceCompute:
    """Backend of an accelerator; trusted only after its known answers.

    Args:
        program: the arithmetic.
        device: torch device string, "cuda:<index>"; a CPU runs the same code, slowly.
        chunk_bytes: bound of a buffer of X, bytes; at least the length of a row.
    """

    def __init__(self, program: DeviceProgram, device: str, chunk_bytes: int = _CHUNK_BYTES) -> None:
        self.name = f"{program.name}-{device}"
        self.chunk_bytes = chunk_bytes
        self._program = program
        self._device = torch.device(device)
        self._copies = DeviceCopies(self._device)

    def weights(self, seed: int, n: int) -> Int8Matrix:
        """W of a seed, (n, n) int8, stored by columns and read-only: its original stays on the device while it lives."""
        return self._copies.hand_out(self._program.columns(seed, n, self._device), transposed=True)

    def rows(self, seed: int, indices: Indices, n: int) -> Int8Matrix:
        """Rows of X0 of a seed, (r, n) int8, read-only: the originals stay on the device while they live."""
        on_device = torch.from_numpy(np.array(indices, dtype=np.int64)).to(self._device)
        return self._copies.hand_out(self._program.runs(seed, on_device, n))

    def run_chain(self, x: Int8Matrix, w: Int8Matrix, steps: int) -> Int8Matrix:
        """First 64 bytes of each row after `steps` >= 1 steps, (r, 64) int8; x itself is left as it is."""
        held, taken = self._copies.held(w), self._copies.taken(x)
        by_columns = self._upload(w.T) if held is None else held
        rows = self._upload(x) if taken is None else taken
        heads = torch.empty((len(x), HEAD_BYTES), dtype=torch.int8, device=self._device)
        at_once = max(1, self.chunk_bytes // x.shape[1])
        for block, head in zip(torch.split(rows, at_once), torch.split(heads, at_once), strict=True):
            self._run_block(block, by_columns, steps, head)
        return self._copies.fetched(heads)

    def _run_block(self, x: torch.Tensor, by_columns: torch.Tensor, steps: int, heads: torch.Tensor) -> None:
        spare = torch.empty_like(x)
        for _ in range(steps - 1):
            self._program.step(x, by_columns, spare)
            x, spare = spare, x
        self._program.step(x, by_columns[:HEAD_BYTES], heads)  # only these columns are committed

    def _upload(self, matrix: Int8Matrix) -> torch.Tensor:
        return torch.from_numpy(np.array(matrix, order="C")).to(self._device)

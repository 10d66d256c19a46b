"""The row chain on torch, for the prover on any device and for the judge: int8 products, exact int32 sums.

On a CPU each worker thread keeps a block of rows to itself for all steps:

    X (rows, n) int8 --_int_mm--> C (rows, n) int32 --multiply, shift in place--> top byte --copy--> X

which needs no barrier between steps; the elementwise half runs tile by tile while a tile is in the second-level cache.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import torch

from swarm_chain.core.compute import HEAD_BYTES
from swarm_chain.core.rowchain import MULTIPLIER, Indices, Int8Matrix

_BLOCK_ROWS = 2048  # the product of a block amortises the packing of W, which the kernel repeats at every call
_TILE_ENTRIES = 2**18  # 1 MiB of int32
_CPU_CHUNK_BYTES = 2**22  # per thread
_GPU_CHUNK_BYTES = 2**28
_GPU_MIN_ROWS = 32  # the CUDA kernel wants more than 16 rows
_SIGNED_MULTIPLIER = MULTIPLIER - 2**32


class TorchCompute:
    """Row chain through `torch._int_mm`; trusted only after its known answers, because some CPU kernels saturate.

    Args:
        device: torch device string, "cpu" or "cuda:<index>".
        threads: CPU threads to use, at least 1; ignored on a GPU.
    """

    def __init__(self, device: str = "cpu", threads: int = 1) -> None:
        self.name = f"torch-{device}"
        self._device = torch.device(device)
        self._threads = threads
        self.chunk_bytes = _GPU_CHUNK_BYTES if self._on_gpu else _CPU_CHUNK_BYTES * threads

    def weights(self, seed: int, n: int) -> Int8Matrix:
        """W of a seed, (n, n) int8: stored by rows for a CPU, by columns for a GPU."""
        by_columns = self._runs(seed, torch.arange(n, device=self._device), n)  # (n, n) int8
        w = by_columns.bitwise_and_(0x7F).sub_(64).t()
        return _to_numpy(w if self._on_gpu else w.contiguous())

    def rows(self, seed: int, indices: Indices, n: int) -> Int8Matrix:
        """Rows of X0 of a seed, (r, n) int8."""
        return _to_numpy(self._runs(seed, torch.from_numpy(indices).to(self._device), n))

    def run_chain(self, x: Int8Matrix, w: Int8Matrix, steps: int) -> Int8Matrix:
        """First 64 bytes of each row after `steps` >= 1 steps, (r, 64) int8; overwrites x."""
        weights = torch.from_numpy(w).to(self._device)
        last = weights[:, :HEAD_BYTES].contiguous()
        rows = torch.from_numpy(x).to(self._device)
        if self._on_gpu:
            padding = max(0, _GPU_MIN_ROWS - len(x))
            padded = torch.nn.functional.pad(rows, (0, 0, 0, padding))
            return _to_numpy(_run_block(padded, weights, last, steps)[: len(x)])
        share = -(-len(x) // self._threads)
        blocks = torch.split(rows, max(1, min(share, _BLOCK_ROWS)))
        with _single_threaded_workers(self._threads) as pool:
            heads = list(pool.map(lambda block: _run_block(block, weights, last, steps), blocks))
        return np.concatenate([_to_numpy(head) for head in heads])

    @property
    def _on_gpu(self) -> bool:
        return self._device.type == "cuda"

    def _runs(self, seed: int, indices: torch.Tensor, n: int) -> torch.Tensor:
        first = indices.to(torch.int64)[:, None] * (n // 8)
        index = first + torch.arange(n // 8, device=self._device)  # (r, n/8)
        return _splitmix64(seed, index).view(torch.int8)  # (r, n)


def _to_numpy(tensor: torch.Tensor) -> Int8Matrix:
    matrix: Int8Matrix = tensor.cpu().numpy()
    return matrix


@contextmanager
def _single_threaded_workers(count: int) -> Iterator[ThreadPoolExecutor]:
    # torch's own threads would meet at a barrier after every operation. The setting is per thread, but torch also
    # remembers the last one for threads that come later: hence the restoration.
    before = torch.get_num_threads()
    try:
        with ThreadPoolExecutor(count, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            yield pool
    finally:
        torch.set_num_threads(before)


def _run_block(x: torch.Tensor, w: torch.Tensor, last: torch.Tensor, steps: int) -> torch.Tensor:
    with torch.inference_mode():
        product = torch.empty((len(x), w.shape[1]), dtype=torch.int32, device=x.device)
        tile_rows = max(1, _TILE_ENTRIES // w.shape[1]) if x.device.type == "cpu" else len(x)
        tiles = list(zip(torch.split(product, tile_rows), torch.split(x, tile_rows), strict=True))
        for _ in range(steps - 1):
            torch._int_mm(x, w, out=product)
            for products, bytes_out in tiles:
                bytes_out.copy_(_top_byte(products))
        return _top_byte(torch._int_mm(x, last)).to(torch.int8)  # (r, 64)


def _top_byte(product: torch.Tensor) -> torch.Tensor:
    # In place; int32 wraps, the shift of a signed integer is arithmetic.
    return product.mul_(_SIGNED_MULTIPLIER).bitwise_right_shift_(24)


def _splitmix64(seed: int, index: torch.Tensor) -> torch.Tensor:
    # torch multiplies int64 modulo 2^64 as uint64 does; only its right shift is arithmetic. Overwrites index.
    z = index.add_(1).mul_(_signed(0x9E3779B97F4A7C15)).add_(_signed(seed))
    z ^= _shift_right(z, 30)
    z *= _signed(0xBF58476D1CE4E5B9)
    z ^= _shift_right(z, 27)
    z *= _signed(0x94D049BB133111EB)
    z ^= _shift_right(z, 31)
    return z


def _shift_right(z: torch.Tensor, bits: int) -> torch.Tensor:
    return (z >> bits).bitwise_and_(2 ** (64 - bits) - 1)


def _signed(word: int) -> int:
    return word - 2**64 if word >= 2**63 else word

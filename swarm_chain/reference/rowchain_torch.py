"""The row chain on torch on a CPU, for prover and judge: int8 products, exact int32 sums.

Each worker thread keeps a block of rows to itself for all steps:

    X (rows, n) int8 --_int_mm--> C (rows, n) int32 --multiply, shift in place--> top byte --copy--> X

which needs no barrier between steps; the elementwise half runs tile by tile while a tile is in the second-level cache.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import torch

from swarm_chain.core.compute import HEAD_BYTES
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.rowchain import MULTIPLIER, Indices, Int8Matrix
from swarm_chain.reference import splitmix_torch

_BLOCK_ROWS = 2048  # the product of a block amortises the packing of W, which the kernel repeats at every call
_TILE_ENTRIES = 2**18  # 1 MiB of int32
_CHUNK_BYTES = 2**22  # per thread
_SIGNED_MULTIPLIER = splitmix_torch.signed(MULTIPLIER, 32)


class TorchCompute:
    """Row chain through `torch._int_mm`; trusted only after its known answers, because some CPU kernels saturate.

    Args:
        device: torch device string of a CPU; `rowchain_cuda` and `rowchain_triton` are for GPUs.
        threads: CPU threads to use, at least 1.

    Raises:
        InvalidInputError: the device is no CPU.
    """

    def __init__(self, device: str = "cpu", threads: int = 1) -> None:
        if torch.device(device).type != "cpu":
            raise InvalidInputError(f"{device} is no CPU", fix="ask `backends.candidates` for the backends of a device")
        self.name = f"torch-{device}"
        self._threads = threads
        self.chunk_bytes = _CHUNK_BYTES * threads

    def weights(self, seed: int, n: int) -> Int8Matrix:
        """W of a seed, (n, n) int8, stored by rows."""
        by_columns = splitmix_torch.as_weights(splitmix_torch.runs(seed, torch.arange(n), n))  # (n, n) int8
        return _to_numpy(by_columns.t().contiguous())

    def rows(self, seed: int, indices: Indices, n: int) -> Int8Matrix:
        """Rows of X0 of a seed, (r, n) int8."""
        return _to_numpy(splitmix_torch.runs(seed, torch.from_numpy(indices).to(torch.int64), n))

    def run_chain(self, x: Int8Matrix, w: Int8Matrix, steps: int) -> Int8Matrix:
        """First 64 bytes of each row after `steps` >= 1 steps, (r, 64) int8; overwrites x."""
        weights, rows = torch.from_numpy(w), torch.from_numpy(x)
        last = weights[:, :HEAD_BYTES].contiguous()
        share = -(-len(x) // self._threads)
        blocks = torch.split(rows, max(1, min(share, _BLOCK_ROWS)))
        with _single_threaded_workers(self._threads) as pool:
            heads = list(pool.map(lambda block: _run_block(block, weights, last, steps), blocks))
        return np.concatenate([_to_numpy(head) for head in heads])


def _to_numpy(tensor: torch.Tensor) -> Int8Matrix:
    matrix: Int8Matrix = tensor.numpy()
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
        product = torch.empty((len(x), w.shape[1]), dtype=torch.int32)
        tile_rows = max(1, _TILE_ENTRIES // w.shape[1])
        tiles = list(zip(torch.split(product, tile_rows), torch.split(x, tile_rows), strict=True))
        for _ in range(steps - 1):
            torch._int_mm(x, w, out=product)
            for products, bytes_out in tiles:
                bytes_out.copy_(_top_byte(products))
        return _top_byte(torch._int_mm(x, last)).to(torch.int8)  # (r, 64)


def _top_byte(product: torch.Tensor) -> torch.Tensor:
    # In place; int32 wraps, the shift of a signed integer is arithmetic.
    return product.mul_(_SIGNED_MULTIPLIER).bitwise_right_shift_(24)

"""Means over ranks that add in the order of ranks, by torch.distributed on gloo or nccl.

    rank r: [part 0 | part 1 | … ] --all to all--> everybody's part r --added in the order of ranks, times 1/k--> mean of part r
                                                                       --all gather--> the whole mean, where it is wanted

An all-reduce adds in an order of its own, which changes with the number of ranks, the library and the wire. This moves as
much as a ring does: twice (k - 1)/k of the vector.
"""

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from swarm_chain.reference.sharded import mean_in_order


def mean_part(vector: Tensor) -> Tensor:
    """This rank's part of the mean over all ranks.

    Args:
        vector: (k·n,) float32, the same n on all of the k ranks.

    Returns:
        (n,) float32.
    """
    count = dist.get_world_size()
    received = torch.empty_like(vector)  # (k·n,)
    dist.all_to_all_single(received, vector)
    return mean_in_order(received.view(count, -1).unbind())


def mean_of_ranks(vector: Tensor) -> Tensor:
    """The mean over all ranks, the same bits on each.

    Args:
        vector: (n,) float32.

    Returns:
        (n,) float32.
    """
    padding = -len(vector) % dist.get_world_size()
    if padding:
        return mean_of_ranks(torch.nn.functional.pad(vector, (0, padding)))[: len(vector)]
    whole = torch.empty_like(vector)
    dist.all_gather_single(whole, mean_part(vector))
    return whole


def mean_of_bucket(_: object, bucket: dist.GradBucket) -> torch.futures.Future[Tensor]:  # type: ignore[name-defined]  # torch keeps it from its stubs
    """Communication hook of DistributedDataParallel."""
    buffer = bucket.buffer()
    future: torch.futures.Future[Tensor] = torch.futures.Future(devices=[buffer.device] if buffer.is_cuda else None)
    future.set_result(mean_of_ranks(buffer))
    return future


class OrderedReduceScatter:
    """What fully_shard reduces gradients with instead of the library's own."""

    def allocate(self, size: Any, *, dtype: torch.dtype, device: torch.device) -> Tensor:
        """Memory for its vectors."""
        return torch.empty(*size, dtype=dtype, device=device)

    def __call__(self, output_tensor: Tensor, input_tensor: Tensor, **_: object) -> None:
        """Writes this rank's part of the mean: (n,) from (k·n,) float32."""
        output_tensor.copy_(mean_part(input_tensor))

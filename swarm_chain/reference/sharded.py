"""Data-parallel training that anybody can replay: several processes, or one that does the work of all, the same bytes.

    step s   shard 0: batch s·k      --gradient--+
             shard 1: batch s·k + 1  --gradient--+--gathered, summed in the order of shards, over k--> one Adam step
             …                                   |
             shard k-1               --gradient--+

A ring or tree adds in an order of its own, and floats do not forgive that; here every process gets all gradients and adds
them in the same order. With one shard the run is `run_segment`'s own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from swarm_chain.reference.spec import TrainSpec
from swarm_chain.reference.train import Gradient, batch_gradient

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Shards:
    """Who computes which batch of a step: `own` of `count` shards, and how those of all come together, in their order."""

    count: int
    own: range
    gather: "Callable[[Sequence[Tensor]], Sequence[Tensor]]"


def all_shards(count: int) -> Shards:
    """All shards in this process: how a run of several is replayed."""
    return Shards(count=count, own=range(count), gather=lambda vectors: vectors)


def sharded_gradient(shards: Shards) -> Gradient:
    """Loss and gradient of a step whose batches are computed by several processes: the mean over all shards.

    Args:
        shards: which are this process' own.

    Returns:
        What `run_segment` takes; the same bits in every process.
    """

    def gradient_of(spec: TrainSpec, flat: "Tensor", step: int) -> "tuple[Tensor, Tensor]":
        own = [_vector(*batch_gradient(spec, flat, step * shards.count + shard)) for shard in shards.own]
        mean = reduce(lambda total, vector: total + vector, shards.gather(own)) / shards.count  # (p + 1,)
        return mean[0], mean[1:]

    return gradient_of


def _vector(loss: "Tensor", gradient: "Tensor") -> "Tensor":
    import torch

    return torch.cat([loss.reshape(1), gradient])  # (p + 1,)

"""Data-parallel training that anybody can replay: several processes, or one that does the work of all, the same bytes.

    step s   shard 0: batch s·k      --gradient--+
             shard 1: batch s·k + 1  --gradient--+--gathered, summed in the order of shards, times 1/k--> one Adam step
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


def sharded_gradient(shards: Shards, gradient: Gradient = batch_gradient) -> Gradient:
    """Loss and gradient of a step whose batches are computed by several processes: the mean over all shards.

    Args:
        shards: which are this process' own.
        gradient: loss and gradient of one batch.

    Returns:
        What `run_steps` takes; the same bits in every process.
    """

    def gradient_of(spec: TrainSpec, flat: "Tensor", step: int) -> "tuple[Tensor, Tensor]":
        own = [_vector(*gradient(spec, flat, step * shards.count + shard)) for shard in shards.own]
        mean = mean_in_order(shards.gather(own))  # (p + 1,)
        return mean[0], mean[1:]

    return gradient_of


def mean_in_order(vectors: "Sequence[Tensor]") -> "Tensor":
    """Mean of what all shards have, float32: added one after the other from shard 0 on, then times float32(1/count).

    It is a product because devices make one of a quotient by a number on their own, but not all of them.
    """
    return reduce(lambda total, vector: total + vector, vectors) * (1.0 / len(vectors))


def _vector(loss: "Tensor", gradient: "Tensor") -> "Tensor":
    import torch

    return torch.cat([loss.reshape(1), gradient])  # (p + 1,)

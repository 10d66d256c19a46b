"""A reference model on one of several ranks: whole under DistributedDataParallel, or its share of it under fully_shard."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.nn.parallel import DistributedDataParallel

from node.jobs.kinds.collectives import OrderedReduceScatter, mean_of_bucket, mean_of_ranks
from swarm_chain.core.errors import InconsistentError
from swarm_chain.reference.data import train_batch
from swarm_chain.reference.models import Stage, parameter_views, stages, targets_of
from swarm_chain.reference.parallel import ParallelRun, loss_of
from swarm_chain.reference.train import adam_step

State = NDArray[np.float32]


class StageModule(nn.Module):
    """A layer of a reference model with its parameters."""

    def __init__(self, stage: Stage, weights: Mapping[str, Tensor]) -> None:
        super().__init__()
        self._stage = stage
        for name in stage.names:
            self.register_parameter(name, nn.Parameter(weights[name].clone()))

    def forward(self, x: Tensor) -> Tensor:
        """What the layer makes of what the one before it gave."""
        return self._stage.apply({name: getattr(self, name) for name in self._stage.names}, x)


class Trainee:
    """One rank of a run: takes its steps and puts together the state of all. The process group must be there.

    Args:
        run: the run.
        strategy: "ddp" or "fsdp".
        state: (3, p) float32, where it starts.
    """

    def __init__(self, run: ParallelRun, strategy: str, state: State) -> None:
        self._run = run
        self._device = torch.device(run.device)
        weights, first, second = (
            parameter_views(run.train, torch.from_numpy(row.astype(np.float32)).to(self._device)) for row in state
        )
        model = nn.Sequential(*(StageModule(stage, weights) for stage in stages(run.train)))
        self._module = STRATEGIES[strategy](run, model)
        named = {name.rpartition(".")[2]: parameter for name, parameter in model.named_parameters()}
        self._parameters = [named[name] for name in weights]
        # What this rank holds of parameters and moments, each as one vector: an operation for all instead of one for each.
        self._held = [
            torch.cat([_share(row[name], named[name]).flatten() for name in weights])
            for row in (weights, first, second)
        ]

    def train(self, batches: Iterable[int], time: int) -> tuple[State, float]:
        """Takes steps.

        Args:
            batches: numbers of this rank's batches, one a step; at least one.
            time: number of the first step, from 1.

        Returns:
            (3, p) float32 of all ranks together, and the mean loss of the last step, nats.
        """
        loss = torch.zeros((), device=self._device)
        for number, batch in enumerate(batches, start=time):
            loss = self._step(batch, number)
        return self._state(), mean_of_ranks(loss.reshape(1)).item()

    def _step(self, batch: int, time: int) -> Tensor:
        spec = self._run.train
        tokens = torch.from_numpy(train_batch(spec, batch)).to(self._device)
        loss = loss_of(self._run, lambda: (self._module(tokens[:, :-1]), targets_of(spec, tokens)))
        loss.backward()  # type: ignore[no-untyped-call]  # torch does not type it
        with torch.no_grad():
            adam_step(spec.learning_rate_micro, self._held, self._gradient(), time)
            for parameter, value in zip(self._parameters, self._parts(self._held[0]), strict=True):
                _local(parameter).copy_(value)
            self._module.zero_grad()
        return loss.detach()

    def _gradient(self) -> Tensor:
        gradients = [parameter.grad for parameter in self._parameters]
        if any(gradient is None for gradient in gradients):
            raise InconsistentError("a parameter takes no part in the loss", code="no_gradient")
        return torch.cat([_local(gradient).flatten() for gradient in gradients if gradient is not None])

    def _parts(self, held: Tensor) -> list[Tensor]:
        """Views of a vector in the shapes of what this rank holds of each parameter."""
        shares = [_local(parameter) for parameter in self._parameters]
        parts = torch.split(held, [share.numel() for share in shares])
        return [part.view(share.shape) for part, share in zip(parts, shares, strict=True)]

    def _state(self) -> State:
        whole = [
            [_whole(part, like).flatten() for part, like in zip(self._parts(held), self._parameters, strict=True)]
            for held in self._held
        ]
        return np.stack([torch.cat(parts).cpu().numpy() for parts in whole])


def _whole_model(_: ParallelRun, model: nn.Module) -> nn.Module:
    module = DistributedDataParallel(model, gradient_as_bucket_view=True)
    module.register_comm_hook(None, mean_of_bucket)
    return module


def _shared_model(run: ParallelRun, model: nn.Module) -> nn.Module:
    mesh = init_device_mesh(run.device, (dist.get_world_size(),))
    for layer in model:  # type: ignore[attr-defined]  # a Sequential: a layer is gathered while it computes
        _shard(layer, mesh)
    _shard(model, mesh)
    return model


def _shard(module: nn.Module, mesh: DeviceMesh) -> None:
    sharded: FSDPModule = fully_shard(module, mesh=mesh)
    sharded.set_custom_reduce_scatter(OrderedReduceScatter())  # type: ignore[arg-type]  # its base class is private
    sharded.set_force_sum_reduction_for_comms(True)
    sharded.set_gradient_divide_factor(1.0)  # the mean is made already


def _local(tensor: Tensor) -> Tensor:
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor.detach()


def _share(whole: Tensor, like: Tensor) -> Tensor:
    """As much of a tensor as this rank holds of another of its shape."""
    if not isinstance(like, DTensor):
        return whole.clone()
    return distribute_tensor(whole, like.device_mesh, like.placements, src_data_rank=None).to_local().clone()


def _whole(share: Tensor, like: Tensor) -> Tensor:
    """The tensor whose share this rank has, from all ranks."""
    if not isinstance(like, DTensor):
        return share
    spread = DTensor.from_local(
        share, like.device_mesh, like.placements, run_check=False, shape=like.shape, stride=like.stride()
    )
    return spread.full_tensor()


STRATEGIES: Mapping[str, Callable[[ParallelRun, nn.Module], nn.Module]] = {"ddp": _whole_model, "fsdp": _shared_model}

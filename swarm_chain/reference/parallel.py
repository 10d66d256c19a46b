"""Data-parallel training as swarm-train/2 means it, whatever its workers do it with; one process replays them all.

    step s   rank r: batch s·k + r --forward in fp32 or bf16, backward--> loss, gradient in float32
             all ranks' --summed in their order, times float32(1/k)--> one Adam step on float32 parameters

DDP and FSDP differ in who holds what and not in what is added in which order, so both give these bytes.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from swarm_chain.core.checkpoints import content_hash
from swarm_chain.reference.checkpoint import PLATFORM_BYTES, first_checkpoint
from swarm_chain.reference.data import train_batch
from swarm_chain.reference.models import predict
from swarm_chain.reference.sharded import all_shards, sharded_gradient
from swarm_chain.reference.spec import TrainSpec
from swarm_chain.reference.train import end_of, machine_kind, pinned, run_steps, start_of

if TYPE_CHECKING:
    from torch import Tensor

CPU: Final = "cpu"
CUDA: Final = "cuda"
FP32: Final = "fp32"
BF16: Final = "bf16"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelRun:
    """A training run of several ranks. `train.batch` is that of one rank; `device` is "cpu" or "cuda"."""

    train: TrainSpec
    workers: int
    precision: str
    device: str = CPU

    def steps_of(self, segment: int) -> range:
        """Numbers of a segment's steps."""
        first = segment * self.train.segment_steps
        return range(first, first + self.train.segment_steps)


def first_content(run: ParallelRun) -> bytes:
    """Content of checkpoint 0, as swarm-train/1 lays it out."""
    return first_checkpoint(run.train, kind_of(run))


def run_ranks(run: ParallelRun, content: bytes, index: int) -> bytes:
    """Train one segment, the work of all ranks in this process.

    Args:
        run: the run.
        content: checkpoint `index`.
        index: number of the segment.

    Returns:
        Content of checkpoint `index` + 1.

    Raises:
        InvalidInputError: the content is not this checkpoint, or the run diverges.
        UnavailableError: the checkpoint was made on another kind of machine.
    """
    start = start_of(run.train, content, index, kind_of(run))

    def gradient_of(spec: TrainSpec, flat: "Tensor", batch: int) -> "tuple[Tensor, Tensor]":
        import torch

        tokens = torch.from_numpy(train_batch(spec, batch)).to(run.device)
        loss = loss_of(run, lambda: predict(spec, flat, tokens))
        (gradient,) = torch.autograd.grad(loss, flat)
        return loss.detach(), gradient

    gradient = sharded_gradient(all_shards(run.workers), gradient_of)
    with pinned():
        state, loss = run_steps(run.train, start.state, run.steps_of(index), gradient, run.device)
    return end_of(start, content_hash(content), state, loss)


def loss_of(run: ParallelRun, predicted: "Callable[[], tuple[Tensor, Tensor]]") -> "Tensor":
    """Mean cross-entropy of a batch, its forward pass in the precision of the run.

    Args:
        run: the run.
        predicted: gives logits, (r, vocabulary), and targets, (r,) int64.

    Returns:
        () float32, nats.
    """
    from torch.nn.functional import cross_entropy

    with _precision(run):
        logits, targets = predicted()
    return cross_entropy(logits.float(), targets)


def kind_of(run: ParallelRun) -> str:
    """What decides the last bit on this machine: `machine_kind`, and beside it the device or the units that multiply bf16."""
    import torch

    if run.device == CUDA:
        return f"torch-{torch.__version__} {torch.cuda.get_device_name()} {run.precision}"[:PLATFORM_BYTES]
    if run.precision == FP32:
        return machine_kind()
    units = ("amx", torch.cpu._is_amx_tile_supported()), ("vbf16", torch.cpu._is_avx512_bf16_supported())
    return " ".join([machine_kind(), BF16, *(name for name, there in units if there)])[:PLATFORM_BYTES]


def _precision(run: ParallelRun) -> AbstractContextManager[object]:
    import torch

    return torch.autocast(run.device, dtype=torch.bfloat16, enabled=run.precision == BF16)

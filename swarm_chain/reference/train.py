"""Deterministic training: the node runs it, the oracle replays drawn segments and compares hashes.

    spec --initial_checkpoint--> content 0 --run_segment(0)--> content 1 --run_segment(1)--> … --> content `segments`

Same bytes in every process on machines of the same kind: float32, one thread, deterministic kernels, data and
starting values from counters. The kind of machine is written into each checkpoint; another kind refuses to replay
instead of finding a difference.
"""

import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import isfinite
from struct import pack
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.units import Hash32
from swarm_chain.reference.checkpoint import Checkpoint, dump_checkpoint, first_checkpoint, parse_checkpoint
from swarm_chain.reference.data import held_out_batch, train_batch
from swarm_chain.reference.models import mean_loss, predict
from swarm_chain.reference.spec import TrainSpec

if TYPE_CHECKING:
    from torch import Tensor

Gradient = Callable[[TrainSpec, "Tensor", int], "tuple[Tensor, Tensor]"]
BETA_1, BETA_2, EPSILON = 0.9, 0.99, 1e-8


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """Quality on data the model never saw: loss in millionths of a nat, accuracy in bps."""

    loss_micro: int
    accuracy_bps: int


def initial_checkpoint(spec: TrainSpec) -> bytes:
    """Content of checkpoint 0: everybody who knows the spec makes the same bytes."""
    return first_checkpoint(spec, machine_kind())


def batch_gradient(spec: TrainSpec, flat: "Tensor", batch: int) -> "tuple[Tensor, Tensor]":
    """Loss of one batch and its gradient.

    Args:
        spec: the run.
        flat: (p,) float32 parameters that want a gradient.
        batch: number of the batch, >= 0.

    Returns:
        () float32, nats, and (p,) float32.
    """
    import torch

    loss = mean_loss(spec, flat, torch.from_numpy(train_batch(spec, batch)))
    (gradient,) = torch.autograd.grad(loss, flat)
    return loss.detach(), gradient


def run_segment(spec: TrainSpec, content: bytes, index: int, gradient_of: Gradient = batch_gradient) -> bytes:
    """Train one segment.

    Args:
        spec: the run.
        content: checkpoint `index`, as `initial_checkpoint` or `run_segment` wrote it.
        index: number of the segment, in [0, spec.segments).
        gradient_of: loss and gradient of a step; of one batch, unless several processes train together.

    Returns:
        Content of checkpoint `index` + 1.

    Raises:
        InvalidInputError: the content is not this checkpoint, or the run diverges.
        UnavailableError: the checkpoint was made on another kind of machine.

    Source: jobs.md, row "train"; Adam: arXiv 1412.6980, algorithm 1.
    """
    start = start_of(spec, content, index, machine_kind())
    first = index * spec.segment_steps
    with pinned():
        state, loss = run_steps(spec, start.state, range(first, first + spec.segment_steps), gradient_of)
    return end_of(start, content_hash(content), state, loss)


def start_of(spec: TrainSpec, content: bytes, index: int, kind: str) -> Checkpoint:
    """Read what a segment starts from.

    Args:
        spec: the run.
        content: bytes of checkpoint `index`.
        index: number of the segment, in [0, spec.segments).
        kind: of this machine.

    Raises:
        InvalidInputError: the content is not this checkpoint.
        UnavailableError: the checkpoint was made on another kind of machine.
    """
    start = parse_checkpoint(spec, content)
    if start.index != index or not 0 <= index < spec.segments:
        raise InvalidInputError(
            f"checkpoint {start.index} does not start segment {index} of {spec.segments}", code="invalid_checkpoint"
        )
    if start.platform != kind:
        raise UnavailableError(
            f"trained on {start.platform!r}, this machine is {kind!r}",
            fix="replay on the same kind of machine",
            code="other_machine",
        )
    return start


def end_of(start: Checkpoint, previous: Hash32, state: NDArray[np.float32], loss: float) -> bytes:
    """Write what a segment ends with.

    Args:
        start: what it started from; its state is not looked at.
        previous: content hash of that.
        state: (3, p) float32, parameters and both moments.
        loss: of the last step, nats.

    Raises:
        InvalidInputError: a number is not finite.
    """
    require_finite(state, loss, start.index)
    loss_bits = pack(">f", loss)
    return dump_checkpoint(replace(start, previous=previous, index=start.index + 1, loss_bits=loss_bits, state=state))


def require_finite(state: NDArray[np.float32], loss: float, segment: int) -> None:
    """Refuses what a run that diverges comes to.

    Args:
        state: (3, p) float32.
        loss: nats.
        segment: number of the segment that led there.

    Raises:
        InvalidInputError: a number is not finite.
    """
    if not (np.isfinite(state).all() and isfinite(loss)):
        raise InvalidInputError(
            f"training diverged in segment {segment}", fix="lower learning_rate_micro", code="diverged"
        )


def replays(spec: TrainSpec, start: bytes, index: int, end: Hash32) -> bool:
    """Tell whether segment `index` leads from a start checkpoint to the claimed content hash.

    Args:
        spec: the run.
        start: bytes of checkpoint `index`.
        index: number of the segment.
        end: claimed content hash of checkpoint `index` + 1.

    Raises:
        InvalidInputError: the start is no checkpoint of this run, or the run diverges from it.
        UnavailableError: this machine is of another kind than the one that trained.
    """
    return content_hash(run_segment(spec, start, index)) == end


def final_metrics(spec: TrainSpec, content: bytes) -> Metrics:
    """Measure a checkpoint on held-out data.

    Args:
        spec: the run.
        content: any checkpoint of it.
    """
    import torch

    checkpoint = parse_checkpoint(spec, content)
    with pinned(), torch.no_grad():
        flat = torch.from_numpy(checkpoint.state[0].astype(np.float32))
        logits, targets = predict(spec, flat, torch.from_numpy(held_out_batch(spec)))
        loss = torch.nn.functional.cross_entropy(logits, targets).item()
        hits, total = int((logits.argmax(-1) == targets).sum().item()), len(targets)
    return Metrics(loss_micro=round(loss * 1_000_000), accuracy_bps=10_000 * hits // total)


def machine_kind() -> str:
    """What decides the last bit of a float: torch build, instruction set and architecture."""
    import torch

    return f"torch-{torch.__version__} {torch.backends.cpu.get_cpu_capability()} {platform.machine()}"[:64]


def run_steps(
    spec: TrainSpec, state: NDArray[np.float32], steps: range, gradient_of: Gradient, device: str = "cpu"
) -> tuple[NDArray[np.float32], float]:
    """Take steps of Adam, with the gradients of whoever gives them.

    Args:
        spec: the run.
        state: (3, p) float32, parameters and both moments.
        steps: numbers of the steps.
        gradient_of: loss and gradient of a step.
        device: what it is computed on, as torch names it.

    Returns:
        The state after them, and the loss of the last one, nats.
    """
    import torch

    copies = [torch.from_numpy(row.astype(np.float32)).to(device) for row in state]
    loss = torch.zeros(())
    for step in steps:
        loss, gradient = gradient_of(spec, copies[0].requires_grad_(), step)
        with torch.no_grad():
            adam_step(spec.learning_rate_micro, copies, gradient, step + 1)
    return np.stack([copy.detach().cpu().numpy() for copy in copies]), loss.item()


def adam_step(rate_micro: int, state: "Sequence[Tensor]", gradient: "Tensor", time: int) -> None:
    """One step of Adam, in place; element by element, so that any part of the state can be done alone.

    Args:
        rate_micro: learning rate, millionths.
        state: parameters and both moments, float32 of one shape; they change. Under `torch.no_grad`.
        gradient: of that shape.
        time: number of the step, from 1.

    Source: arXiv 1412.6980, algorithm 1.
    """
    flat, first, second = state
    # No operation takes two in one, as `add_(…, alpha=…)` does: whether it rounds in between is the device's.
    first.mul_(BETA_1).add_(gradient * (1 - BETA_1))
    second.mul_(BETA_2).add_((gradient * gradient).mul_(1 - BETA_2))
    rate = rate_micro * 1e-6 * (1 - BETA_2**time) ** 0.5 / (1 - BETA_1**time)
    flat.sub_((first / second.sqrt().add_(EPSILON)).mul_(rate))


@contextmanager
def pinned() -> Iterator[None]:
    """Sets what decides bits and belongs to the process, and puts it back: one thread, deterministic kernels, float32."""
    import torch

    threads, mode = torch.get_num_threads(), torch.get_deterministic_debug_mode()
    dtype = torch.get_default_dtype()
    torch.set_num_threads(1)
    # What use_deterministic_algorithms(True) does to kernels; that one also loads the compiler, for more than a second.
    torch.set_deterministic_debug_mode("error")
    torch.set_default_dtype(torch.float32)
    torch.set_flush_denormal(False)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.set_deterministic_debug_mode(mode)
        torch.set_default_dtype(dtype)

"""Training of any torch module so that anybody can replay it: Adam in float32, one seed a step, nothing left in the process.

tensors "first" and "second" hold the moments by the names of the parameters they belong to.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from swarm_chain.core.encoding import keccak, words
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.reference.chain import micro
from swarm_chain.reference.tensors import Tensors, part_of, prefixed
from swarm_chain.reference.train import adam_step, pinned

if TYPE_CHECKING:
    from torch import Tensor

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """Steps of a segment: their numbers from 0, the learning rate in millionths, what randomness is drawn from."""

    steps: range
    rate_micro: int
    seed: int


def course_of(segment: int, segment_steps: int, rate_micro: int, seed: int) -> Course:
    """The course of a segment."""
    first = segment * segment_steps
    return Course(steps=range(first, first + segment_steps), rate_micro=rate_micro, seed=seed)


def train_steps(
    course: Course, parameters: "Mapping[str, Tensor]", moments: Tensors, loss_of: "Callable[[int], Tensor]"
) -> tuple[Arrays, int]:
    """Take steps of Adam; the parameters change in place.

    Args:
        course: which steps.
        parameters: float32, by name; each wants a gradient.
        moments: "first.*" and "second.*" for every parameter; none at all: zeros.
        loss_of: () float32, loss of the batch of a number.

    Returns:
        The moments after them, and the loss of the last step in millionths.

    Raises:
        InvalidInputError: the loss is no finite number, or does not depend on any parameter.
    """
    import torch

    first, second = _moments(parameters, moments, "first"), _moments(parameters, moments, "second")
    loss = torch.zeros(())
    for step in course.steps:
        torch.manual_seed(_step_seed(course.seed, step))
        loss = loss_of(step)
        gradients = _gradients(loss, list(parameters.values()))
        with torch.no_grad():
            for (name, parameter), gradient in zip(parameters.items(), gradients, strict=True):
                adam_step(course.rate_micro, (parameter, first[name], second[name]), gradient, step + 1)
    after = {**prefixed("first", arrays_of(first)), **prefixed("second", arrays_of(second))}
    return after, micro(loss.item())


def arrays_of(tensors: "Mapping[str, Tensor]") -> Arrays:
    """Copies of tensors as arrays."""
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in tensors.items()}


def set_tensors(tensors: "Mapping[str, Tensor]", values: Tensors) -> None:
    """Writes arrays into the tensors of their names.

    Raises:
        InvalidInputError: other names, shapes or types.
    """
    import torch

    if tensors.keys() != values.keys():
        raise _other(sorted(tensors.keys() ^ values.keys())[0])
    with torch.no_grad():
        for name, tensor in tensors.items():
            value = torch.from_numpy(values[name])
            if value.shape != tensor.shape or value.dtype != tensor.dtype:
                raise _other(name)
            tensor.copy_(value)


@contextmanager
def repeatable(seed: int) -> Iterator[None]:
    """Sets what decides bits and belongs to the process, torch's random numbers too, and puts it back."""
    import torch

    with pinned(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def _moments(parameters: "Mapping[str, Tensor]", moments: Tensors, which: str) -> "dict[str, Tensor]":
    import torch

    zeros = {name: torch.zeros_like(parameter, requires_grad=False) for name, parameter in parameters.items()}
    if moments:
        set_tensors(zeros, part_of(moments, which))
    return zeros


def _gradients(loss: Any, parameters: "list[Tensor]") -> "list[Tensor]":
    import torch

    if loss.dim() or not loss.requires_grad:
        raise InvalidInputError("the loss is no scalar that depends on the module", code="invalid_loss")
    found: Sequence[Any] = torch.autograd.grad(loss, parameters, allow_unused=True)
    return [
        torch.zeros_like(parameter) if gradient is None else gradient
        for parameter, gradient in zip(parameters, found, strict=True)
    ]


def _step_seed(seed: int, step: int) -> int:
    return int.from_bytes(keccak(words(keccak(b"swarm.train.step.v1"), seed, step))[:8], "big") >> 1


def _other(name: str) -> InvalidInputError:
    return InvalidInputError(
        f"tensor {name!r} is not that of this module", fix="hand in what the program wrote", code="invalid_checkpoint"
    )


def require_float32(parameters: "Mapping[str, Tensor]") -> None:
    """Refuses what Adam and the contents have no place for.

    Raises:
        InvalidInputError: there is no parameter, or one of another type.
    """
    import torch

    if {parameter.dtype for parameter in parameters.values()} != {torch.float32}:
        raise InvalidInputError(
            "a module needs parameters, all of them float32", fix="build it in torch.float32", code="invalid_module"
        )

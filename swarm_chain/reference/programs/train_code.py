"""swarm-train-code/1: a customer's own module, data and loss, trained by Adam; a unit is a segment, a content a checkpoint.

The spec's `code` gives

    build(work) -> torch.nn.Module          float32 parameters; what it draws is seeded
    batch(work, number) -> tuple of tensors the batch of step `number`, from 0
    loss(module, tensors) -> Tensor         () float32, nats or whatever is to fall

and is called in a sandbox only, at the node as at the judges: `work` is the spec's, `work["settings"]` the customer's own.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import ConfigDict, Field

from swarm_chain.core.checkpoints import MAX_CHECKPOINTS
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.jobs import STRICT, JobSpec, invalid_spec, parse_part, spec_hash
from swarm_chain.reference.chain import Link, source_link
from swarm_chain.reference.modules import (
    arrays_of,
    course_of,
    repeatable,
    require_float32,
    set_tensors,
    train_steps,
)
from swarm_chain.reference.programs.base import Inputs, ProgramEntry
from swarm_chain.reference.programs.hooks import load_hooks
from swarm_chain.reference.tensors import Tensors
from swarm_chain.reference.train import machine_kind

if TYPE_CHECKING:
    from torch import Tensor, nn

HOOKS = ("build", "batch", "loss")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainCodeWork:
    """How long and how fast is trained; `settings` are the customer's own, whole numbers and text."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    seed: Annotated[int, Field(ge=0, lt=2**53)]
    steps: Annotated[int, Field(ge=1, le=1_000_000)]
    segment_steps: Annotated[int, Field(ge=1, le=100_000)]
    learning_rate_micro: Annotated[int, Field(ge=1, le=1_000_000)]
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainCodeProgram:
    """Program of a customer's code; `first` and `compute` run it, all else does not look at it."""

    spec: JobSpec
    work: TrainCodeWork
    load: Callable[[str], Any] = load_hooks

    @property
    def units(self) -> int:
        """Number of segments."""
        return self.work.steps // self.work.segment_steps

    def first(self) -> bytes:
        """The module as it is built."""
        with repeatable(self.work.seed):
            module = self._built(self._hooks())
            link = Link(spec=self._hash(), platform=machine_kind(), tensors=_state(module))
        return link.dump()

    def source(self, unit: int) -> int:
        """Number of the content a segment starts from."""
        return unit

    def compute(self, unit: int, source: bytes) -> bytes:
        """Content `unit` + 1.

        Raises:
            InvalidInputError: the source is none, the run diverges, or the hooks are not what they should be.
            UnavailableError: the source was made on another kind of machine.
        """
        link = source_link(source, self._hash(), unit, machine_kind())
        hooks, work = self._hooks(), self.work
        with repeatable(work.seed):
            module = self._built(hooks)
            set_tensors(_state_tensors(module), _parts(link.tensors, "model", "buffer"))
            moments = _parts(link.tensors, "first", "second")

            def loss_of(step: int) -> "Tensor":
                return _scalar(hooks.loss(module, hooks.batch(self._settings(), step)))

            course = course_of(unit, work.segment_steps, work.learning_rate_micro, work.seed)
            after, loss = train_steps(course, dict(module.named_parameters()), moments, loss_of)
            return link.next(source, {**_state(module), **after}, loss)

    def _hooks(self) -> Any:
        hooks = self.load(self.spec.code)
        missing = [name for name in HOOKS if not callable(getattr(hooks, name, None))]
        if missing:
            raise invalid_spec(f"the code gives no {' and no '.join(missing)}", f"define {', '.join(HOOKS)} in code")
        return hooks

    def _built(self, hooks: Any) -> "nn.Module":
        from torch import nn

        module = hooks.build(self._settings())
        if not isinstance(module, nn.Module):
            raise InvalidInputError(
                f"build gives {type(module).__name__}, not a torch.nn.Module", code="invalid_module"
            )
        require_float32(dict(module.named_parameters()))
        return module

    def _settings(self) -> dict[str, Any]:
        return asdict(self.work)  # a copy each time: no hook can leave anything there for the next

    def _hash(self) -> Any:
        return spec_hash(self.spec.document())


def _state_tensors(module: "nn.Module") -> "dict[str, Tensor]":
    held = {f"model.{name}": tensor for name, tensor in module.named_parameters()}
    return held | {f"buffer.{name}": tensor for name, tensor in module.named_buffers()}


def _state(module: "nn.Module") -> dict[str, Any]:
    return arrays_of(_state_tensors(module))


def _parts(tensors: Tensors, *prefixes: str) -> dict[str, Any]:
    return {name: array for name, array in tensors.items() if name.partition(".")[0] in prefixes}


def _scalar(loss: Any) -> "Tensor":
    from torch import Tensor

    if not isinstance(loss, Tensor):
        raise InvalidInputError(f"loss gives {type(loss).__name__}, not a tensor", code="invalid_loss")
    return loss


def open_train_code(spec: JobSpec, _inputs: Inputs) -> TrainCodeProgram:
    """Make the program of a spec; its code is not run.

    Raises:
        InvalidInputError: `work` is not what it should be, or there is no code.
    """
    work = parse_part(TrainCodeWork, spec.work, "work")
    if not spec.code or spec.inputs:
        raise invalid_spec("swarm-train-code/1 takes code and no inputs", f"give code with {', '.join(HOOKS)}")
    if work.steps % work.segment_steps or work.steps // work.segment_steps >= MAX_CHECKPOINTS:
        raise invalid_spec(
            "steps is no multiple of segment_steps, or there are too many segments",
            f"use whole segments, fewer than {MAX_CHECKPOINTS}",
        )
    return TrainCodeProgram(spec=spec, work=work)


ENTRY = ProgramEntry(kind="train", work=TrainCodeWork, open=open_train_code)

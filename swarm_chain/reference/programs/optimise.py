"""swarm-optimise/1: smaller variants of a model, each with its loss and accuracy beside the original's.

    no input:    content 0 --segment--> … --segment--> content s, the model    as swarm-train/1
                 content s --variant--> content s + 1
                           --variant--> content s + 2 …
    one input:   content 0 --variant--> content 1, …    the model is the input, a checkpoint of the run that `train` describes

Content of a variant: {accuracyBps, bytes, lossMicro, original: {…}, platform, variant} as canonical JSON, a newline, the stored
model (swarm_chain.reference.variants); `bytes` is the length of that.
"""

import json
from dataclasses import asdict, dataclass
from math import gcd
from typing import Annotated, Any, ClassVar, Final

from pydantic import ConfigDict, Field

from swarm_chain.core.checkpoints import MAX_CHECKPOINTS
from swarm_chain.core.encoding import canonical_json, to_hex
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.jobs import STRICT, JobSpec, invalid_spec, parse_part
from swarm_chain.core.units import Hash32
from swarm_chain.reference.checkpoint import parse_checkpoint
from swarm_chain.reference.programs.base import Inputs, ProgramEntry
from swarm_chain.reference.programs.train import TrainWork
from swarm_chain.reference.spec import TrainSpec, parameter_shapes
from swarm_chain.reference.train import initial_checkpoint, machine_kind, pinned, run_segment
from swarm_chain.reference.variant_kinds import Int4, Variant

PROGRAM: Final = "swarm-optimise/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimiseWork:
    """Which model, as the run that trains it, and what is done to it."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    train: TrainWork
    variants: Annotated[tuple[Variant, ...], Field(min_length=1, max_length=32)]


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimiseProgram:
    """Program of a model and its variants; `checkpoint` is the hash of the input, if there is one."""

    train: TrainSpec
    variants: tuple[Variant, ...]
    checkpoint: Hash32 | None
    inputs: Inputs

    @property
    def trained(self) -> int:
        """Number of units that train the model."""
        return self.train.segments if self.checkpoint is None else 0

    @property
    def units(self) -> int:
        """Number of segments and variants."""
        return self.trained + len(self.variants)

    def first(self) -> bytes:
        """Checkpoint 0 of the run; with an input, which one, and on which kind of machine."""
        if self.checkpoint is None:
            return initial_checkpoint(self.train)
        return canonical_json({"checkpoint": to_hex(self.checkpoint), "platform": machine_kind(), "program": PROGRAM})

    def source(self, unit: int) -> int:
        """Number of the content before a segment, or of the model for a variant."""
        return min(unit, self.trained)

    def compute(self, unit: int, source: bytes) -> bytes:
        """A checkpoint, or a variant with its report.

        Raises:
            InvalidInputError: the source or the input is none of this run, or training diverges.
            UnavailableError: the source is of another kind of machine, or torchao is not there as it should be.
        """
        if unit < self.trained:
            if unit == 0 and source != self.first():
                self._require_here(source)
                raise InvalidInputError("content 0 is not the start of the run", code="invalid_checkpoint")
            return run_segment(self.train, source, unit)
        return _optimised(self.train, self.model(source), self.variants[unit - self.trained])

    def model(self, source: bytes) -> bytes:
        """Checkpoint of the model, from the content that variants are computed from.

        Raises:
            InvalidInputError: the source is not that content, or the input no checkpoint of the run.
            UnavailableError: the source was made on another kind of machine.
        """
        if self.checkpoint is None:
            self._require_here(source)
            if parse_checkpoint(self.train, source).index != self.trained:
                raise InvalidInputError("the source is not the trained model", code="invalid_checkpoint")
            return source
        if source != self.first():
            stated = parse_part(_Start, _json_of(source), "content 0")
            _require_kind(stated.platform)
            raise InvalidInputError("content 0 names another checkpoint", code="invalid_checkpoint")
        return self.inputs(self.checkpoint)

    def _require_here(self, source: bytes) -> None:
        _require_kind(parse_checkpoint(self.train, source).platform)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    checkpoint: str
    platform: str
    program: str


def open_optimise(spec: JobSpec, inputs: Inputs) -> OptimiseProgram:
    """Make the program of a spec.

    Raises:
        InvalidInputError: `work` names no model or no variants, or some that do not fit it.
    """
    if spec.code:
        raise invalid_spec(f"{PROGRAM} takes no code", "leave it out")
    if len(spec.input_hashes) > 1:
        raise invalid_spec(f"{PROGRAM} takes one input", "name one checkpoint of the run, or none to have it trained")
    work = parse_part(OptimiseWork, spec.work, "work")
    train = TrainSpec(**asdict(work.train))
    _check_groups(train, work.variants)
    if train.segments + len(work.variants) >= MAX_CHECKPOINTS:
        raise invalid_spec(f"a job has at most {MAX_CHECKPOINTS} contents", "use longer segments")
    checkpoint = next(iter(spec.input_hashes), None)
    return OptimiseProgram(train=train, variants=work.variants, checkpoint=checkpoint, inputs=inputs)


def _check_groups(train: TrainSpec, variants: tuple[Variant, ...]) -> None:
    common = gcd(*(shape[0] for name, shape in parameter_shapes(train) if name not in ("embed", "position")))
    for place, variant in enumerate(variants):
        if isinstance(variant, Int4) and common % variant.group:
            raise invalid_spec(
                f"work.variants.{place}: groups of {variant.group} do not divide the model's inputs",
                f"use a group that divides {common}, or a width that is a multiple of {variant.group}",
            )


def _optimised(train: TrainSpec, checkpoint: bytes, variant: Variant) -> bytes:
    import torch

    from swarm_chain.reference.reference_module import ReferenceModule
    from swarm_chain.reference.variants import make_variant, measured, stored

    with pinned():
        flat = torch.from_numpy(parse_checkpoint(train, checkpoint).state[0].copy())
        model = ReferenceModule(train, flat)
        original = _figures(measured(train, model), stored(model, None))
        make_variant(model, variant)
        file = stored(model, variant)
        figures = _figures(measured(train, model), file)
    document = {"platform": machine_kind(), "variant": asdict(variant), "original": original}
    return canonical_json(document | figures) + b"\n" + file


def _require_kind(platform: str) -> None:
    if platform != machine_kind():
        raise UnavailableError(
            f"made on {platform!r}, this machine is {machine_kind()!r}",
            fix="judge it on the same kind of machine",
            code="other_machine",
        )


def _json_of(content: bytes) -> object:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError("the source is no JSON", code="invalid_checkpoint") from error


def _figures(metrics: Any, file: bytes) -> dict[str, int]:
    return {"lossMicro": metrics.loss_micro, "accuracyBps": metrics.accuracy_bps, "bytes": len(file)}


ENTRY = ProgramEntry(kind="optimise", work=OptimiseWork, open=open_optimise)

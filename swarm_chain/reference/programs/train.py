"""swarm-train/1: a deterministic training run; a unit is a segment, a content a checkpoint."""

from dataclasses import asdict, dataclass
from typing import ClassVar

from pydantic import ConfigDict

from swarm_chain.core.jobs import STRICT, JobSpec, invalid_spec, parse_part
from swarm_chain.reference.programs.base import Inputs, ProgramEntry
from swarm_chain.reference.spec import TrainSpec
from swarm_chain.reference.train import initial_checkpoint, run_segment


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainWork:
    """Fields of a training run, as TrainSpec checks them; its size together as well."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    model: str
    seed: int
    steps: int
    segment_steps: int
    batch: int
    context: int
    vocabulary: int
    width: int
    heads: int
    layers: int
    learning_rate_micro: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainProgram:
    """Program of a TrainSpec."""

    spec: TrainSpec

    @property
    def units(self) -> int:
        """Number of segments."""
        return self.spec.segments

    def first(self) -> bytes:
        """Checkpoint 0."""
        return initial_checkpoint(self.spec)

    def source(self, unit: int) -> int:
        """Number of the checkpoint a segment starts from."""
        return unit

    def compute(self, unit: int, source: bytes) -> bytes:
        """Checkpoint `unit` + 1, as `run_segment` gives it."""
        return run_segment(self.spec, source, unit)


def open_train(spec: JobSpec, _inputs: Inputs) -> TrainProgram:
    """Make the program of a spec.

    Raises:
        InvalidInputError: `work` is no training run.
    """
    if spec.code or spec.inputs:
        raise invalid_spec("swarm-train/1 takes neither code nor inputs", "leave both out")
    return TrainProgram(spec=TrainSpec(**asdict(parse_part(TrainWork, spec.work, "work"))))


ENTRY = ProgramEntry(kind="train", work=TrainWork, open=open_train)

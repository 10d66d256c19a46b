"""swarm-train/2: a deterministic training run on several workers; a unit is a segment, a content a checkpoint."""

from dataclasses import asdict, dataclass, fields
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field

from swarm_chain.core.jobs import STRICT, JobSpec, invalid_spec, parse_part
from swarm_chain.reference.parallel import CPU, CUDA, ParallelRun, first_content, run_ranks
from swarm_chain.reference.programs.base import Inputs, ProgramEntry
from swarm_chain.reference.programs.train import TrainWork
from swarm_chain.reference.spec import MAX_SEGMENT_OPERATIONS, TrainSpec

Strategy = Literal["ddp", "fsdp"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainParallelWork:
    """Fields of a training run, as TrainSpec checks them, and how it is spread; `batch` is that of one worker.

    `strategy` says what a worker holds: "ddp" the whole model, "fsdp" its share of it. The bytes are the same.
    """

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
    workers: Annotated[int, Field(ge=1, le=64)]
    strategy: Strategy = "ddp"
    precision: Literal["fp32", "bf16"] = "fp32"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainParallelProgram:
    """Program of a ParallelRun; `strategy` is for those who run it."""

    run: ParallelRun
    strategy: Strategy

    @property
    def units(self) -> int:
        """Number of segments."""
        return self.run.train.segments

    def first(self) -> bytes:
        """Checkpoint 0."""
        return first_content(self.run)

    def source(self, unit: int) -> int:
        """Number of the checkpoint a segment starts from."""
        return unit

    def compute(self, unit: int, source: bytes) -> bytes:
        """Checkpoint `unit` + 1, as `run_ranks` gives it."""
        return run_ranks(self.run, source, unit)


def open_train_parallel(spec: JobSpec, _inputs: Inputs) -> TrainParallelProgram:
    """Make the program of a spec.

    Raises:
        InvalidInputError: `work` is no training run, is for other workers than `resources`, or too much to judge.
    """
    if spec.code or spec.inputs:
        raise invalid_spec("swarm-train/2 takes neither code nor inputs", "leave both out")
    work = parse_part(TrainParallelWork, spec.work, "work")
    if work.workers != spec.resources.workers:
        raise invalid_spec(
            f"work.workers is {work.workers}, resources.workers is {spec.resources.workers}", "set both to one number"
        )
    values = asdict(work)
    train = TrainSpec(**{field.name: values[field.name] for field in fields(TrainWork)})
    if train.segment_operations * work.workers > MAX_SEGMENT_OPERATIONS:
        raise invalid_spec(
            f"a segment of all workers may cost at most {MAX_SEGMENT_OPERATIONS} operations", "use shorter segments"
        )
    device = CUDA if spec.resources.gpus else CPU
    run = ParallelRun(train=train, workers=work.workers, precision=work.precision, device=device)
    return TrainParallelProgram(run=run, strategy=work.strategy)


ENTRY = ProgramEntry(kind="train", work=TrainParallelWork, open=open_train_parallel)

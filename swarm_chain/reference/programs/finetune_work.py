"""Fields of a fine-tuning, checked alone and together."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field

from swarm_chain.core.checkpoints import MAX_CHECKPOINT_BYTES, MAX_CHECKPOINTS
from swarm_chain.core.jobs import STRICT, HexHash, JobSpec, invalid_spec, parse_part
from swarm_chain.reference.lora import AdapterShape, Architecture, ModelShape, Start
from swarm_chain.reference.spec import MAX_SEGMENT_OPERATIONS

Size = Annotated[int, Field(ge=1, le=100_000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class FinetuneWork:
    """A base, adapters on it, and the data of both.

    `base` and `data` are content hashes of inputs. Without `base` the model is made from `seed` and trained for
    `pretrain_steps` on sequences generated from it; without `data` the adapters learn sequences generated from
    `data_seed`. With `base_bits` 4 the adapters learn on a base of 4 bits a weight, `base_group` inputs to a scale.
    Data are tensors "train" and "held_out", (n, context + 1) int64. Learning rates are in millionths.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    architecture: Architecture
    seed: Annotated[int, Field(ge=0, lt=2**53)]
    vocabulary: Annotated[int, Field(ge=2, le=4096)]
    context: Annotated[int, Field(ge=2, le=512)]
    width: Annotated[int, Field(ge=8, le=512)]
    heads: Annotated[int, Field(ge=1, le=16)]
    layers: Annotated[int, Field(ge=1, le=16)]
    rank: Annotated[int, Field(ge=1, le=64)]
    alpha: Annotated[int, Field(ge=1, le=1024)]
    batch: Annotated[int, Field(ge=1, le=1024)]
    steps: Size
    segment_steps: Size
    learning_rate_micro: Annotated[int, Field(ge=1, le=1_000_000)]
    pretrain_steps: Annotated[int, Field(ge=0, le=100_000)] = 0
    pretrain_rate_micro: Annotated[int, Field(ge=1, le=1_000_000)] = 1000
    base_bits: Literal[4, 32] = 32
    base_group: Literal[8, 16, 32, 64, 128] = 32
    data_seed: Annotated[int, Field(ge=0, lt=2**53)] = 0
    base: HexHash | None = None
    data: HexHash | None = None

    @property
    def model(self) -> ModelShape:
        """Sizes of the base."""
        return ModelShape(
            architecture=self.architecture,
            vocabulary=self.vocabulary,
            context=self.context,
            width=self.width,
            heads=self.heads,
            layers=self.layers,
        )

    @property
    def adapters(self) -> AdapterShape:
        """Sizes of the adapters."""
        return AdapterShape(rank=self.rank, alpha=self.alpha)

    @property
    def start(self) -> Start:
        """What starting values come from."""
        return Start(seed=self.seed, width=self.width)

    @property
    def pretrain_segments(self) -> int:
        """Segments before the adapters'."""
        return self.pretrain_steps // self.segment_steps

    @property
    def segments(self) -> int:
        """Segments of base and adapters."""
        return self.pretrain_segments + self.steps // self.segment_steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequences:
    """What is generated to be learned."""

    seed: int
    batch: int
    context: int
    vocabulary: int


def parse_finetune_work(spec: JobSpec) -> FinetuneWork:
    """The work of a spec.

    Raises:
        InvalidInputError: it is not what it should be, or too much to keep or to judge.
    """
    work = parse_part(FinetuneWork, spec.work, "work")
    named = {content for content in (work.base, work.data) if content is not None}
    parameters = work.model.most_parameters
    operations = 6 * parameters * work.batch * work.context * work.segment_steps
    rules = {
        "swarm-finetune/1 takes no code": not spec.code,
        "inputs must be work.base and work.data, as far as they are given": set(spec.inputs) == named,
        "a base that is an input is not trained before: leave pretrain_steps out": not (
            work.base and work.pretrain_steps
        ),
        "steps and pretrain_steps must be multiples of segment_steps": not (
            work.steps % work.segment_steps or work.pretrain_steps % work.segment_steps
        ),
        "a base of 4 bits must be a llama: gpt2 keeps its matrices in modules that torchao does not know": not (
            work.base_bits == 4 and work.architecture == "gpt2"
        ),
        "base_group must divide width": work.width % work.base_group == 0 or work.base_bits == 32,
        "width must be an even multiple of heads": work.width % (2 * work.heads) == 0,
        f"a job has at most {MAX_CHECKPOINTS} contents; use longer segments": work.segments + 2 <= MAX_CHECKPOINTS,
        f"a segment may cost at most {MAX_SEGMENT_OPERATIONS} operations; use shorter ones": operations
        <= MAX_SEGMENT_OPERATIONS,
        f"a content may have at most {MAX_CHECKPOINT_BYTES} bytes; use a smaller model": 13 * parameters + 65_536
        <= MAX_CHECKPOINT_BYTES,
    }
    broken = [rule for rule, holds in rules.items() if not holds]
    if broken:
        raise invalid_spec("; ".join(broken), "change the spec accordingly")
    return work

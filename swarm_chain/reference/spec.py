"""Spec of a training job: what a customer writes, checked as a whole before anything runs. Integers only."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import prod
from typing import Final

from swarm_chain.core.checkpoints import MAX_CHECKPOINT_BYTES, MAX_CHECKPOINTS
from swarm_chain.core.errors import InvalidInputError

KIND: Final = "train"
PROGRAM: Final = "swarm-train/1"
MODELS: Final = ("transformer", "mlp")

# Lowest and highest value of each integer field.
LIMITS: Final[Mapping[str, tuple[int, int]]] = {
    "seed": (0, 2**53 - 1),
    "steps": (1, 1_000_000),
    "segment_steps": (1, 100_000),
    "batch": (1, 1024),
    "context": (2, 256),
    "vocabulary": (2, 256),
    "width": (8, 512),
    "heads": (1, 8),
    "layers": (1, 16),
    "learning_rate_micro": (1, 1_000_000),
}
MAX_TOKENS_PER_STEP = 16_384
# A judge replays a drawn segment on one thread; this is a few minutes of it.
MAX_SEGMENT_OPERATIONS = 10**13
STATE_COPIES = 3  # parameters and the optimiser's two moments


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainSpec:
    """A deterministic training run: `steps` of Adam on sequences generated from `seed`, one checkpoint a segment.

    `model` "transformer" predicts every next token of a sequence, "mlp" the one after `context` tokens.
    `learning_rate_micro` is in millionths.
    """

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

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise _invalid(f"model {self.model!r} is unknown", f"choose one of {', '.join(MODELS)}")
        for name, (low, high) in LIMITS.items():
            value = getattr(self, name)
            if type(value) is not int or not low <= value <= high:
                raise _invalid(f"{name} = {value!r} is out of range", f"use an integer from {low} to {high}")
        _check_together(self)

    @property
    def segments(self) -> int:
        """Number of segments; there is one checkpoint more."""
        return self.steps // self.segment_steps

    @property
    def parameter_count(self) -> int:
        """Numbers the model learns."""
        return sum(prod(shape) for _, shape in parameter_shapes(self))

    @property
    def segment_operations(self) -> int:
        """Multiplications and additions of a segment, roughly: what a judge of it spends."""
        return 6 * self.parameter_count * self.batch * self.context * self.segment_steps

    def document(self) -> dict[str, object]:
        """The spec as the JSON document a customer posts."""
        return {"kind": KIND, "program": PROGRAM, **asdict(self)}


def parse_train_spec(document: object) -> TrainSpec:
    """Check a posted spec.

    Args:
        document: parsed JSON; exactly the fields of TrainSpec, `kind` and `program`.

    Returns:
        The spec; its `document()` equals the input.

    Raises:
        InvalidInputError: not a mapping, a field missing, unknown, of the wrong type or out of range,
            or a run too big to judge.
    """
    if not isinstance(document, Mapping):
        raise _invalid("a job spec must be a JSON object", "post the fields of a training spec")
    wanted = {"kind", "program", *TrainSpec.__slots__}
    missing, unknown = wanted - document.keys(), document.keys() - wanted
    if missing or unknown:
        raise _invalid(
            f"the spec misses {sorted(missing)} and has unknown {sorted(map(str, unknown))}",
            f"give exactly {', '.join(sorted(wanted))}",
        )
    if document["kind"] != KIND or document["program"] != PROGRAM:
        raise _invalid("the spec is of another kind or program", f'set kind to "{KIND}" and program to "{PROGRAM}"')
    return TrainSpec(**{name: document[name] for name in TrainSpec.__slots__})


def parameter_shapes(spec: TrainSpec) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Name and shape of every parameter, in the order of the flat state; the first axis is the fan-in of a matrix."""
    vocabulary, width, context = spec.vocabulary, spec.width, spec.context
    if spec.model == "mlp":
        hidden = tuple((f"hidden{layer}", (width, width)) for layer in range(1, spec.layers))
        return (
            ("embed", (vocabulary, width)),
            ("hidden0", (context * width, width)),
            *hidden,
            ("head", (width, vocabulary)),
        )
    blocks = tuple(
        (f"{name}{layer}", shape)
        for layer in range(spec.layers)
        for name, shape in (
            ("qkv", (width, 3 * width)),
            ("out", (width, width)),
            ("up", (width, 4 * width)),
            ("down", (4 * width, width)),
        )
    )
    return (("embed", (vocabulary, width)), ("position", (context, width)), *blocks, ("head", (width, vocabulary)))


def _check_together(spec: TrainSpec) -> None:
    parameters, tokens = spec.parameter_count, spec.batch * spec.context
    rules = {
        "steps must be a multiple of segment_steps": spec.steps % spec.segment_steps == 0,
        f"a job has at most {MAX_CHECKPOINTS} checkpoints; use longer segments": spec.segments < MAX_CHECKPOINTS,
        "width must be a multiple of heads": spec.width % spec.heads == 0,
        f"batch times context must be at most {MAX_TOKENS_PER_STEP}": tokens <= MAX_TOKENS_PER_STEP,
        f"a segment may cost at most {MAX_SEGMENT_OPERATIONS} operations; use shorter ones": spec.segment_operations
        <= MAX_SEGMENT_OPERATIONS,
        f"a checkpoint may have at most {MAX_CHECKPOINT_BYTES} bytes; use a smaller model": 4
        * STATE_COPIES
        * parameters
        + 1024
        <= MAX_CHECKPOINT_BYTES,
    }
    broken = [rule for rule, holds in rules.items() if not holds]
    if broken:
        raise _invalid("; ".join(broken), "change the spec accordingly")


def _invalid(message: str, fix: str) -> InvalidInputError:
    return InvalidInputError(message, fix=fix, code="invalid_spec")

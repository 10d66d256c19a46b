"""The exact integer token model as jobs name it: its sizes, what it costs, and its weights, made once a process."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, ClassVar, Final

from pydantic import ConfigDict, Field

from swarm_chain.core.encoding import keccak, words
from swarm_chain.core.jobs import STRICT, invalid_spec
from swarm_chain.core.serving import MAX_CONTEXT
from swarm_chain.core.units import Hash32
from swarm_chain.reference.tokenmodel import TokenModel, build_model

# A judge computes a drawn unit again on one thread; this is a few minutes of it.
MAX_UNIT_OPERATIONS: Final = 10**13
_TAG_MODEL = keccak(b"swarm.job.model.v1")
_TAG_ROW = keccak(b"swarm.job.row.v1")
_KEPT_MODELS = 2

Seed = Annotated[int, Field(ge=0, lt=2**53)]
TokenCount = Annotated[int, Field(ge=1, le=MAX_CONTEXT)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelWork:
    """Sizes of a model; products are exact up to this width. With a seed they give its weights."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    width: Annotated[int, Field(ge=8, le=1024, multiple_of=8)]
    layers: Annotated[int, Field(ge=1, le=16)]
    vocabulary: Annotated[int, Field(ge=2, le=32_768)]

    def operations(self, context: int) -> int:
        """Multiplications and additions that reading and writing `context` tokens cost at most."""
        return 2 * context * self.width * (2 * self.width * self.layers + self.vocabulary)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnRows:
    """Prompts made from a seed: `tokens` ids below `vocabulary` each."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    seed: Seed
    tokens: TokenCount
    vocabulary: Annotated[int, Field(ge=2, le=32_768)]

    def row(self, number: int) -> list[int]:
        """Prompt of a row: 4-byte words of keccak256(abi.encode(tag, seed, number, block)), modulo the vocabulary."""
        blocks = (keccak(words(_TAG_ROW, self.seed, number, block)) for block in range(-(-self.tokens // 8)))
        stream = b"".join(blocks)
        return [int.from_bytes(stream[at : at + 4], "big") % self.vocabulary for at in range(0, 4 * self.tokens, 4)]


def seed_hash(seed: int) -> Hash32:
    """Seed of the weights of a job's model."""
    return keccak(words(_TAG_MODEL, seed))


@lru_cache(maxsize=_KEPT_MODELS)
def model_of(sizes: ModelWork, seed: int) -> TokenModel:
    """The model of a seed; a process keeps the last two."""
    return build_model(sizes, seed_hash(seed))


def require_affordable(operations: int) -> None:
    """Refuse units a judge could not compute again in time.

    Raises:
        InvalidInputError: a unit costs more than MAX_UNIT_OPERATIONS.
    """
    if operations > MAX_UNIT_OPERATIONS:
        raise invalid_spec(
            f"a unit costs {operations} operations, and {MAX_UNIT_OPERATIONS} are the most",
            "use smaller units, shorter texts or a smaller model",
        )

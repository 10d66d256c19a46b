"""What can be done to a model to make it smaller, as a job asks for it. Pure."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field

from swarm_chain.core.jobs import STRICT


@dataclass(frozen=True, slots=True, kw_only=True)
class Int8:
    """Weights of 8 bits, one scale an output."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    method: Literal["int8"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Int4:
    """Weights of 4 bits, one scale for `group` inputs of an output."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    method: Literal["int4"]
    group: Literal[8, 16, 32, 64, 128, 256] = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Prune:
    """The `pruned_bps` of all weights that are least in magnitude become zero, whichever matrix they are in."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    method: Literal["prune"]
    pruned_bps: Annotated[int, Field(ge=1, le=9_900)]


Variant = Annotated[Int8 | Int4 | Prune, Field(discriminator="method")]

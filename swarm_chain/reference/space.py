"""Spaces of whole numbers that a search may try. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field

from swarm_chain.core.jobs import STRICT, invalid_spec

Whole = Annotated[int, Field(ge=-(2**53), le=2**53)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """`low`, `low` + `step`, … up to `high`; `log`: small numbers are tried as often as large ones."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    low: Whole
    high: Whole
    step: Annotated[int, Field(ge=1)] = 1
    log: bool = False

    def __contains__(self, value: int) -> bool:
        return self.low <= value <= self.high and (value - self.low) % self.step == 0

    def count(self) -> int:
        """How many numbers there are."""
        return (self.high - self.low) // self.step + 1

    def every(self) -> range:
        """The numbers."""
        return range(self.low, self.high + 1, self.step)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Some numbers that have no order."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    choices: Annotated[tuple[Whole, ...], Field(min_length=1, max_length=256)]

    def __contains__(self, value: int) -> bool:
        return value in self.choices

    def count(self) -> int:
        """How many numbers there are."""
        return len(self.choices)

    def every(self) -> tuple[int, ...]:
        """The numbers."""
        return self.choices


Space = Mapping[str, Range | Choices]


def check_space(space: Space) -> None:
    """Check what the types of a space leave open.

    Raises:
        InvalidInputError: empty, or a parameter that has no number or cannot be searched as it says.
    """
    if not space:
        raise invalid_spec("work.space is empty", "name at least one parameter to search over")
    for name, values in space.items():
        where = f"work.space.{name}"
        if isinstance(values, Choices):
            if len(set(values.choices)) < len(values.choices):
                raise invalid_spec(f"{where} names a choice twice", "name each choice once")
        elif values.low > values.high:
            raise invalid_spec(f"{where}: low is above high", "set low to at most high")
        elif (values.high - values.low) % values.step:
            nearest = values.high - (values.high - values.low) % values.step
            raise invalid_spec(f"{where}: high is no whole number of steps above low", f"set high to {nearest}")
        elif values.log and (values.low < 1 or values.step != 1):
            raise invalid_spec(f"{where}: log needs low >= 1 and no step", "leave out log, or start at 1 or more")


def is_in(space: Space, parameters: Mapping[str, int]) -> bool:
    """Tell whether parameters are those of a space, each with one of its numbers."""
    return parameters.keys() == space.keys() and all(parameters[name] in values for name, values in space.items())

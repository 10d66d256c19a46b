"""What a program is to those who run and judge it.

    content 0 --unit 0--> content 1 --unit 1--> content 2 …      chained: each unit starts from the content before it
    content 0 --unit 0--> content 1                              not chained: all units start from content 0, or from
              --unit 1--> content 2 …                            what their own content says of itself

The receipt names the tree over the contents; a judge draws units afterwards, is handed the content each is computed from
(its `source`), checked against the tree, and compares the hash of what it computes with the tree's.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.jobs import JobSpec
from swarm_chain.core.units import Hash32

# Bytes of an input by its content hash; InvalidInputError if the spec names no such input or it is not to be had.
Inputs = Callable[[Hash32], bytes]


class Program(Protocol):
    """A job that is checked and ready to be computed. Its units give the same bytes wherever they run."""

    @property
    def units(self) -> int:
        """Number of units; there is one content more."""
        ...

    def first(self) -> bytes:
        """Content 0: whoever knows spec and inputs makes the same bytes."""
        ...

    def source(self, unit: int) -> int:
        """Number of the content that a unit is computed from: `unit` itself if chained, 0, `unit` + 1 where a content states
        its own question (an answer its request), or `units` where the last content states all of them (a study its trials)."""
        ...

    def compute(self, unit: int, source: bytes) -> bytes:
        """Content `unit` + 1 as this machine computes it from the source.

        Raises:
            InvalidInputError: the source is none, or the customer's work fails.
            UnavailableError: this machine is of another kind than the one that made the source.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramEntry:
    """A program by its name: kind of its jobs, dataclass of `work`, and what opens it."""

    kind: str
    work: type[object]
    open: Callable[[JobSpec, Inputs], Program]


def inputs_of(blobs: Mapping[Hash32, bytes]) -> Inputs:
    """Inputs that are at hand.

    Args:
        blobs: bytes by content hash.
    """

    def find(content: Hash32) -> bytes:
        if content not in blobs:
            raise InvalidInputError(f"input 0x{content.hex()} is not there", code="unknown_input")
        return blobs[content]

    return find

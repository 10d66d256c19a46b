"""Contents of a chain of named tensors: each names its job, the content before it and the kind of machine.

chain.spec      (32,) uint8    hash of the job's spec
chain.previous  (32,) uint8    hash of the content before it; zeros in the first
chain.index     ()    int64    number of the content
chain.loss      ()    int64    training loss at its end, millionths; 0 in the first
chain.platform  (n,)  uint8    ASCII: what decides the last bit of a float
…                              the program's own
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.units import ZERO_HASH, Hash32
from swarm_chain.reference.tensors import Tensors, dump_tensors, parse_tensors, part_of, prefixed

_FIELDS: Final = {"spec": np.uint8, "previous": np.uint8, "index": np.int64, "loss": np.int64, "platform": np.uint8}


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A content: its place in the chain, and the program's tensors."""

    spec: Hash32
    platform: str
    tensors: Tensors
    index: int = 0
    previous: Hash32 = ZERO_HASH
    loss_micro: int = 0

    def dump(self) -> bytes:
        """The content.

        Raises:
            InvalidInputError: a number of it is not finite.
        """
        for name, array in self.tensors.items():
            if not np.isfinite(array).all():
                raise InvalidInputError(
                    f"{name} is not finite any more after content {self.index - 1}",
                    fix="lower learning_rate_micro",
                    code="diverged",
                )
        fields: dict[str, NDArray[Any]] = {
            "spec": np.frombuffer(self.spec, np.uint8),
            "previous": np.frombuffer(self.previous, np.uint8),
            "index": np.array(self.index, np.int64),
            "loss": np.array(self.loss_micro, np.int64),
            "platform": np.frombuffer(self.platform.encode("ascii"), np.uint8),
        }
        return dump_tensors({**self.tensors, **prefixed("chain", fields)})

    def next(self, content: bytes, tensors: Tensors, loss_micro: int = 0) -> bytes:
        """The content after this one.

        Args:
            content: bytes of this one.
            tensors: the program's, after it.
            loss_micro: training loss, millionths.
        """
        after = Link(
            spec=self.spec,
            platform=self.platform,
            tensors=tensors,
            index=self.index + 1,
            previous=content_hash(content),
            loss_micro=loss_micro,
        )
        return after.dump()


def parse_link(content: bytes) -> Link:
    """Read a content.

    Raises:
        InvalidInputError: it is none.
    """
    tensors = parse_tensors(content)
    fields = part_of(tensors, "chain")
    if {name: array.dtype for name, array in fields.items()} != {
        name: np.dtype(kind) for name, kind in _FIELDS.items()
    }:
        raise _invalid("the bytes are no content of a chain")
    if [fields[name].shape for name in ("spec", "previous", "index", "loss")] != [(32,), (32,), (), ()]:
        raise _invalid("the head of the content has other sizes")
    platform = fields["platform"].tobytes()
    return Link(
        spec=Hash32(fields["spec"].tobytes()),
        previous=Hash32(fields["previous"].tobytes()),
        index=int(fields["index"]),
        loss_micro=int(fields["loss"]),
        platform=platform.decode("ascii") if platform.isascii() else "",
        tensors={name: array for name, array in tensors.items() if not name.startswith("chain.")},
    )


def source_link(content: bytes, spec: Hash32, index: int, platform: str) -> Link:
    """Read what a unit of a chain is computed from.

    Args:
        content: bytes from anybody.
        spec: hash of the job's spec.
        index: number that the content must have.
        platform: kind of this machine.

    Raises:
        InvalidInputError: it is none, or another one.
        UnavailableError: it was made on another kind of machine.
    """
    link = parse_link(content)
    if link.spec != spec or link.index != index:
        raise _invalid(f"this is content {link.index} of another chain or place, not {index} of this job")
    if link.platform != platform:
        raise UnavailableError(
            f"made on {link.platform!r}, this machine is {platform!r}",
            fix="replay on the same kind of machine",
            code="other_machine",
        )
    return link


def micro(value: float) -> int:
    """A measured number in millionths, as contents hold it; InvalidInputError if it is not finite."""
    if not np.isfinite(value):
        raise InvalidInputError("the loss is not finite", fix="lower learning_rate_micro", code="diverged")
    return round(value * 1_000_000)


def scalar(value: int) -> NDArray[Any]:
    """A whole number as a tensor."""
    return np.array(value, np.int64)


def _invalid(message: str) -> InvalidInputError:
    return InvalidInputError(message, fix="hand in the bytes the program wrote", code="invalid_checkpoint")

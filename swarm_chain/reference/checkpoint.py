"""Bytes of a training checkpoint: everything the next segment needs, and nothing that could be written in two ways.

    offset  size  field
    0       8     "SWARMCK1"
    8       32    spec hash
    40      32    hash of the content before it; zero for the first
    72      4     index, big-endian
    76      4     mean loss of the segment's last step, float32 bits, big-endian
    80      64    platform the numbers were made on, ASCII, padded with zeros
    144     12·p  parameters, first moment, second moment: p float32 each, little-endian

The length follows from the spec, so a parser never allocates what a sender asks for.
"""

from dataclasses import dataclass
from math import isfinite, prod
from struct import unpack

import numpy as np
from numpy.typing import NDArray

from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.jobs import spec_hash
from swarm_chain.core.units import ZERO_HASH, Hash32
from swarm_chain.reference.data import initial_parameters
from swarm_chain.reference.spec import STATE_COPIES, TrainSpec, parameter_shapes

MAGIC = b"SWARMCK1"
HEADER_BYTES = 144
PLATFORM_BYTES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """State of a run before segment `index`. `state` is (3, p) float32: parameters and both moments of Adam."""

    spec: Hash32
    previous: Hash32
    index: int
    loss_bits: bytes
    platform: str
    state: NDArray[np.float32]


def first_checkpoint(spec: TrainSpec, platform: str) -> bytes:
    """Content of checkpoint 0 as a kind of machine writes it; every other byte follows from the spec alone.

    Args:
        spec: the run.
        platform: what `machine_kind` says there.
    """
    shapes = parameter_shapes(spec)
    sizes = tuple((prod(shape), shape[0] if name != "embed" else shape[1]) for name, shape in shapes)
    state = np.zeros((STATE_COPIES, spec.parameter_count), dtype=np.float32)
    state[0] = initial_parameters(spec, sizes)
    return dump_checkpoint(
        Checkpoint(
            spec=spec_hash(spec.document()),
            previous=ZERO_HASH,
            index=0,
            loss_bits=bytes(4),
            platform=platform,
            state=state,
        )
    )


def dump_checkpoint(checkpoint: Checkpoint) -> bytes:
    """Write a checkpoint as its only byte string."""
    platform = checkpoint.platform.encode("ascii").ljust(PLATFORM_BYTES, b"\0")
    index = checkpoint.index.to_bytes(4, "big")
    header = MAGIC + checkpoint.spec + checkpoint.previous + index + checkpoint.loss_bits + platform
    return header + checkpoint.state.astype("<f4", copy=False).tobytes()


def parse_checkpoint(spec: TrainSpec, content: bytes) -> Checkpoint:
    """Read a checkpoint of a run.

    Args:
        spec: the run; fixes the length.
        content: bytes from anybody.

    Raises:
        InvalidInputError: wrong length, header, run or index, or a number that is not finite.
    """
    parameters = spec.parameter_count
    expected = HEADER_BYTES + 4 * STATE_COPIES * parameters
    if len(content) != expected or content[:8] != MAGIC:
        raise _invalid(f"{len(content)} bytes are no checkpoint of this run, which has {expected}")
    state = np.frombuffer(content, dtype="<f4", offset=HEADER_BYTES).reshape(STATE_COPIES, parameters)
    platform = content[80:HEADER_BYTES].rstrip(b"\0")
    checkpoint = Checkpoint(
        spec=Hash32(content[8:40]),
        previous=Hash32(content[40:72]),
        index=int.from_bytes(content[72:76], "big"),
        loss_bits=content[76:80],
        platform=platform.decode("ascii") if platform.isascii() else "",
        state=state,
    )
    _check(spec, checkpoint)
    return checkpoint


def names_previous(spec: TrainSpec, content: bytes, previous: bytes) -> bool:
    """Tell whether a checkpoint names the content before it: the chain of a run."""
    return parse_checkpoint(spec, content).previous == content_hash(previous)


def loss_micro(checkpoint: Checkpoint) -> int:
    """Training loss at the end of the segment before a checkpoint, millionths of a nat."""
    return round(_loss(checkpoint) * 1_000_000)


def _check(spec: TrainSpec, checkpoint: Checkpoint) -> None:
    if checkpoint.spec != spec_hash(spec.document()):
        raise _invalid("the checkpoint belongs to another spec")
    if checkpoint.index > spec.segments:
        raise _invalid(f"the run has no checkpoint {checkpoint.index}")
    if not np.isfinite(checkpoint.state).all() or not isfinite(_loss(checkpoint)):
        raise _invalid("the checkpoint holds numbers that are not finite")


def _loss(checkpoint: Checkpoint) -> float:
    (loss,) = unpack(">f", checkpoint.loss_bits)
    return float(loss)


def _invalid(message: str) -> InvalidInputError:
    return InvalidInputError(message, fix="hand in the bytes the reference program wrote", code="invalid_checkpoint")

"""Named tensors as the only byte string they have.

offset  size  field
0       8     "SWARMTN1"
8       4     number of tensors, big-endian
then each tensor, ascending by name:
0       2     length n of the name, big-endian
2       n     name, ASCII: letters, digits, "_", "." and "-"
        1     type: 0 float32, 1 int64, 2 uint8
        1     number of axes d, at most 8
        4·d   sizes of the axes, big-endian
        …     elements, the last axis closest, little-endian
"""

import re
from collections.abc import Mapping
from math import prod
from struct import unpack_from
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from swarm_chain.core.errors import InvalidInputError

Tensors = Mapping[str, NDArray[Any]]

MAGIC: Final = b"SWARMTN1"
TYPES: Final = ("<f4", "<i8", "|u1")
MAX_AXES: Final = 8
MAX_NAME_BYTES: Final = 256
_NAME = re.compile(r"[A-Za-z0-9_.-]+")


def dump_tensors(tensors: Tensors) -> bytes:
    """Write tensors.

    Args:
        tensors: arrays of float32, int64 or uint8 by name.

    Raises:
        InvalidInputError: a name or an array that cannot be written.
    """
    parts = [_dumped(name, tensors[name]) for name in sorted(tensors)]
    return MAGIC + len(parts).to_bytes(4, "big") + b"".join(parts)


def parse_tensors(content: bytes) -> dict[str, NDArray[Any]]:
    """Read tensors; `dump_tensors` of what it gives are the same bytes.

    Args:
        content: bytes from anybody.

    Returns:
        Arrays by name, in native byte order, of their own memory.

    Raises:
        InvalidInputError: anything that `dump_tensors` would have written otherwise.
    """
    if content[:8] != MAGIC or len(content) < 12:
        raise _invalid(f"{len(content)} bytes do not begin as tensors do")
    found: dict[str, NDArray[Any]] = {}
    at, before = 12, ""
    for _ in range(int.from_bytes(content[8:12], "big")):
        name, array, at = _parsed(content, at)
        if name <= before:
            raise _invalid(f"tensor {name!r} comes after {before!r}")
        found[name], before = array, name
    if at != len(content):
        raise _invalid(f"{len(content) - at} bytes are left over")
    return found


def part_of(tensors: Tensors, prefix: str) -> dict[str, NDArray[Any]]:
    """Tensors whose name begins with a prefix and a dot, by the rest of it."""
    start = f"{prefix}."
    return {name.removeprefix(start): array for name, array in tensors.items() if name.startswith(start)}


def prefixed(prefix: str, tensors: Tensors) -> dict[str, NDArray[Any]]:
    """Tensors under names that begin with a prefix and a dot."""
    return {f"{prefix}.{name}": array for name, array in tensors.items()}


def _dumped(name: str, array: NDArray[Any]) -> bytes:
    little = array.dtype.newbyteorder("<").str
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME_BYTES:
        raise _invalid(f"{name!r} is no name of a tensor")
    if little not in TYPES or array.ndim > MAX_AXES:
        raise _invalid(f"tensor {name!r} is {array.dtype} with {array.ndim} axes")
    sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
    head = len(name).to_bytes(2, "big") + name.encode("ascii") + bytes([TYPES.index(little), array.ndim])
    return head + sizes + np.ascontiguousarray(array).astype(little, copy=False).tobytes()


def _parsed(content: bytes, at: int) -> tuple[str, NDArray[Any], int]:
    length = int.from_bytes(_piece(content, at, 2), "big")
    raw = _piece(content, at + 2, length)
    name = raw.decode("ascii") if raw.isascii() else ""
    if not _NAME.fullmatch(name) or length > MAX_NAME_BYTES:
        raise _invalid(f"{raw!r} is no name of a tensor")
    at += 2 + length
    kind, axes = _piece(content, at, 2)
    if kind >= len(TYPES) or axes > MAX_AXES:
        raise _invalid(f"tensor {name!r} has type {kind} and {axes} axes")
    shape: tuple[int, ...] = unpack_from(f">{axes}I", _piece(content, at + 2, 4 * axes))
    at += 2 + 4 * axes
    dtype = np.dtype(TYPES[kind])
    data = _piece(content, at, prod(shape) * dtype.itemsize)
    array = np.frombuffer(data, dtype).reshape(shape).astype(dtype.newbyteorder("="))
    return name, array, at + len(data)


def _piece(content: bytes, at: int, size: int) -> bytes:
    if at + size > len(content):
        raise _invalid(f"{len(content)} bytes end within a tensor")
    return content[at : at + size]


def _invalid(message: str) -> InvalidInputError:
    return InvalidInputError(message, fix="write tensors as swarm_chain.reference.tensors does", code="invalid_tensors")

"""Byte strings on a pipe: each 8 bytes of length, big-endian, then the bytes. Nothing that is read is ever executed."""

from collections.abc import Iterable
from typing import BinaryIO, Final

_LENGTH: Final = 8


def framed(parts: Iterable[bytes]) -> bytes:
    """The parts as they are written."""
    return b"".join(len(part).to_bytes(_LENGTH, "big") + part for part in parts)


def split_frame(buffer: bytes | bytearray) -> bytes | None:
    """The first part of what was read so far; None if it is not there whole."""
    end = _LENGTH + int.from_bytes(buffer[:_LENGTH], "big")
    return bytes(buffer[_LENGTH:end]) if len(buffer) >= max(_LENGTH, end) else None


def announced(buffer: bytes | bytearray) -> int:
    """Bytes the first part says it has; 0 while that is not read."""
    return int.from_bytes(buffer[:_LENGTH], "big") if len(buffer) >= _LENGTH else 0


def after_frame(buffer: bytearray) -> bytearray:
    """What was read behind the first part."""
    return buffer[_LENGTH + announced(buffer) :]


def read_frame(stream: BinaryIO) -> bytes:
    """The next part of a stream.

    Raises:
        EOFError: the stream ended before it.
    """
    length = int.from_bytes(_exactly(stream, _LENGTH), "big")
    return _exactly(stream, length)


def _exactly(stream: BinaryIO, count: int) -> bytes:
    found = stream.read(count)
    if len(found) < count:
        raise EOFError("the pipe ended")
    return found

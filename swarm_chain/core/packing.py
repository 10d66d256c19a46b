"""Bodies made smaller for the wire (HTTP's Content-Encoding deflate, RFC 9110 section 8.4.1.2), where that is a gain. Pure.

body --sample--> share that is left --gain_us, with measured rates--> packed, or sent as it is
"""

import zlib
from collections.abc import Iterator
from typing import Final

from swarm_chain.core.errors import InvalidInputError

DEFLATE: Final = "deflate"
LEVEL: Final = 1  # weights are noise but for their exponents: higher levels cost ten times as much for a percent
STEP_BYTES: Final = 1 << 18  # that unpacking gives at once
_SPOTS, _SPOT_BYTES = 4, 1 << 15
BPS: Final = 10_000
_US: Final = 1_000_000


def sample_of(body: bytes) -> bytes:
    """Pieces from all over a body: 128 KiB at most."""
    if len(body) <= _SPOTS * _SPOT_BYTES:
        return body
    stride = (len(body) - _SPOT_BYTES) // (_SPOTS - 1)
    return b"".join(body[spot * stride : spot * stride + _SPOT_BYTES] for spot in range(_SPOTS))


def packed(body: bytes) -> bytes:
    """A body as zlib has it."""
    return zlib.compress(body, LEVEL)


def gain_us(size: int, left_bps: int, pack_rate: int, line_rate: int) -> int:
    """Microseconds that packing a body saves; negative where it loses.

    Args:
        size: bytes of the body.
        left_bps: of it that are left after packing.
        pack_rate: bytes/s that packing takes in, at least 1.
        line_rate: bytes/s of the line, at least 1.
    """
    return size * (BPS - left_bps) * _US // (BPS * line_rate) - size * _US // pack_rate


class Unpacker:
    """Takes a packed body piece by piece; gives at most STEP_BYTES at once, whatever a piece claims to hold."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj()

    def add(self, piece: bytes) -> Iterator[bytes]:
        """What a piece unpacks to.

        Raises:
            InvalidInputError: it is no deflate, or bytes follow its end.
        """
        try:
            while piece and not self._stream.eof:
                yield self._stream.decompress(piece, STEP_BYTES)
                piece = self._stream.unconsumed_tail
        except zlib.error as error:
            raise _broken("is no deflate") from error
        if piece or self._stream.unused_data:
            raise _broken("goes on after its end")

    def close(self) -> None:
        """Says that no more comes.

        Raises:
            InvalidInputError: something is missing.
        """
        if not self._stream.eof:
            raise _broken("is cut short")


def _broken(how: str) -> InvalidInputError:
    return InvalidInputError(f"the packed body {how}", fix="send it again, or as it is", code="bad_encoding")

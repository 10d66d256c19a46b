"""A content goes packed where the line is slow enough and the content yields, and as it is everywhere else."""

import pytest

from node.gateways.packing import MeasuredLine
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.packing import STEP_BYTES, Unpacker, gain_us, packed, sample_of

SECOND = 1_000_000_000
NOISE = b"".join(keccak(number.to_bytes(4, "big")) for number in range(10_000))
ZEROS = bytes(320_000)


class Line:
    """A line of so many bytes/s, on a clock that nothing but the line and packing moves.

    Args:
        rate: bytes/s.
        pack_ns: that packing a sample takes.
    """

    def __init__(self, rate: int, pack_ns: int = 1_000_000) -> None:
        self.now, self.rate, self.pack_ns = 0, rate, pack_ns
        self.sent: list[tuple[int, str | None]] = []

    def now_ns(self) -> int:
        """Time; packing is what happens between two looks."""
        self.now += self.pack_ns
        return self.now

    def put(self, wire: bytes, encoding: str | None) -> None:
        """Takes its time."""
        self.sent.append((len(wire), encoding))
        self.now += len(wire) * SECOND // self.rate


def sent(line: Line, *bodies: bytes) -> list[str | None]:
    """Encodings in which bodies went over a line."""
    measured = MeasuredLine(line.now_ns)
    for body in bodies:
        measured.send(body, line.put)
    return [encoding for _, encoding in line.sent]


def test_content_when_the_line_is_slow_then_packed_from_the_second_on() -> None:
    line = Line(rate=1_000_000)
    assert sent(line, ZEROS, ZEROS, ZEROS) == [None, "deflate", "deflate"]
    assert line.sent[1][0] < len(ZEROS) // 100


def test_content_when_it_is_noise_then_never_packed() -> None:
    assert sent(Line(rate=1_000_000), NOISE, NOISE) == [None, None]


def test_content_when_the_line_is_faster_than_packing_then_never_packed() -> None:
    assert sent(Line(rate=10**10, pack_ns=10_000_000), ZEROS, ZEROS) == [None, None]


def test_content_when_tiny_then_neither_packed_nor_taken_for_a_measure() -> None:
    assert sent(Line(rate=1_000_000), b"few", ZEROS, ZEROS) == [None, None, "deflate"]


def test_gain_is_what_the_line_saves_less_what_packing_takes() -> None:
    assert gain_us(1_000_000, 4000, 10_000_000, 1_000_000) == 600_000 - 100_000
    assert gain_us(1_000_000, 10_000, 10_000_000, 1_000_000) == -100_000


def test_sample_is_from_all_over_the_body() -> None:
    body = bytes(500_000) + NOISE
    assert len(sample_of(body)) == 128 * 1024
    assert sample_of(body)[-32_768:] in NOISE
    assert sample_of(b"short") == b"short"


def unpacked(wire: bytes, step: int = 100_000) -> bytes:
    """What a packed body holds, fed in pieces of `step` bytes."""
    unpacker = Unpacker()
    pieces = [wire[at : at + step] for at in range(0, len(wire), step)]
    body = b"".join(part for piece in pieces for part in unpacker.add(piece))
    unpacker.close()
    return body


@pytest.mark.parametrize("body", [b"", b"x", ZEROS, NOISE[:5000]])
@pytest.mark.parametrize("step", [1, 7, 100_000])
def test_body_when_packed_then_unpacks_to_itself_whatever_the_pieces(body: bytes, step: int) -> None:
    assert unpacked(packed(body), step) == body


def test_bomb_when_unpacked_then_comes_in_small_parts() -> None:
    parts = Unpacker().add(packed(bytes(50_000_000)))
    assert max(len(next(parts)) for _ in range(4)) <= STEP_BYTES


@pytest.mark.parametrize(
    ("wire", "how"),
    [
        (b"nonsense", "no deflate"),
        (packed(ZEROS)[:-3], "cut short"),
        (packed(ZEROS) + b"more", "after its end"),
        (b"", "cut"),
    ],
)
def test_body_when_broken_then_refused(wire: bytes, how: str) -> None:
    with pytest.raises(InvalidInputError, match=how) as caught:
        unpacked(wire)
    assert caught.value.code == "bad_encoding"

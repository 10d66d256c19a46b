"""Named tensors have one byte string, and nothing else is taken for it."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from swarm_chain.core.errors import InvalidInputError
from swarm_chain.reference.tensors import dump_tensors, parse_tensors, part_of, prefixed

TENSORS: dict[str, NDArray[Any]] = {
    "b.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "a": np.array(-7, dtype=np.int64),
    "c": np.zeros((0, 4), dtype=np.uint8),
}
CONTENT = dump_tensors(TENSORS)


def test_tensors_when_written_and_read_then_are_the_same() -> None:
    read = parse_tensors(CONTENT)
    assert list(read) == ["a", "b.weight", "c"]
    for name, array in TENSORS.items():
        assert read[name].dtype == array.dtype
        assert np.array_equal(read[name], array)
        assert read[name].shape == array.shape


def test_tensors_when_given_in_another_order_or_layout_then_have_the_same_bytes() -> None:
    other = {name: np.array(TENSORS[name], order="F") for name in sorted(TENSORS, reverse=True)}
    assert dump_tensors(other) == CONTENT
    assert dump_tensors({"x": np.ones(2, ">f4")}) == dump_tensors({"x": np.ones(2, "<f4")})


@given(at=st.integers(0, len(CONTENT) - 1), bit=st.integers(0, 7))
@settings(max_examples=200, deadline=None)
def test_bytes_when_one_bit_changes_then_are_refused_or_read_as_what_they_say(at: int, bit: int) -> None:
    changed = bytearray(CONTENT)
    changed[at] ^= 1 << bit
    try:
        read = parse_tensors(bytes(changed))
    except InvalidInputError:
        return
    assert dump_tensors(read) == changed, "what is taken must be the only bytes of what it says"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "do not begin"),
        (CONTENT[:20], "end within"),
        (CONTENT + b"\0", "left over"),
        (CONTENT[:8] + (2).to_bytes(4, "big") + CONTENT[12:], "left over"),
        (CONTENT[:8] + (2**32 - 1).to_bytes(4, "big") + CONTENT[12:], "end within"),
        (CONTENT.replace(b"b.weight", b"B.weight"), "comes after"),
        (CONTENT.replace(b"b.weight", b"b weight"), "no name"),
    ],
)
def test_bytes_when_not_what_is_written_then_are_refused(content: bytes, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        parse_tensors(content)


@pytest.mark.parametrize(
    "tensors", [{"x": np.ones(1, np.float64)}, {"": np.ones(1, np.float32)}, {"x": np.ones([1] * 9, np.float32)}]
)
def test_tensors_when_there_is_no_place_for_them_then_are_refused(tensors: dict[str, NDArray[Any]]) -> None:
    with pytest.raises(InvalidInputError):
        dump_tensors(tensors)


def test_parts_when_prefixed_then_come_back() -> None:
    assert part_of({**prefixed("base", TENSORS), "baser": TENSORS["a"]}, "base") == TENSORS

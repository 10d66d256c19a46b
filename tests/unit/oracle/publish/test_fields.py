"""Strict reading: one spelling for one value, a clear error for everything else."""

from collections.abc import Callable

import pytest

from oracle.publish import fields as f
from swarm_chain.core.errors import InvalidInputError
from tests.oracle_world import address


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"\xff",
        b'{"a": 1}',
        b'{"b":1,"a":1}',
        b'{"a":1,"a":1}',
        b'{"a":1.0}',
        b'{"a":1e3}',
        b'{"a":NaN}',
        b'{"a":Infinity}',
        b'{"a":1}\n',
        b'{"a":"\\u0041"}',
        b'{"a":"\\ud800"}',
        b"[" * 100_000,
        b'{"a":' + b"9" * 5000 + b"}",
    ],
)
def test_load_when_not_canonical_then_refused(data: bytes) -> None:
    with pytest.raises(InvalidInputError):
        f.load_canonical(data, "document")


def test_load_when_canonical_then_parsed() -> None:
    assert f.load_canonical(b'{"a":[1,"\xc3\xa4",null,true]}', "document") == {"a": [1, "ä", None, True]}


@pytest.mark.parametrize("value", [[], None, {"a": 1}, {"a": 1, "b": 2, "c": 3}])
def test_fields_when_missing_or_unknown_then_refused(value: object) -> None:
    with pytest.raises(InvalidInputError):
        f.fields(value, "document", "a", "b")


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (f.integer, True),
        (f.integer, -1),
        (f.integer, 2**53),
        (f.integer, "1"),
        (f.integer, 1.0),
        (f.wei, 1),
        (f.wei, "01"),
        (f.wei, "-1"),
        (f.wei, "+1"),
        (f.wei, "1_0"),
        (f.wei, " 1"),
        (f.wei, "\u0661"),
        (f.wei, ""),
        (f.wei, str(2**128)),
        (f.text, 3),
        (f.text, "x" * 201),
        (f.hash32, "0x" + "A" * 64),
        (f.hash32, "0x" + "a" * 63),
        (f.hash32, "a" * 64),
        (f.hash32, "0x" + "aa " * 32),
        (f.hash32, "0x" + "a" * 64 + "\n"),
        (f.hash32, None),
        (f.signature, "0x" + "a" * 128),
        (f.signature, "0x" + "g" * 130),
        (f.address, address("a").lower()),
        (f.address, address("a")[2:]),
        (f.address, address("a")[:10] + " " + address("a")[10:]),
        (f.address, 7),
    ],
)
def test_field_when_another_spelling_then_refused(read: Callable[[object, str], object], value: object) -> None:
    with pytest.raises(InvalidInputError) as refused:
        read(value, "document.field")

    assert refused.value.message


def test_field_when_at_its_bounds_then_read() -> None:
    assert f.wei(str(2**128 - 1), "wei") == 2**128 - 1
    assert f.wei("0", "wei") == 0
    assert f.integer(2**53 - 1, "integer") == 2**53 - 1
    assert f.address(address("a"), "address") == address("a")


@pytest.mark.parametrize("value", [None, [1], [1, 2, 3]])
def test_row_when_of_another_width_then_refused(value: object) -> None:
    with pytest.raises(InvalidInputError):
        f.row(value, "row", 2)


def test_rows_when_too_many_then_refused_and_items_are_named() -> None:
    with pytest.raises(InvalidInputError):
        f.rows([1, 2, 3], "list", f.integer, 2)
    with pytest.raises(InvalidInputError, match=r"list\[1\]"):
        f.rows([1, "x"], "list", f.integer)


@pytest.mark.parametrize("keys", [[(1,), (1,)], [(2,), (1,)]])
def test_order_when_equal_or_descending_then_refused(keys: list[tuple[object, ...]]) -> None:
    with pytest.raises(InvalidInputError):
        f.require_ascending(keys, "list")

"""Strict reading of canonical JSON: every field has one type, one range and one spelling; the rest is refused."""

import json
import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TypeVar

from swarm_chain.core.encoding import address_bytes, canonical_json, checksum_address
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import UINT128_MAX, Address, Hash32, Signature, Wei

T = TypeVar("T")
Json = dict[str, object]

MAX_SAFE = 2**53 - 1  # larger integers lose digits in JavaScript, so they travel as decimal strings
MAX_TEXT = 200
UINT32_MAX = 2**32 - 1
_DECIMAL = re.compile(r"0|[1-9][0-9]{0,38}")


def load_canonical(data: bytes, where: str) -> object:
    """Parse bytes that must be canonical JSON.

    Args:
        data: the bytes of a document.
        where: name of the document, for the error.

    Raises:
        InvalidInputError: no JSON, nested too deeply, or another spelling than `canonical_json` gives.
    """
    try:
        document: object = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _refused(where, f"no JSON: {error}") from error
    if canonical_json(document) != data:
        raise _refused(where, "not canonical: keys must be sorted and unique, without spaces")
    return document


def fields(value: object, where: str, *names: str) -> Json:
    """Read an object that has exactly these fields.

    Raises:
        InvalidInputError: no object, a field is missing, or one is unknown.
    """
    if not isinstance(value, dict) or value.keys() != set(names):
        raise _refused(where, f"must be an object with exactly {', '.join(names)}")
    return value


def row(value: object, where: str, width: int) -> list[object]:
    """Read a list of exactly `width` items."""
    if not isinstance(value, list) or len(value) != width:
        raise _refused(where, f"must be a list of {width} items")
    return value


def rows(value: object, where: str, read: Callable[[object, str], T], most: int | None = None) -> tuple[T, ...]:
    """Read a list, item by item.

    Args:
        value: the list.
        where: its name; items are named `where[i]`.
        read: reads one item.
        most: most items there may be; None where the size of the whole document is the bound.
    """
    if not isinstance(value, list) or (most is not None and len(value) > most):
        raise _refused(where, f"must be a list of at most {most} items")
    return tuple(read(item, f"{where}[{index}]") for index, item in enumerate(value))


def integer(value: object, where: str, most: int = MAX_SAFE, least: int = 0) -> int:
    """Read an integer from `least` to `most`."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise _refused(where, f"must be an integer from {least} to {most}")
    return value


def optional_integer(value: object, where: str) -> int | None:
    """Read an integer from 0 to 2^53 - 1, or null."""
    return None if value is None else integer(value, where)


def wei(value: object, where: str) -> Wei:
    """Read a uint128 of wei, a decimal string without leading zeros."""
    if not isinstance(value, str) or not _DECIMAL.fullmatch(value) or int(value) > UINT128_MAX:
        raise _refused(where, "must be wei as a decimal string below 2^128")
    return Wei(int(value))


def text(value: object, where: str) -> str:
    """Read a short string."""
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise _refused(where, f"must be text of at most {MAX_TEXT} characters")
    return value


def choice(value: object, where: str, options: Iterable[str]) -> str:
    """Read one of some words."""
    known = sorted(options)
    if not isinstance(value, str) or value not in known:
        raise _refused(where, f"must be one of {', '.join(known)}")
    return value


def raw(value: object, where: str, size: int) -> bytes:
    """Read `size` bytes of lower-case 0x-hex."""
    if not isinstance(value, str) or not re.fullmatch(rf"0x[0-9a-f]{{{2 * size}}}", value):
        raise _refused(where, f"must be {size} bytes of lower-case 0x-hex")
    return bytes.fromhex(value[2:])


def hash32(value: object, where: str) -> Hash32:
    """Read 32 bytes of lower-case 0x-hex."""
    return Hash32(raw(value, where, 32))


def signature(value: object, where: str) -> Signature:
    """Read 65 bytes of lower-case 0x-hex."""
    return Signature(raw(value, where, 65))


def address(value: object, where: str) -> Address:
    """Read a checksummed address."""
    if not isinstance(value, str) or checksum_address(address_bytes(Address(value))) != value:
        raise _refused(where, "must be a checksummed address (EIP-55)")
    return Address(value)


def require_ascending(keys: Iterable[tuple[object, ...]], where: str) -> None:
    """Refuse a list that is not strictly ascending: one set of items has one spelling, and no item comes twice.

    Raises:
        InvalidInputError: two neighbours are equal or in the wrong order.
    """
    if any(not low < high for low, high in pairwise(keys)):
        raise _refused(where, "must be ordered, without duplicates")


def require_constant(value: object, where: str, expected: str) -> None:
    """Refuse anything but the expected text."""
    if value != expected:
        raise _refused(where, f"must be {expected!r}")


def _refused(where: str, why: str) -> InvalidInputError:
    return InvalidInputError(f"{where}: {why}", code="bad_document", fix="take the document as the oracle published it")

"""Files of transactions that are signed elsewhere: what --unsigned writes, and what `swarm tx send` takes."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarm_chain.cli.amounts import parse_address
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import Address

UNSIGNED_FORMAT = "swarm-unsigned/1"
SIGNED_FORMAT = "swarm-signed/1"
_INTEGERS = ("type", "chainId", "nonce", "gas", "maxFeePerGas", "maxPriorityFeePerGas", "value")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsignedTx:
    """A transaction on its way to its key: effect in words, sender, and the fields to sign."""

    effect: str
    sender: Address
    fields: dict[str, Any]


def read_unsigned(path: Path) -> UnsignedTx:
    """What --unsigned wrote.

    Raises:
        InvalidInputError: another file.
    """
    document = _document(path)
    try:
        if document["format"] != UNSIGNED_FORMAT:
            raise ValueError(f"its format is {document['format']!r}")
        given = dict(document["transaction"])
        fields = {name: int(given.pop(name)) for name in _INTEGERS}
        fields |= {"data": given.pop("data")} | ({"to": parse_address(given.pop("to"))} if "to" in given else {})
        if given:
            raise ValueError(f"unknown fields {sorted(given)}")
        return UnsignedTx(effect=str(document["effect"]), sender=parse_address(document["from"]), fields=fields)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInputError(
            f"{path} is no unsigned transaction ({error})", fix="make one with --unsigned FILE", code="bad_file"
        ) from error


def read_raw(path: Path) -> bytes:
    """Bytes of a signed transaction: what `swarm wallet sign --transaction` wrote, or raw hex as `cast mktx` prints it.

    Raises:
        InvalidInputError: another file.
    """
    text = _text(path).strip()
    try:
        found = _document(path).get("raw", "") if text.startswith("{") else text
        raw = bytes.fromhex(str(found).removeprefix("0x"))
    except ValueError:
        raw = b""
    if not raw:
        raise InvalidInputError(
            f"{path} is no signed transaction",
            fix="sign it with: swarm wallet sign --transaction FILE",
            code="bad_file",
        )
    return raw


def _document(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(_text(path))
    except (json.JSONDecodeError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise InvalidInputError(f"{path} is no JSON object", fix="name the file that Swarm wrote", code="bad_file")
    return document


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"cannot read {path}", fix="name a text file that exists", code="bad_file") from error

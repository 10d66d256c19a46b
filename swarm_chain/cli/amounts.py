"""Amounts and addresses as people type and read them; exact, no floats."""

import re
from typing import Any

from swarm_chain.core.encoding import address_bytes, checksum_address
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import UINT128_MAX, WEI_PER_SWM, Address, Wei, format_swm

_AMOUNT = re.compile(r"([0-9][0-9_,]*)(?:\.([0-9]{1,18}))?\s*(swm|eth|gwei|wei)?", re.IGNORECASE)
_SCALE = {"swm": WEI_PER_SWM, "eth": WEI_PER_SWM, "gwei": 10**9, "wei": 1}


def parse_amount(text: str) -> Wei:
    """Wei of an amount such as "1000", "12.5", "12.5 SWM" or "7wei"; whole tokens unless a unit says otherwise.

    Raises:
        InvalidInputError: no such amount, zero, or more than uint128 holds.
    """
    match = _AMOUNT.fullmatch(text.strip())
    if match is None:
        raise InvalidInputError(f"{text!r} is no amount", fix="write it like 1000, 12.5 or 7wei", code="bad_amount")
    whole, places, unit = match.group(1), match.group(2) or "", (match.group(3) or "swm").lower()
    scale = _SCALE[unit]
    numerator = int(re.sub("[_,]", "", whole) + places) * scale
    amount, rest = divmod(numerator, 10 ** len(places))
    if rest or not 0 < amount <= UINT128_MAX:
        raise InvalidInputError(
            f"{text!r} is not a positive number of wei below 2^128",
            fix="write it like 1000, 12.5 or 7wei",
            code="bad_amount",
        )
    return Wei(amount)


def parse_address(text: str) -> Address:
    """Checksummed address; a mixed-case one must carry the right checksum.

    Raises:
        InvalidInputError: not an address, or a wrong checksum.
    """
    address = checksum_address(address_bytes(Address(text)))
    if text[2:] not in {address[2:], text[2:].lower(), text[2:].upper()}:
        raise InvalidInputError(f"{text} has a wrong checksum", fix="copy the address again", code="bad_address")
    return address


def highest_cost(fields: dict[str, Any]) -> Wei:
    """Most a transaction can cost: gas limit times fee cap, plus the value sent."""
    return Wei(int(fields["gas"]) * int(fields["maxFeePerGas"]) + int(fields.get("value") or 0))


def format_eth(amount: Wei) -> str:
    """ETH for a person."""
    return f"{format_swm(amount, 9)} ETH"

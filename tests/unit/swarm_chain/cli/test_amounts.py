"""Amounts and addresses as people type them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarm_chain.cli.amounts import parse_address, parse_amount
from swarm_chain.core.encoding import checksum_address
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import UINT128_MAX, WEI_PER_SWM


@pytest.mark.parametrize(
    ("text", "wei"),
    [
        ("1", 10**18),
        ("1,000", 10**21),
        ("12.5 SWM", 125 * 10**17),
        ("0.000000000000000001", 1),
        ("7wei", 7),
        ("1.5 gwei", 1_500_000_000),
        (" 2 eth ", 2 * 10**18),
        (f"{UINT128_MAX}wei", UINT128_MAX),
    ],
)
def test_amount_is_exact(text: str, wei: int) -> None:
    assert parse_amount(text) == wei


@given(st.integers(min_value=1, max_value=UINT128_MAX))
def test_every_amount_can_be_typed(wei: int) -> None:
    whole, rest = divmod(wei, WEI_PER_SWM)

    assert parse_amount(f"{whole}.{rest:018d}") == parse_amount(f"{wei}wei") == wei


@pytest.mark.parametrize(
    "text",
    ["", "0", "-1", "+1", "1e3", "1.", ".5", "1.0000000000000000001", "0.5wei", "nan", "１", "1 btc", f"{2**128}wei"],
)
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        parse_amount(text)


@given(st.binary(min_size=20, max_size=20))
def test_address_is_checksummed(raw: bytes) -> None:
    address = checksum_address(raw)

    assert parse_address(address) == parse_address("0x" + raw.hex()) == address


@given(st.binary(min_size=20, max_size=20), st.integers(min_value=2, max_value=41))
def test_one_letter_in_the_wrong_case_is_noticed(raw: bytes, place: int) -> None:
    address = checksum_address(raw)
    swapped = address[:place] + address[place].swapcase() + address[place + 1 :]

    if swapped not in {address, address.lower(), "0x" + address[2:].upper()}:
        with pytest.raises(InvalidInputError, match="checksum"):
            parse_address(swapped)


@pytest.mark.parametrize("text", ["", "0x", "0x12", "alice", "0x" + "g" * 40, "12" * 20])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        parse_address(text)

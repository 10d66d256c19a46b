"""Fields of signed transactions, fees of replacements, words of nodes."""

import pytest
from eth_keys.datatypes import PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from swarm_chain.adapters.transaction import (
    REFUSAL_FIXES,
    TxFields,
    assembled,
    parse_fields,
    raised,
    refusal_code,
    unsigned_payload,
)
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import Signature, Wei
from swarm_chain.testing import FakeSigner

BOB = FakeSigner("bob").address


@given(st.integers(0, 2**63), st.integers(21_000, 2**24), st.integers(1, 2**80), st.booleans(), st.binary(max_size=99))
def test_fields_of_a_signed_transaction_are_read_back(
    nonce: int, gas: int, fee: int, creates: bool, data: bytes
) -> None:
    fields = TxFields(
        chain_id=31337,
        nonce=nonce,
        gas=gas,
        max_fee_wei=Wei(fee),
        priority_wei=Wei(fee // 2),
        to=None if creates else BOB,
        data=data,
    )

    raw = FakeSigner("alice").sign_transaction(fields.as_dict())
    assert parse_fields(raw) == fields

    digest = keccak(unsigned_payload(fields.as_dict()))
    signature = PrivateKey(FakeSigner("alice").private_key).sign_msg_hash(digest).to_bytes()
    assert assembled(fields.as_dict(), Signature(signature[:64] + bytes([27 + signature[64]]))) == raw


@pytest.mark.parametrize("change", [{"type": 0}, {"nonce": -1}, {"gas": None}, {"chainId": "1"}], ids=str)
def test_payload_of_something_else_than_an_eip_1559_transaction_is_refused(change: dict[str, object]) -> None:
    fields: dict[str, object] = dict.fromkeys(("chainId", "nonce", "maxFeePerGas", "maxPriorityFeePerGas", "gas"), 1)
    assert unsigned_payload(fields | {"type": 2, "value": 0})[0] == 2
    with pytest.raises(InvalidInputError):
        unsigned_payload(fields | {"type": 2, "value": 0} | change)


@given(st.integers(0, 2**128))
def test_raised_fee_is_an_eighth_more_rounded_up(fee: int) -> None:
    more = raised(fee)

    assert more * 8 >= fee * 9
    assert (more - 1) * 8 < fee * 9


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("already known", "already_known"),
        ("transaction already imported", "already_known"),
        ("nonce too low: next nonce 5, tx nonce 4", "nonce_used"),
        ("Nonce too low", "nonce_used"),
        ("replacement transaction underpriced", "underpriced"),
        ("transaction underpriced: tip needed 1", "underpriced"),
        ("max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1, baseFee: 2", "underpriced"),
        ("insufficient funds for gas * price + value", "insufficient_funds"),
        ("Insufficient funds for gas * price + value", "insufficient_funds"),
        ("exceeds block gas limit", None),
        ("", None),
    ],
)
def test_words_of_nodes_have_one_code(message: str, code: str | None) -> None:
    assert refusal_code(message) == code


def test_every_refusal_that_is_raised_says_what_to_do() -> None:
    assert set(REFUSAL_FIXES) == {"nonce_used", "underpriced", "insufficient_funds"}

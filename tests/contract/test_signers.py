"""One suite for Signer: a key in memory, one in a remote signer and the shipped fake sign the same bytes alike."""

from collections.abc import Iterator

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct

from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.adapters.remote_signer import SignerEndpoint, connect_signer
from swarm_chain.adapters.transaction import TxFields, parse_fields
from swarm_chain.core.encoding import keccak
from swarm_chain.core.signing import recover, typed_digest
from swarm_chain.core.units import Address, Wei
from swarm_chain.ports import Signer
from swarm_chain.testing import FakeSigner
from tests.integration.signer_server import running_signer

FAKE = FakeSigner("alice")
DOMAIN, STRUCT = keccak(b"domain"), keccak(b"struct")
BOB = FakeSigner("bob").address


@pytest.fixture(params=["fake", "keystore", "remote"])
def signer(request: pytest.FixtureRequest) -> Iterator[Signer]:
    if request.param == "remote":
        with running_signer(FAKE.private_key) as server:
            yield connect_signer(SignerEndpoint(url=server.url))
    else:
        yield FAKE if request.param == "fake" else KeySigner(FAKE.private_key)


def test_address_is_the_one_of_the_key(signer: Signer) -> None:
    assert signer.address == FAKE.address


def test_typed_message_is_signed_as_eip_712_says(signer: Signer) -> None:
    signature = signer.sign_typed(DOMAIN, STRUCT)

    assert signature == FAKE.sign_typed(DOMAIN, STRUCT)
    assert recover(typed_digest(DOMAIN, STRUCT), signature) == signer.address


def test_text_is_signed_as_eip_191_says(signer: Signer) -> None:
    signature = signer.sign_text("grüße".encode())

    assert signature == FAKE.sign_text("grüße".encode())
    assert Account.recover_message(encode_defunct(text="grüße"), signature=signature) == signer.address


@pytest.mark.parametrize("to", [BOB, None], ids=["call", "creation"])
def test_transaction_is_read_back_as_it_was_asked_for_and_comes_from_the_key(
    signer: Signer, to: Address | None
) -> None:
    fields = TxFields(
        chain_id=31337, nonce=0, gas=21_000, max_fee_wei=Wei(2), priority_wei=Wei(1), to=to, data=b"\1" * 60
    )

    raw = signer.sign_transaction(fields.as_dict())

    assert raw == FAKE.sign_transaction(fields.as_dict())
    assert parse_fields(raw) == fields
    assert Account.recover_transaction(raw) == signer.address


def test_key_is_never_shown(signer: Signer) -> None:
    assert FAKE.private_key.hex() not in f"{signer!r} {signer}"

"""`swarm` with its key in a remote signer."""

import json

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct

from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.core.encoding import keccak
from tests.chain_fixtures import ChainTools
from tests.integration.cli.conftest import CommandLine
from tests.integration.signer_server import running_signer

OTHER = keccak(b"another key")


def test_provider_when_its_key_is_remote_then_registers_stakes_with_a_permit_and_signs_texts(
    connected: CommandLine, tools: ChainTools, alice: KeySigner, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools.fund(alice.address)
    with running_signer(keccak(b"alice"), OTHER) as server:
        monkeypatch.setenv("SWARM_SIGNER_URL", server.url)
        monkeypatch.setenv("SWARM_SIGNER_ADDRESS", alice.address)
        connected.ask("provider", "register")
        connected.ask("stake", "add", "100")
        text = connected.ask("wallet", "sign", "hello")

    assert tools.call("ProviderRegistry", "providerIdOf", alice.address) == 1
    assert {data[:1] for data in server.signed} == {b"\x02", b"\x19"}
    assert Account.recover_message(encode_defunct(text="hello"), signature=text["signature"]) == alice.address


def test_transaction_file_when_signed_remotely_then_sent(
    connected: CommandLine, tools: ChainTools, alice: KeySigner, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools.fund(alice.address)
    draft = connected.home / "draft.json"
    connected.ask("provider", "register", "--unsigned", draft, "--from", alice.address)
    with running_signer(keccak(b"alice")) as server:
        monkeypatch.setenv("SWARM_SIGNER_URL", server.url)
        signed = connected.ask("wallet", "sign", "--transaction", draft)
        connected.ask("tx", "send", signed["file"])

    assert tools.call("ProviderRegistry", "providerIdOf", alice.address) == 1


def test_signer_when_a_keystore_is_named_too_then_refused_and_when_several_keys_then_asked_which(
    connected: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_signer(keccak(b"alice"), OTHER) as server:
        monkeypatch.setenv("SWARM_SIGNER_URL", server.url)
        both = connected.ask("--account", "alice", "wallet", "sign", "x", code=3)
        which = connected.ask("wallet", "sign", "x", code=3)
        monkeypatch.setenv("SWARM_SIGNER_URL", "http://10.0.0.7:9000")
        plain = connected.ask("wallet", "sign", "x", code=3)

    assert (both["error"], which["error"], plain["error"]) == ("two_signers", "signer_key_unknown", "bad_signer_url")
    assert KeySigner(OTHER).address in json.dumps(which["values"])

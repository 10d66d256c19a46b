"""What every transaction does: simulate, cap, ask, send, wait, and tell the truth; also when it is signed elsewhere."""

import json
import os
import signal
import time

import pytest

from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.core.encoding import keccak
from swarm_chain.core.units import WEI_PER_SWM
from tests.chain_fixtures import ChainTools
from tests.integration.cli.conftest import CommandLine


@pytest.fixture
def funded(connected: CommandLine, tools: ChainTools, alice: KeySigner) -> CommandLine:
    """Alice has coins and SWM and is nobody's provider yet."""
    tools.fund(alice.address)
    return connected


def providers(tools: ChainTools) -> object:
    return tools.call("ProviderRegistry", "providerCount")


def test_dry_run_tells_the_cost_and_sends_nothing(
    funded: CommandLine, tools: ChainTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ETH_PASSWORD")

    document = funded.ask("provider", "register", "--dry-run")

    assert document["state"] == "simulated"
    assert int(document["maxCostWei"]) > 0
    assert providers(tools) == 0


def test_dry_run_of_what_would_revert_says_why(funded: CommandLine, tools: ChainTools, alice: KeySigner) -> None:
    tools.register(alice)

    assert funded.ask("stake", "unbond", 1, "--dry-run", code=5)["error"] == "InsufficientActiveStake"


def test_max_fee_is_a_hard_cap(funded: CommandLine, tools: ChainTools) -> None:
    refused = funded.ask("provider", "register", "--max-fee", "1000wei", code=2)

    assert refused["error"] == "above_max_fee"
    assert int(refused["values"]["maxCostWei"]) > 1000
    assert providers(tools) == 0


def test_cost_shown_is_an_upper_bound(funded: CommandLine) -> None:
    simulated = funded.ask("provider", "register", "--dry-run")
    sent = funded.ask("provider", "register")

    assert 0 < int(sent["transaction"]["feeWei"]) <= int(simulated["maxCostWei"])


def test_no_wait_gives_the_hash_at_once(funded: CommandLine, tools: ChainTools) -> None:
    tools.net.rpc.request("evm_setAutomine", [False])

    document = funded.ask("provider", "register", "--no-wait")
    waiting = tools.net.rpc.request("eth_getTransactionReceipt", [document["hash"]])
    tools.net.mine()
    mined = tools.net.rpc.request("eth_getTransactionReceipt", [document["hash"]])

    assert document["state"] == "sent"
    assert waiting is None
    assert mined["status"] == "0x1"


def test_no_word_in_time_is_said_as_such(funded: CommandLine, tools: ChainTools) -> None:
    tools.net.rpc.request("evm_setAutomine", [False])

    document = funded.ask("provider", "register", "--timeout", 1, code=7)

    assert document["error"] == "outcome_unknown"


def test_ctrl_c_while_waiting_leaves_the_hash(funded: CommandLine, tools: ChainTools) -> None:
    tools.net.rpc.request("evm_setAutomine", [False])

    with funded.program("--yes", "provider", "register") as process:
        assert process.stderr is not None
        tx_hash = next(line for line in process.stderr if line.startswith("sending ")).split()[1]
        while tools.net.rpc.request("eth_getTransactionByHash", [tx_hash]) is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=30)

    assert process.returncode == 130
    assert "error: interrupted" in rest
    assert f"look up {tx_hash} before sending again" in rest


def test_cold_key_signs_elsewhere(funded: CommandLine, tools: ChainTools, alice: KeySigner) -> None:
    unsigned, signed = funded.home / "tx.json", funded.home / "tx.signed.json"

    written = funded.ask("provider", "register", "--unsigned", unsigned, "--from", alice.address)
    before = providers(tools)
    funded.ask("wallet", "sign", "--transaction", unsigned)
    sent = funded.ask("tx", "send", signed)
    again = funded.ask("tx", "send", signed)

    assert written["state"] == "unsigned"
    assert before == 0
    assert sent["succeeded"] is True
    assert again == sent
    assert tools.call("ProviderRegistry", "providerIdOf", alice.address) == 1


def test_cold_stake_is_two_files_and_safe_to_repeat(funded: CommandLine, tools: ChainTools, alice: KeySigner) -> None:
    tools.register(alice)
    approve, stake = funded.home / "approve.json", funded.home / "stake.json"

    for path in (approve, stake):
        funded.ask("stake", "add", 500, "--unsigned", path, "--from", alice.address)
        funded.ask("wallet", "sign", "--transaction", path, "--out", path)
        funded.ask("tx", "send", path)

    assert tools.call("StakeVault", "activeStake", 1) == 500 * WEI_PER_SWM


def test_the_wrong_key_does_not_sign(funded: CommandLine, alice: KeySigner) -> None:
    path = funded.home / "tx.json"
    funded.ask("provider", "register", "--unsigned", path, "--from", alice.address)
    funded.add_key("bob", keccak(b"bob"))

    refused = funded.ask("wallet", "sign", "--transaction", path, "--account", "bob", code=3)

    assert refused["error"] == "wrong_key"


def test_transaction_of_another_chain_is_not_sent(funded: CommandLine, alice: KeySigner) -> None:
    path = funded.home / "tx.json"
    funded.ask("provider", "register", "--unsigned", path, "--from", alice.address)
    document = json.loads(path.read_text(encoding="utf-8"))
    document["transaction"]["chainId"] = 1
    path.write_text(json.dumps(document), encoding="utf-8")
    funded.ask("wallet", "sign", "--transaction", path, "--out", path)

    refused = funded.ask("tx", "send", path, code=3)

    assert refused["error"] == "wrong_chain"


@pytest.mark.parametrize("content", ["", "{}", '{"raw": "0x12"}', "0x02f8", "hello", '{"format": "swarm-unsigned/1"}'])
def test_what_is_no_signed_transaction_is_refused(funded: CommandLine, content: str) -> None:
    (funded.home / "file").write_text(content, encoding="utf-8")

    assert funded.ask("tx", "send", funded.home / "file", code=2)["error"] == "bad_file"


def test_a_person_is_asked_and_no_is_the_default(funded: CommandLine, tools: ChainTools) -> None:
    answers = {"\n": (1, 0), "n\n": (1, 0), "yes\n": (0, 1)}

    for answer, (code, count) in answers.items():
        assert _typed(funded, answer, "provider", "register") == code
        assert providers(tools) == count


def test_what_cannot_be_undone_wants_to_be_typed(funded: CommandLine, tools: ChainTools, alice: KeySigner) -> None:
    tools.register(alice)

    assert _typed(funded, "y\n", "provider", "retire") == 1
    assert tools.call("ProviderRegistry", "isRetired", 1) is False
    assert _typed(funded, "retire 1\n", "provider", "retire") == 0
    assert tools.call("ProviderRegistry", "isRetired", 1) is True


def _typed(swarm: CommandLine, answer: str, *arguments: str) -> int:
    """Exit code of the program on a terminal, where somebody types the answer once asked."""
    ours, theirs = os.openpty()
    with swarm.program(*arguments, stdin=theirs) as process:
        assert process.stderr is not None
        seen = ""
        until = time.monotonic() + 30
        while "] " not in seen and time.monotonic() < until:
            seen += process.stderr.read(1)
        os.write(ours, answer.encode())
        process.communicate(timeout=30)
    os.close(ours)
    os.close(theirs)
    return process.returncode

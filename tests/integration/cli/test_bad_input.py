"""Bad input and broken surroundings: one clear line, the right exit code, no traceback, nothing half-done."""

import json
from collections.abc import Sequence

import pytest

from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.core.model import Deployment
from swarm_chain.core.units import WEI_PER_SWM
from swarm_chain.deploy import save_deployment
from tests.chain_fixtures import ChainTools
from tests.integration.cli.conftest import CommandLine, Finished, Shelf

NOBODY = "http://127.0.0.1:9"


def refused(done: Finished, code: int, words: str) -> None:
    """The command failed with this code and said it in one line, with what to do in the next."""
    lines = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert done.code == code, done.text
    assert len(lines) == 1
    assert words in lines[0]
    assert "  fix: " in done.err
    assert "Traceback" not in done.text


def test_wrong_password(connected: CommandLine, tools: ChainTools, alice: KeySigner) -> None:
    tools.fund(alice.address)
    (connected.home / "password").write_text("wrong", encoding="utf-8")

    refused(connected("--yes", "provider", "register"), 3, "wrong password")
    assert tools.call("ProviderRegistry", "providerCount") == 0


@pytest.mark.parametrize(
    "choice", [("--account", "nobody"), ("--keystore", "/nowhere/key"), ("--password-file", "/nowhere/password")]
)
def test_missing_file(connected: CommandLine, tools: ChainTools, alice: KeySigner, choice: tuple[str, str]) -> None:
    tools.fund(alice.address)

    done = connected("--yes", *choice, "provider", "register")

    assert done.code == 3
    assert choice[1].split("/")[-1] in done.err
    assert tools.call("ProviderRegistry", "providerCount") == 0


def test_no_key_chosen_among_several(connected: CommandLine) -> None:
    connected.add_key("bob", b"\2" * 32)

    refused(connected("--yes", "provider", "register"), 3, "which key?")


def test_no_password_and_nobody_to_type_it(
    connected: CommandLine, tools: ChainTools, alice: KeySigner, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools.fund(alice.address)
    monkeypatch.delenv("ETH_PASSWORD")

    refused(connected("--yes", "provider", "register"), 3, "nobody is there to type it")


@pytest.mark.parametrize(
    "command",
    [
        ("provider", "show", 9),
        ("stake", "status", 9),
        ("rewards", "show", 9),
        ("rewards", "claim", 9),
        ("rewards", "explain", 0, "--epoch", 1),
        ("slash", "list", "--provider", 9),
        ("stake", "add", 10),
        ("provider", "retire"),
    ],
)
def test_unknown_provider(connected: CommandLine, command: Sequence[object]) -> None:
    done = connected("--json", "--yes", *command)

    assert done.code == 2
    assert done.document["error"] == "unknown_provider"


def test_unknown_job_and_case(connected: CommandLine) -> None:
    assert connected("--json", "job", "status", 3).document["error"] == "unknown_job"
    assert connected("--json", "slash", "show", "0x" + "12" * 32).document["error"] == "unknown_case"
    assert connected("slash", "show", "12").code == 2


def test_more_stake_than_tokens(connected: CommandLine, tools: ChainTools, alice: KeySigner) -> None:
    tools.register(alice)
    have = tools.call("SwarmToken", "balanceOf", alice.address)

    done = connected("--json", "--yes", "stake", "add", "100000.000000000000000001")

    assert done.code == 5
    assert done.document["error"] == "insufficient_balance"
    assert done.document["values"] == {"balanceWei": str(have), "neededWei": str(100_000 * WEI_PER_SWM + 1)}


def test_no_coins_for_gas(connected: CommandLine, tools: ChainTools) -> None:
    done = connected("--json", "--yes", "provider", "register")

    assert done.code == 5
    assert done.document["error"] == "insufficient_funds"
    assert tools.call("ProviderRegistry", "providerCount") == 0


def test_wrong_chain(connected: CommandLine, tools: ChainTools) -> None:
    here = tools.net.deployment
    elsewhere = Deployment(chain_id=1, block=here.block, params=here.params, contracts=here.contracts)
    save_deployment(elsewhere, connected.home / "mainnet.json")

    done = connected("--deployment", connected.home / "mainnet.json", "stake", "status", 1)

    refused(done, 3, "serves chain 31337, the deployment is on chain 1")


def test_rpc_down(connected: CommandLine) -> None:
    refused(connected("--rpc-url", NOBODY, "stake", "status", 1), 4, "no RPC endpoint answers")
    refused(connected("--rpc-url", "ftp://x", "stake", "status", 1), 3, "no RPC endpoint")


def test_rpc_that_is_no_chain(connected: CommandLine, shelf: Shelf) -> None:
    refused(connected("--rpc-url", shelf.url, "stake", "status", 1), 4, "no RPC endpoint answers")


@pytest.mark.usefixtures("earning")
def test_oracle_down(connected: CommandLine, tools: ChainTools) -> None:
    before = tools.reader.block("latest").number

    refused(connected("--yes", "--oracle-url", NOBODY, "rewards", "claim"), 4, "does not answer")
    refused(connected("--yes", "rewards", "claim"), 3, "no oracle is named")
    assert tools.reader.block("latest").number == before


@pytest.mark.usefixtures("earning")
@pytest.mark.parametrize("answer", [b"<html>", b"[1]", b"\xff", b"[" * 5000])
def test_oracle_that_is_none(connected: CommandLine, shelf: Shelf, answer: bytes) -> None:
    shelf.documents["/v1/epochs/0/proofs/1"] = answer

    refused(connected("--yes", "--oracle-url", shelf.url, "rewards", "claim"), 4, "does not answer like an oracle")


@pytest.mark.usefixtures("earning")
def test_oracle_cannot_steer_the_terminal(connected: CommandLine, shelf: Shelf) -> None:
    shelf.documents["/v1/epochs/0/explain/1"] = {"why": "\x1b[2J\x07 gone"}

    done = connected("--oracle-url", shelf.url, "rewards", "explain", "--epoch", 0)

    assert done.code == 0
    assert not set(done.out) & {"\x1b", "\x07"}


def test_no_deployment(connected: CommandLine) -> None:
    for path in (connected.home / "deployments").iterdir():
        path.unlink()

    refused(connected("stake", "status", 1), 3, "there is no deployment file")


def test_broken_deployment(connected: CommandLine) -> None:
    (connected.home / "half.json").write_text('{"chainId": 31337}', encoding="utf-8")

    refused(connected("--deployment", connected.home / "half.json", "stake", "status"), 3, "is no deployment file")


@pytest.mark.parametrize(
    "amount", ["0", "-1", "1e3", "1.0000000000000000001", "nan", "", "0.5wei", str(2**128) + "wei"]
)
def test_amounts_that_are_none(connected: CommandLine, tools: ChainTools, alice: KeySigner, amount: str) -> None:
    tools.register(alice, stake_wei=WEI_PER_SWM)

    assert connected("--yes", "stake", "unbond", "--", amount).code == 2
    assert tools.call("StakeVault", "openRequests", 1) == 0


@pytest.mark.parametrize(
    "words",
    [
        ("provider", "register", "--operator", "0x12"),
        ("provider", "register", "--payout", "0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed"),
        ("provider", "register", "--class", "tpu"),
        ("provider", "register", "--region", "somewhere far away"),
        ("stake", "unbond"),
        ("stake", "unbond", "5", "--all"),
        ("stake",),
        ("nonsense",),
        ("stake", "add"),
        ("stake", "status", "--nonsense"),
    ],
)
def test_usage(connected: CommandLine, tools: ChainTools, alice: KeySigner, words: Sequence[str]) -> None:
    tools.register(alice)

    done = connected("--json", "--yes", *words)

    assert done.code == 2, done.text
    assert json.loads(done.out)["exitCode"] == 2


def test_saying_no_sends_nothing(connected: CommandLine, tools: ChainTools, alice: KeySigner) -> None:
    tools.fund(alice.address)

    refused(connected("provider", "register"), 2, "confirmation needed")
    assert tools.call("ProviderRegistry", "providerCount") == 0


def test_revert_prints_the_decoded_error(connected: CommandLine, tools: ChainTools, alice: KeySigner) -> None:
    tools.register(alice, stake_wei=WEI_PER_SWM)

    done = connected("--json", "--yes", "stake", "unbond", "2")

    assert done.code == 5
    assert done.document["error"] == "InsufficientActiveStake"
    assert done.document["values"] == {"have": str(WEI_PER_SWM), "want": str(2 * WEI_PER_SWM)}
    assert done.document["fix"]

"""`swarm dev`: a chain of one's own, from up to down, as a program in its own process."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.adapters.rpc import RpcPool
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.units import WEI_PER_SWM
from swarm_chain.devnet import dev_accounts
from tests.chain_fixtures import ChainTools
from tests.integration.cli.conftest import CommandLine

VECTORS = Path(__file__).parents[2] / "golden" / "compute_proof.json"


@pytest.fixture
def upped(
    swarm: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[CommandLine, Any, "subprocess.Popen[str]"]]:
    """A chain that `swarm dev up` runs, the document it printed, and its process."""
    with swarm.program("--json", "dev", "up") as process:
        assert process.stdout is not None
        document = json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")
        monkeypatch.setenv("SWARM_RPC_URL", document["rpcUrl"])
        yield swarm, document, process
        process.terminate()


def test_a_chain_is_up_usable_and_down(
    upped: tuple[CommandLine, Any, "subprocess.Popen[str]"],
) -> None:
    swarm, document, process = upped
    alice = swarm.add_key("alice", keccak(b"alice"))

    given = swarm.ask("dev", "faucet", "alice", "--eth", 3, "--swm", 1500)
    swarm.ask("provider", "register")
    swarm.ask("stake", "add", 1000)
    before = swarm.ask("dev", "time", 1)["chainTime"]
    after = swarm.ask("dev", "time", 3600)["chainTime"]
    accounts = swarm.ask("dev", "accounts")["accounts"]
    steps = [step["command"] for step in swarm.ask("init")["next"]]
    second = swarm.finished("--json", "dev", "up")
    down = swarm.ask("dev", "down")

    assert given == {"address": alice.address, "ethWei": str(3 * 10**18), "swmWei": str(1500 * WEI_PER_SWM)}
    assert after - before >= 3600
    assert [account["role"] for account in accounts[1:3]] == ["oracle member", "free"]
    assert steps == ["swarm node register", "swarm node run", "swarm rewards show"]
    assert second.code == 3
    assert down == {"stopped": True}
    assert process.wait(timeout=30) == 0
    with pytest.raises(UnavailableError):
        RpcPool([document["rpcUrl"]]).request("eth_chainId")
    assert swarm.ask("dev", "down") == {"stopped": False}


def test_down_leaves_chains_alone_that_up_did_not_start(swarm: CommandLine, tools: ChainTools) -> None:
    assert swarm.ask("dev", "down") == {"stopped": False}
    assert tools.reader.chain_id() == 31_337


def test_first_steps_without_anything(swarm: CommandLine) -> None:
    steps = [step["command"] for step in swarm.ask("init")["next"]]

    assert steps == ["swarm dev up", "swarm wallet create alice", "swarm dev faucet alice"]


def test_faucet_without_a_chain_says_how_to_start_one(swarm: CommandLine) -> None:
    swarm.add_key("alice", keccak(b"alice"))

    refused = swarm.ask("dev", "faucet", "alice", code=4)

    assert "swarm dev up" in refused["fix"]


def test_an_account_of_the_chain_becomes_a_keystore(swarm: CommandLine) -> None:
    made = swarm.ask("dev", "accounts", "--import", 1, "--as", "member")

    assert made["address"] == dev_accounts()[1].address
    assert swarm.ask("wallet", "sign", "hello")["address"] == made["address"]


def test_deploying_gives_a_file_that_works(connected: CommandLine, tools: ChainTools, alice: KeySigner) -> None:
    tools.fund(alice.address)
    out = connected.home / "second.json"

    deployed = connected.ask("dev", "deploy", "--out", out)

    assert deployed["contracts"]["StakeVault"] != tools.address("StakeVault")
    assert connected.ask("--deployment", out, "slash", "list") == {"cases": []}


def test_right_vectors_pass_and_one_changed_digit_fails(swarm: CommandLine, tmp_path: Path) -> None:
    text = VECTORS.read_text(encoding="utf-8")
    wrong = tmp_path / "wrong.json"
    wrong.write_text(_one_digit_changed(text), encoding="utf-8")

    passed = swarm.finished("--json", "dev", "check-vectors", VECTORS)
    failed = swarm.finished("--json", "dev", "check-vectors", wrong)

    assert (passed.code, passed.document["matches"]) == (0, True)
    assert (failed.code, len(failed.document["mismatches"])) == (1, 1)


@pytest.mark.parametrize("content", ["", "{}", "[]", "\ud800"])
def test_what_are_no_vectors_do_not_pass(swarm: CommandLine, tmp_path: Path, content: str) -> None:
    (tmp_path / "file").write_text(content, encoding="utf-8", errors="surrogatepass")

    assert swarm("dev", "check-vectors", tmp_path / "file").code in {1, 2}
    assert swarm("dev", "check-vectors", tmp_path / "nowhere").code == 2


def _one_digit_changed(text: str) -> str:
    root = json.loads(text)["cases"][0]["root"]
    digit = "0" if root[-1] != "0" else "1"
    return text.replace(root, root[:-1] + digit, 1)

"""`swarm dev deploy` and `swarm dev verify`: the plan first, then each transaction once, then every fact compared."""

import json
from pathlib import Path
from typing import Any

import pytest

from swarm_chain.abi import CONTRACTS
from swarm_chain.adapters.clock import SystemClock
from swarm_chain.adapters.contracts import encode_call
from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.adapters.rpc import Web3Reader
from swarm_chain.core.model import ContractCall
from swarm_chain.core.units import Address, BlockNumber, Timestamp
from swarm_chain.deploy import Origin, Roles, load_plan, plan_deployment, run_plan, save_plan
from swarm_chain.params import load_params
from swarm_chain.testing import FakeSigner
from tests.chain_fixtures import ChainTools
from tests.integration.cli.conftest import CommandLine

MEMBERS = [FakeSigner(f"member {number}").address for number in range(7)]
SINGLE = {name: FakeSigner(name).address for name in ("owner", "guardian", "veto")}
PROPOSER = FakeSigner("proposer").address


@pytest.fixture
def roles(connected: CommandLine) -> Path:
    """A roles file with a key of its own for every role of mainnet."""
    path = connected.home / "roles.toml"
    lines = [f'{name} = "{address}"' for name, address in SINGLE.items()]
    lines += [f"members = {json.dumps(MEMBERS)}", f'proposers = ["{PROPOSER}"]']
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def out(connected: CommandLine, tools: ChainTools, alice: KeySigner) -> Path:
    """Where the deployment goes; alice can pay for it."""
    tools.fund(alice.address)
    return connected.home / "chains" / "second.json"


def _nonce(tools: ChainTools, address: Address) -> int:
    return int(tools.net.rpc.request("eth_getTransactionCount", [address, "latest"]), 16)


def test_mainnet_is_planned_deployed_and_verified(
    connected: CommandLine, tools: ChainTools, alice: KeySigner, roles: Path, out: Path
) -> None:
    asked = ("dev", "deploy", "--params", "mainnet", "--roles", roles, "--out", out)

    planned = connected.ask(*asked, "--plan")
    assert _nonce(tools, alice.address) == 0
    assert not out.parent.exists()
    deployed = connected.ask(*asked)
    verified = connected.ask("dev", "verify", out, "--roles", roles)

    assert [item["name"] for item in planned["contracts"]] == list(CONTRACTS)
    assert {item["name"]: item["address"] for item in planned["contracts"]} == deployed["contracts"]
    assert deployed["sent"] == planned["transactions"] == _nonce(tools, alice.address)
    assert verified["differences"] == []
    assert verified["compared"] > 300
    document = json.loads(out.read_text())
    assert document["roles"]["members"] == MEMBERS
    assert [path.name for path in out.parent.iterdir()] == ["second.json"]
    assert json.loads((connected.home / "deployments" / "31337.json").read_text()) == document


def test_second_run_sends_nothing(
    connected: CommandLine, tools: ChainTools, alice: KeySigner, roles: Path, out: Path
) -> None:
    asked = ("dev", "deploy", "--params", "mainnet", "--roles", roles, "--out", out)
    first = connected.ask(*asked)
    spent = _nonce(tools, alice.address)

    again = connected.ask(*asked)

    assert (again["sent"], _nonce(tools, alice.address)) == (0, spent)
    assert again["contracts"] == first["contracts"]


@pytest.mark.parametrize("cut", [1, len(CONTRACTS) + 3])
def test_run_that_was_cut_is_taken_up_by_the_next(
    connected: CommandLine, tools: ChainTools, alice: KeySigner, roles: Path, out: Path, cut: int
) -> None:
    asked = ("dev", "deploy", "--params", "mainnet", "--roles", roles, "--out", out)
    started = out.with_suffix(".started.json")
    _cut_after(tools, alice, connected.ask(*asked, "--plan"), started, cut)

    done = connected.ask(*asked)

    assert done["sent"] == done["plan"]["transactions"] - cut
    assert _nonce(tools, alice.address) == done["plan"]["transactions"]
    assert out.exists()
    assert not started.exists()


def test_run_that_was_cut_is_not_finished_with_other_roles_or_numbers(
    connected: CommandLine, tools: ChainTools, alice: KeySigner, roles: Path, out: Path
) -> None:
    asked = ("dev", "deploy", "--params", "mainnet", "--roles", roles, "--out", out)
    _cut_after(tools, alice, connected.ask(*asked, "--plan"), out.with_suffix(".started.json"), 2)

    other_guardian = connected.ask(*asked, "--guardian", FakeSigner("thief").address, code=2)
    other_start = connected.ask(*asked, "--genesis-at", 1_800_000_000, code=2)
    other_preset = connected.ask("dev", "deploy", "--out", out, code=2)

    assert other_guardian["values"]["differs"] == ["set of role holders"]
    assert other_start["values"]["differs"] == ["chain, deployer or genesis"]
    assert other_preset["values"]["differs"] == ["preset", "set of role holders"]
    assert _nonce(tools, alice.address) == 2


def test_nothing_is_sent_without_a_yes(
    connected: CommandLine, tools: ChainTools, alice: KeySigner, roles: Path, out: Path
) -> None:
    done = connected("dev", "deploy", "--params", "mainnet", "--roles", roles, "--out", out)

    assert done.code == 2
    assert "add --yes" in done.err
    for words in ("deployment plan", "14 d", "timelock", "MIN_UNBONDING", "GUARDIAN", SINGLE["guardian"]):
        assert words in done.out
    assert _nonce(tools, alice.address) == 0
    assert not out.parent.exists()


def test_rewired_chain_is_refused_with_all_differences(
    connected: CommandLine, tools: ChainTools, roles: Path, out: Path
) -> None:
    connected.ask("dev", "deploy", "--params", "mainnet", "--roles", roles, "--out", out)
    plan, thief = load_plan(out), FakeSigner("thief").address
    grant = ContractCall(contract="AccessManager", function="grantRole", args=(1, thief, 0))
    unbond = ContractCall(contract="StakeVault", function="setUnbonding", args=(plan.params.stake.min_unbonding_for,))
    for call in (grant, unbond):
        timelock = plan.deployment.contracts["TimelockController"]
        assert tools.impersonate(timelock, plan.deployment.contracts[call.contract], encode_call(call))
    tools.net.mine()

    refused = connected.ask("dev", "verify", out, code=70)
    told = connected("dev", "verify", out)

    assert refused["error"] == "deployment_differs"
    assert {item["what"] for item in refused["values"]["differences"]} == {
        f"MINTER of {thief} with delay 0 s",
        "StakeVault.unbondingFor()",
    }
    assert told.code == 70
    assert "1209600" in told.text
    assert "StakeVault.unbondingFor()" in told.text
    assert thief in told.text


def test_readers_own_expectation_of_the_roles_counts(connected: CommandLine, roles: Path, out: Path) -> None:
    connected.ask("dev", "deploy", "--params", "mainnet", "--roles", roles, "--out", out)
    roles.write_text(f'guardian = "{FakeSigner("somebody else").address}"\n', encoding="utf-8")

    refused = connected.ask("dev", "verify", out, "--roles", roles, code=70)

    assert any(item["what"].startswith("GUARDIAN of ") for item in refused["values"]["differences"])


def test_verifying_without_a_file_takes_the_one_commands_use(connected: CommandLine, tools: ChainTools) -> None:
    assert tools.net.plan is not None
    save_plan(tools.net.plan, connected.home / "deployments" / "31337.json")

    assert connected.ask("dev", "verify")["differences"] == []


def test_mainnet_wants_every_role_by_name(connected: CommandLine, out: Path) -> None:
    refused = connected.ask("dev", "deploy", "--params", "mainnet", "--out", out, code=2)

    assert refused["error"] == "roles_missing"
    assert refused["values"]["missing"] == ["owner", "members", "guardian", "veto", "proposers"]
    assert "--proposer" in refused["fix"]


@pytest.mark.parametrize("count", [1, 6, 8])
def test_mainnet_wants_as_many_members_as_its_params_say(
    connected: CommandLine, roles: Path, out: Path, count: int
) -> None:
    given: list[Any] = []
    for number in range(count):
        given += ["--member", FakeSigner(f"seat {number}").address]

    refused = connected.ask("dev", "deploy", "--params", "mainnet", "--roles", roles, *given, "--out", out, code=2)

    assert f"want 7 oracle members, got {count}" in refused["message"]


@pytest.mark.parametrize(
    ("option", "shared"),
    [("--guardian", "guardian and veto"), ("--proposer", "veto and proposer 1"), ("--owner", "owner and veto")],
)
def test_mainnet_refuses_one_key_in_two_roles(
    connected: CommandLine, roles: Path, out: Path, option: str, shared: str
) -> None:
    refused = connected.ask(
        "dev", "deploy", "--params", "mainnet", "--roles", roles, option, SINGLE["veto"], "--out", out, code=2
    )

    assert refused["error"] == "shared_key"
    assert shared in refused["message"]


def test_mainnet_refuses_a_role_for_the_deployer(
    connected: CommandLine, alice: KeySigner, roles: Path, out: Path
) -> None:
    refused = connected.ask(
        "dev", "deploy", "--params", "mainnet", "--roles", roles, "--guardian", alice.address, "--out", out, code=2
    )

    assert "guardian and deployer" in refused["message"]


@pytest.mark.parametrize(
    ("text", "complaint", "fix"),
    [
        ("owner = ", "is no TOML", "write it like"),
        ('boss = "0x00"', "unknown key 'boss'", "owner, members, guardian, veto, proposers"),
        ("guardian = 5", "guardian must be one address in quotes", "write it like"),
        (f'members = "{MEMBERS[0]}"', "members is no list", 'members = ["0x…"]'),
        ("members = []", "members must be a list of addresses", "write it like"),
        ("proposers = [1]", "proposers must be a list of addresses", "write it like"),
        (f'veto = ["{MEMBERS[0]}"]', "veto must be one address in quotes", "write it like"),
        ('veto = "0x12"', "is no address", "40 hex digits"),
        (f'veto = "{MEMBERS[0].swapcase().replace("X", "x", 1)}"', "wrong checksum", "copy the address again"),
    ],
)
def test_roles_file_that_is_none_says_how_to_write_it(
    connected: CommandLine, out: Path, text: str, complaint: str, fix: str
) -> None:
    path = connected.home / "bad.toml"
    path.write_text(text + "\n", encoding="utf-8")

    refused = connected.ask("dev", "deploy", "--params", "mainnet", "--roles", path, "--out", out, code=2)

    assert (refused["error"], complaint in refused["message"], fix in refused["fix"]) == ("bad_roles", True, True), (
        refused
    )


def test_roles_file_that_is_not_there(connected: CommandLine, out: Path) -> None:
    refused = connected.ask("dev", "deploy", "--roles", connected.home / "none.toml", "--out", out, code=2)

    assert "cannot be read" in refused["message"]


def _cut_after(tools: ChainTools, alice: KeySigner, planned: dict[str, Any], started: Path, steps: int) -> None:
    """What a run leaves that died after some transactions: the note it wrote first, and the transactions."""
    origin = Origin(
        deployer=alice.address,
        first_nonce=0,
        chain_id=31337,
        block=BlockNumber(tools.reader.block("latest").number + 1),
        genesis_at=Timestamp(planned["genesisAt"]),
    )
    roles = Roles(**SINGLE, members=tuple(MEMBERS), proposers=(PROPOSER,))
    plan = plan_deployment(load_params("mainnet"), roles, origin)
    save_plan(plan, started)

    def cut(done: int, _total: int, _what: str) -> None:
        if done == steps:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_plan(plan, Web3Reader(tools.net.rpc_url, plan.deployment), alice, clock=SystemClock(), progress=cut)

"""`swarm node why-idle` on a real chain: from a machine without a key to one that missed a window."""

import pytest

from node.state import only_agent
from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.core.units import WEI_PER_SWM, Address
from tests.chain_fixtures import ChainTools, drawn_window
from tests.integration.cli.conftest import CommandLine, Shelf


def codes(swarm: CommandLine) -> list[str]:
    """Codes of the reasons, in the order they are told; how busy the test machine is does not matter."""
    document = swarm.ask("node", "why-idle")
    return [one["code"] for one in document["reasons"] if one["code"] != "device_busy"]


def test_why_idle_when_there_is_no_key_then_register_comes_first(connected: CommandLine) -> None:
    assert codes(connected) == ["no_key"]


def test_why_idle_when_the_chain_is_away_then_says_so_and_asks_the_rest(
    connected: CommandLine, tools: ChainTools, alice: KeySigner, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools.register(alice)
    connected.ask("node", "register")
    monkeypatch.setenv("SWARM_RPC_URL", "http://127.0.0.1:9")

    assert codes(connected)[:2] == ["chain_unreachable", "agent_not_running"]


def test_why_idle_when_a_node_comes_to_work_step_by_step_then_each_reason_goes(
    connected: CommandLine,
    tools: ChainTools,
    alice: KeySigner,
    member: KeySigner,
    shelf: Shelf,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tools.register(alice)
    node = Address(connected.ask("node", "register")["node"])
    assert codes(connected)[:3] == ["stake_below_minimum", "agent_not_running", "no_oracle"]

    tools.send(alice, "SwarmToken", "approve", tools.address("StakeVault"), 1000 * WEI_PER_SWM)
    tools.send(alice, "StakeVault", "stake", 1, 1000 * WEI_PER_SWM)
    shelf.documents["/v1/status"] = {"epoch": 1, "chainTime": 1}
    shelf.documents[f"/v1/plans/{node}"] = {"plans": []}
    monkeypatch.setenv("SWARM_ORACLE_URL", shelf.url)
    monkeypatch.setenv("SWARM_JOBS", "1")
    with only_agent(connected.home / "node"):
        assert [code for code in codes(connected) if code != "clock_off"] == ["no_plan", "no_jobs"]

        shelf.documents[f"/v1/plans/{node}"] = {"plans": [{"device": 0, "m": 64, "n": 64, "steps": 1}]}
        missed = drawn_window(tools, member)
        found = connected.ask("node", "why-idle")

    assert found["missedWindows"] == [{"windowId": missed.window_id, "why": "no run was committed in time"}]
    assert shelf.posted == []

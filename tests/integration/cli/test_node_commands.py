"""`swarm node` against a real chain: register, status, bench, and what stops run before it starts."""

import stat
from pathlib import Path

import pytest

from node.state import only_agent, open_state
from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.core.encoding import keccak
from swarm_chain.core.units import Address
from tests.chain_fixtures import ChainTools
from tests.integration.cli.conftest import CommandLine, Shelf


@pytest.fixture
def provider(connected: CommandLine, tools: ChainTools, alice: KeySigner) -> CommandLine:
    """Alice owns provider 1, without nodes."""
    tools.register(alice)
    return connected


def test_register_makes_a_private_key_and_adds_the_node(provider: CommandLine, tools: ChainTools) -> None:
    done = provider.ask("node", "register")
    assert tools.call("ProviderRegistry", "providerIdOfNode", done["node"]) == done["providerId"] == 1
    folder = provider.home / "node"
    assert done["folder"] == str(folder)
    assert [stat.S_IMODE((folder / name).stat().st_mode) for name in ("key.json", "password")] == [0o600, 0o600]

    again = provider.ask("node", "register")
    assert (again["node"], again["registered"]) == (done["node"], False)


def test_register_of_anothers_node_is_refused(provider: CommandLine, tools: ChainTools) -> None:
    provider.ask("node", "register")
    bob = provider.add_key("bob", keccak(b"bob"))
    tools.register(bob)
    refused = provider.ask("node", "register", "--account", "bob", code=5)
    assert refused["error"] == "NodeAlreadyAdded"
    assert refused["values"]["providerId"] == 1

    other = provider.ask("node", "register", "--account", "bob", "--folder", provider.home / "other")
    assert tools.call("ProviderRegistry", "providerIdOfNode", other["node"]) == 2


def test_register_without_confirmation_adds_nothing(provider: CommandLine, tools: ChainTools) -> None:
    refused = provider("--json", "node", "register")
    assert refused.code == 2
    assert tools.call("ProviderRegistry", "nodeCount", 1) == 0


def test_register_by_a_stranger_is_refused_by_the_chain(provider: CommandLine, tools: ChainTools) -> None:
    stranger = provider.add_key("bob", keccak(b"bob"))
    tools.fund(stranger.address)
    refused = provider.ask("node", "register", "--account", "bob", "--provider", 1, code=5)
    assert refused["error"] == "NotProviderOwnerOrOperator"


def test_status_before_registration_says_what_to_do(provider: CommandLine) -> None:
    refused = provider.ask("node", "status", code=3)
    assert "swarm node register" in refused["fix"]


def test_status_compares_the_three_views(
    provider: CommandLine, tools: ChainTools, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = Address(provider.ask("node", "register")["node"])
    now = tools.reader.block("latest").timestamp
    shelf.documents["/v1/status"] = {"epoch": 4, "chainTime": now - 100}
    shelf.documents[f"/v1/plans/{node}"] = {"epoch": 4, "plans": [{"device": 0, "m": 64, "n": 64, "steps": 1}]}
    monkeypatch.setenv("SWARM_ORACLE_URL", f"{shelf.url},http://127.0.0.1:9")

    found = provider.ask("node", "status")
    assert (found["state"], found["chain"]["providerId"]) == ("registered", 1)
    assert found["local"]["running"] is False
    complaints = " | ".join(found["differences"])
    assert "no agent runs here" in complaints
    assert "100 s behind the chain" in complaints
    assert "http://127.0.0.1:9 is away" in complaints
    assert found["next"] == "swarm node run"


def test_status_while_an_agent_runs_reads_its_records(provider: CommandLine) -> None:
    node = Address(provider.ask("node", "register")["node"])
    folder = provider.home / "node"
    open_state(folder / "state.sqlite", node).close()
    with only_agent(folder):
        found = provider.ask("node", "status")
    assert found["local"]["running"] is True
    assert found["differences"] == []


def test_bench_measures_every_backend_without_a_chain(swarm: CommandLine) -> None:
    found = swarm.ask("node", "bench", "compute", "--preset", "minimal", "--runs", 1)
    assert {result["backend"] for result in found["results"]} == {"numpy", "torch-cpu"}
    assert all(result["knownAnswers"] and result["mtops"] > 0 for result in found["results"])


@pytest.mark.long
def test_bench_names_every_metric_and_none_that_was_not_measured_has_a_value(swarm: CommandLine) -> None:
    found = swarm.ask("node", "bench", "--preset", "minimal", "--runs", 1)["metrics"]

    measured = {(one["category"], one["name"]) for one in found if one["value"] is not None}
    assert {("compute", "int8 rate"), ("memory", "set read"), ("training", "throughput")} <= measured
    assert ("storage", "audited reads") in measured
    categories = {one["category"] for one in found}
    assert categories == {"compute", "memory", "training", "storage", "inference", "network", "availability"}
    for one in found:
        assert all(one[name] for name in ("unit", "method", "measuredBy")), one
        assert (one["value"] is None) == bool(one["problem"]), one
        assert one["value"] is None or one["value"] > 0 or one["name"] == "loss", one


def test_bench_of_chosen_categories_measures_no_other(swarm: CommandLine) -> None:
    found = swarm.ask("node", "bench", "storage", "network")

    assert {one["category"] for one in found["metrics"]} == {"storage", "network"}
    assert found["results"] == []


@pytest.mark.parametrize("arguments", [("--preset", "huge"), ("telepathy",)])
def test_bench_of_something_unknown_is_refused(swarm: CommandLine, arguments: tuple[str, ...]) -> None:
    assert swarm.ask("node", "bench", *arguments, code=2)["error"] == "usage"


def test_run_without_a_key_ends_before_anything_starts(connected: CommandLine) -> None:
    refused = connected.finished("node", "run", "--oracle-url", "http://127.0.0.1:9")
    assert refused.code == 3
    assert "swarm node register" in refused.err
    assert "Traceback" not in refused.text


def test_run_with_a_password_that_others_can_read_is_refused(provider: CommandLine) -> None:
    provider.ask("node", "register")
    (provider.home / "node" / "password").chmod(0o644)
    refused = provider.finished("node", "run", "--oracle-url", "http://127.0.0.1:9")
    assert refused.code == 3
    assert "chmod 600" in refused.err


def test_run_with_a_wrong_password_is_refused(provider: CommandLine, tmp_path: Path) -> None:
    provider.ask("node", "register")
    (provider.home / "node" / "password").write_text("something else")
    refused = provider.finished("node", "run", "--oracle-url", "http://127.0.0.1:9")
    assert refused.code == 3
    assert "wrong password" in refused.err


def test_run_with_a_ray_address_where_nobody_is_ends_with_the_right_code(provider: CommandLine) -> None:
    provider.ask("node", "register")
    arguments = ("--oracle-url", "http://127.0.0.1:9", "--ray-address", "127.0.0.1:9")
    refused = provider.finished("node", "run", *arguments)
    assert refused.code == 4
    assert "SWARM_RAY_ADDRESS" in refused.err
    assert "Traceback" not in refused.text


def test_maintenance_announced_listed_and_cancelled_by_the_nodes_own_key(
    provider: CommandLine, tools: ChainTools
) -> None:
    node = Address(provider.ask("node", "register")["node"])
    tools.fund(node)
    assert provider.ask("node", "maintenance", "announce", "--for", "60s", "--at", "+1s", code=2)["error"] == (
        "short_notice"
    )
    too_long = provider.ask("node", "maintenance", "announce", "--for", "1h", code=2)
    assert (too_long["error"], too_long["values"]["excusedFor"]) == ("over_budget", 120)
    dry = provider.ask("node", "maintenance", "announce", "--for", "1m", "--dry-run")
    assert dry["state"] == "simulated"

    said = provider.ask("node", "maintenance", "announce", "--for", "1m", "--node-key")
    assert (said["endsAt"] - said["startsAt"], said["excusedFor"]) == (60, 60)
    listed = provider.ask("node", "maintenance", "list")
    assert [(one["startsAt"], one["phase"]) for one in listed["announced"]] == [(said["startsAt"], "ahead")]
    assert listed["leftFor"] == 60
    assert provider.ask("node", "maintenance", "announce", "--for", "1m", code=2)["error"] == "maintenance_stands"
    assert provider.ask("node", "status")["chain"]["maintenanceStartsAt"] == said["startsAt"]

    assert provider.ask("node", "maintenance", "cancel")["withdrawn"] is True
    assert provider.ask("node", "maintenance", "list")["announced"] == []
    assert provider.ask("node", "maintenance", "cancel", code=5)["error"] == "NoMaintenanceAhead"


def test_status_when_in_maintenance_then_says_so_and_misses_no_agent(provider: CommandLine, tools: ChainTools) -> None:
    provider.ask("node", "register")
    said = provider.ask("node", "maintenance", "announce", "--for", "1m")
    tools.net.warp(said["startsAt"] - tools.reader.block("latest").timestamp + 1)

    found = provider.ask("node", "status")
    assert (found["state"], found["next"]) == ("maintenance", "swarm node maintenance list")
    assert not any("no agent runs" in line for line in found["differences"])
    assert "maintenance" in [one["code"] for one in provider.ask("node", "why-idle")["reasons"]]


def test_status_when_the_node_was_removed_then_retired_and_another_key_is_next(
    provider: CommandLine, tools: ChainTools, alice: KeySigner
) -> None:
    node = provider.ask("node", "register")["node"]
    tools.send(alice, "ProviderRegistry", "removeNode", 1, node)

    found = provider.ask("node", "status")
    assert (found["state"], found["next"]) == ("retired", "swarm node register --folder DIR")

"""Invariant 35: every function of every ABI is public by design, behind a role, or one party's own; nothing is forgotten."""

from collections.abc import Mapping
from typing import Any

import pytest

from swarm_chain.abi import CONTRACTS, load_artifact
from swarm_chain.adapters.contracts import function_selector
from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.deploy import DeploymentPlan
from swarm_chain.deploy.expected import changing_functions
from swarm_chain.deploy.plan import ROLE_NAMES, role_holders
from swarm_chain.testing import FakeSigner
from tests.chain_fixtures import ChainTools
from tests.integration.access.table import AUTHORITY, GATED, GOVERNED, PUBLIC, RESTRICTED, Gate
from tests.integration.access.world import AccessWorld, build_world

STRANGER = FakeSigner("stranger").address
UNAUTHORIZED = "AccessManagedUnauthorized"
REFUSALS = {gate.error for gate in GATED.values()} | set(GOVERNED.values()) | {UNAUTHORIZED}
ROLES = {(contract, name): role for contract, names, role in RESTRICTED for name in names}
MINT = bytes(function_selector("SwarmToken", "mint")) + bytes(64)
SAMPLES: Mapping[str, object] = {"address": STRANGER, "bool": False, "string": "text", "bytes": MINT}


@pytest.fixture
def world(tools: ChainTools, member: KeySigner) -> AccessWorld:
    return build_world(tools, member)


@pytest.fixture
def empty(tools: ChainTools) -> AccessWorld:
    """The chain right after deployment: enough to ask who is refused at the door."""
    return AccessWorld(tools=tools, keys={}, arguments={})


@pytest.fixture
def plan(tools: ChainTools) -> DeploymentPlan:
    assert tools.net.plan is not None
    return tools.net.plan


@pytest.mark.parametrize("contract", CONTRACTS)
def test_every_function_that_changes_state_has_exactly_one_line_in_the_table(contract: str) -> None:
    for function in changing_functions(contract):
        key = (contract, function)
        lines = [key in PUBLIC, key in ROLES, key in GOVERNED, key in GATED, function == AUTHORITY]
        assert lines.count(True) == 1, key


def test_table_has_no_line_about_a_function_that_is_gone() -> None:
    existing = {(contract, name) for contract in CONTRACTS for name in changing_functions(contract)}

    assert PUBLIC.keys() | ROLES.keys() | GOVERNED.keys() | GATED.keys() <= existing


def test_nothing_takes_native_coin_but_what_forwards_it() -> None:
    payable = {
        (contract, item.get("name", item["type"]))
        for contract in CONTRACTS
        for item in load_artifact(contract).abi
        if item.get("stateMutability") == "payable"
    }

    assert payable == {
        ("TimelockController", "execute"),
        ("TimelockController", "executeBatch"),
        ("TimelockController", "receive"),
        ("AccessManager", "execute"),
    }


@pytest.mark.parametrize(("contract", "function"), sorted(PUBLIC))
def test_public_function_never_asks_who_calls(empty: AccessWorld, contract: str, function: str) -> None:
    assert len(PUBLIC[contract, function].split()) >= 4
    assert empty.said_to(STRANGER, contract, function, _samples(contract, function)) not in REFUSALS


@pytest.mark.parametrize(("contract", "function"), sorted(ROLES))
def test_restricted_function_refuses_everybody_but_the_holders_of_its_role(
    empty: AccessWorld, plan: DeploymentPlan, contract: str, function: str
) -> None:
    at, args = plan.deployment.contracts, _samples(contract, function)
    holders = {account for role, account in role_holders(plan.roles, at) if role == ROLES[contract, function]}
    everybody = {account for _, account in role_holders(plan.roles, at)} | set(at.values()) | {STRANGER}
    assert holders

    said = {account: empty.said_to(account, contract, function, args) for account in everybody}

    assert {account for account, error in said.items() if error != UNAUTHORIZED} == holders


@pytest.mark.parametrize(("contract", "function"), sorted(GOVERNED))
def test_function_of_a_manager_refuses_a_stranger_and_the_deployer(
    empty: AccessWorld, plan: DeploymentPlan, contract: str, function: str
) -> None:
    args = _samples(contract, function)

    assert empty.said_to(STRANGER, contract, function, args) == GOVERNED[contract, function]
    if contract == "AccessManager":
        assert empty.said_to(plan.origin.deployer, contract, function, args) == GOVERNED[contract, function]


@pytest.mark.parametrize("contract", [name for name in CONTRACTS if AUTHORITY in changing_functions(name)])
def test_authority_is_changed_by_itself_alone(empty: AccessWorld, plan: DeploymentPlan, contract: str) -> None:
    at = plan.deployment.contracts
    args = (at["TimelockController"],)

    for caller in (STRANGER, plan.origin.deployer, at["TimelockController"], at["StakeVault"]):
        assert empty.said_to(caller, contract, AUTHORITY, args) == UNAUTHORIZED
    assert empty.said_to(at["AccessManager"], contract, AUTHORITY, args) == ""


def test_partys_own_function_refuses_a_stranger_the_timelock_and_every_role(
    world: AccessWorld, plan: DeploymentPlan
) -> None:
    at = plan.deployment.contracts
    roles = {account for _, account in role_holders(plan.roles, at)}
    others = roles | {at["ComputeCourt"], world.address("stranger")}

    wrong = {
        (key, caller): said
        for key, gate in GATED.items()
        for caller in others
        if (said := world.said_to(caller, *key, world.arguments[key])) != gate.error
    }

    assert wrong == {}


def test_partys_own_function_admits_that_party_and_no_other(world: AccessWorld) -> None:
    admitted = {key: _admitted(world, key, gate) for key, gate in GATED.items()}

    assert admitted == {key: set(gate.admits) for key, gate in GATED.items()}


def test_role_names_are_those_of_the_specification() -> None:
    assert len(ROLE_NAMES) == len({role for _, _, role in RESTRICTED})


def _admitted(world: AccessWorld, key: tuple[str, str], gate: Gate) -> set[str]:
    return {
        party
        for party, signer in world.keys.items()
        if world.said_to(signer.address, *key, world.arguments[key]) != gate.error
    }


def _samples(contract: str, function: str) -> tuple[Any, ...]:
    """Arguments that fit the ABI and mean nothing: no case, no root, no amount, a stranger's address."""
    item = next(item for item in load_artifact(contract).abi if item["type"] == "function" and item["name"] == function)
    return tuple(_sample(spec) for spec in item["inputs"])


def _sample(spec: Mapping[str, Any]) -> Any:
    kind = spec["type"]
    if kind.endswith("]"):
        return []
    if kind == "tuple":
        return {part["name"]: _sample(part) for part in spec["components"]}
    if kind.startswith("bytes") and kind != "bytes":
        return bytes(int(kind.removeprefix("bytes")))
    return SAMPLES.get(kind, 0)

"""A deployed chain is as planned; whatever is changed in it afterwards is found and named."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from swarm_chain.adapters.contracts import encode_call, function_selector
from swarm_chain.adapters.rpc import Web3Reader
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.model import ContractCall
from swarm_chain.core.params import Params
from swarm_chain.deploy import DeploymentPlan, Roles, plan_deployment, verify_plan
from swarm_chain.devnet import Devnet
from swarm_chain.testing import FakeSigner
from tests.chain_fixtures import ChainTools

STRANGER = FakeSigner("stranger").address


@pytest.fixture
def plan(chain: Devnet) -> DeploymentPlan:
    assert chain.plan is not None
    return chain.plan


def test_chain_as_planned_passes_and_says_how_much_was_compared(plan: DeploymentPlan, reader: Web3Reader) -> None:
    assert verify_plan(plan, reader) > 300


@pytest.mark.parametrize(
    ("contract", "function", "args", "named"),
    [
        ("AccessManager", "grantRole", (1, STRANGER, 0), "MINTER of "),
        ("AccessManager", "grantRole", (3, STRANGER, 0), "COURT of "),
        ("AccessManager", "grantRole", (99, STRANGER, 0), "role 99 of "),
        ("AccessManager", "revokeRole", (4, "EpochOracle"), "ORACLE of "),
        ("AccessManager", "setRoleAdmin", (6, 7), "AccessManager.getRoleAdmin(6)"),
        ("AccessManager", "setRoleGuardian", (1, 6), "AccessManager.getRoleGuardian(1)"),
        ("AccessManager", "setTargetClosed", ("StakeVault", True), "AccessManager.isTargetClosed("),
        ("EpochOracle", "setLimits", (STRANGER,), "EpochOracle, LimitsChanged, limits"),
        ("EpochOracle", "addMember", (STRANGER, 2), "EpochOracle.members()"),
        ("StakeVault", "setUnbonding", (700,), "StakeVault.unbondingFor()"),
        ("StakeVault", "setBuckets", (1, 1), "StakeVault.providerBucketBps()"),
    ],
)
def test_what_the_timelock_changed_is_named(
    plan: DeploymentPlan, tools: ChainTools, contract: str, function: str, args: tuple[object, ...], named: str
) -> None:
    at = plan.deployment.contracts
    real = tuple(at.get(arg, arg) if isinstance(arg, str) else arg for arg in args)
    _by_timelock(tools, ContractCall(contract=contract, function=function, args=real))

    assert any(named in what for what in _found(plan, tools.reader))


def test_function_that_was_given_to_everybody_is_named(plan: DeploymentPlan, tools: ChainTools) -> None:
    public, selector = 2**64 - 1, function_selector("SwarmToken", "mint")
    call = ContractCall(
        contract="AccessManager",
        function="setTargetFunctionRole",
        args=(plan.deployment.contracts["SwarmToken"], (selector,), public),
    )
    _by_timelock(tools, call)

    found = _found(plan, tools.reader)

    assert any("AccessManager.getTargetFunctionRole(" in what and to_hex(selector) in what for what in found)
    assert any("role of function" in what for what in found)


def test_contract_under_another_authority_is_named(plan: DeploymentPlan, tools: ChainTools) -> None:
    at = plan.deployment.contracts
    other = at["TimelockController"]  # must have code
    call = ContractCall(contract="AccessManager", function="updateAuthority", args=(at["StakeVault"], other))
    _by_timelock(tools, call)

    assert "StakeVault.authority()" in _found(plan, tools.reader)


def test_second_proposer_and_a_shorter_delay_of_the_timelock_are_named(plan: DeploymentPlan, tools: ChainTools) -> None:
    propose = keccak(b"PROPOSER_ROLE")
    _by_timelock(tools, ContractCall(contract="TimelockController", function="grantRole", args=(propose, STRANGER)))
    _by_timelock(tools, ContractCall(contract="TimelockController", function="updateDelay", args=(0,)))

    found = _found(plan, tools.reader)

    assert f"timelock role {to_hex(propose)} of {STRANGER}" in found
    assert "TimelockController.getMinDelay()" in found


@pytest.mark.parametrize(
    ("part", "field", "value", "named"),
    [
        ("stake", "max_unbonding_for", 2_592_001, "StakeVault.MAX_UNBONDING (immutable)"),
        ("stake", "bucket_for", 86_401, "StakeVault.BUCKET_FOR (immutable)"),
        ("court", "veto_for", 29, "SlashingCourt.VETO_FOR (immutable)"),
        ("court", "bounty_bps", 999, "SlashingCourt.BOUNTY_BPS (immutable)"),
        ("epoch", "activation_for", 19, "RewardSettlement.ACTIVATION_FOR (immutable)"),
        ("rewards", "emission_first_wei", 1, "RewardSettlement.EMISSION_FIRST (immutable)"),
        ("rewards", "max_penalty_per_epoch_wei", 1, "ReportLimits.MAX_PENALTY_PER_EPOCH (immutable)"),
        ("escrow", "oracle_bps", 501, "JobEscrow.ORACLE_BPS (immutable)"),
        ("governance", "payout_delay_for", 59, "ProviderRegistry.PAYOUT_DELAY (immutable)"),
        ("governance", "timelock_for", 59, "TimelockController.getMinDelay()"),
        ("token", "cap_wei", 10**27 + 1, "SwarmToken.CAP (immutable)"),
    ],
)
def test_chain_deployed_with_another_number_is_named(
    plan: DeploymentPlan, reader: Web3Reader, part: str, field: str, value: int, named: str
) -> None:
    params: Params = replace(plan.params, **{part: replace(getattr(plan.params, part), **{field: value})})

    assert named in _found(plan_deployment(params, plan.roles, plan.origin), reader)


@pytest.mark.parametrize(
    ("role", "change"),
    [
        ("GUARDIAN", lambda roles: replace(roles, guardian=STRANGER)),
        ("VETO", lambda roles: replace(roles, veto=STRANGER)),
    ],
)
def test_role_held_by_another_key_than_planned_is_named_on_both_sides(
    plan: DeploymentPlan, reader: Web3Reader, role: str, change: Callable[[Roles], Roles]
) -> None:
    other = plan_deployment(plan.params, change(plan.roles), plan.origin)

    found = _found(other, reader)

    assert any(what.startswith(f"{role} of {STRANGER}") for what in found)
    assert any(what.startswith(f"{role} of {plan.roles.guardian}") for what in found)


@pytest.mark.parametrize("contract", ["StakeVault", "AccessManager", "ReportLimits"])
def test_one_other_byte_of_code_is_named(plan: DeploymentPlan, tools: ChainTools, contract: str) -> None:
    address = plan.deployment.contracts[contract]
    code = bytearray.fromhex(tools.net.rpc.request("eth_getCode", [address, "latest"])[2:])
    code[5] ^= 1  # before any immutable
    tools.net.rpc.request("anvil_setCode", [address, to_hex(bytes(code))])

    assert _found(plan, tools.reader) == [f"{contract} {address}"]


def test_immutable_that_differs_at_one_of_its_places_is_named(plan: DeploymentPlan, tools: ChainTools) -> None:
    address = plan.deployment.contracts["StakeVault"]
    code = tools.net.rpc.request("eth_getCode", [address, "latest"])
    token = plan.deployment.contracts["SwarmToken"][2:].lower()
    assert code.count(token) > 1
    tools.net.rpc.request("anvil_setCode", [address, code.replace(token, STRANGER[2:].lower(), 1)])

    assert "StakeVault.TOKEN (immutable)" in _found(plan, tools.reader)


def test_chain_without_the_contracts_is_named_and_nothing_is_asked_of_it(
    plan: DeploymentPlan, reader: Web3Reader
) -> None:
    elsewhere = plan_deployment(plan.params, plan.roles, replace(plan.origin, first_nonce=1_000))

    found = _found(elsewhere, Web3Reader(reader.rpc.endpoints, elsewhere.deployment))

    assert len(found) == len(plan.deployment.contracts)


def _by_timelock(tools: ChainTools, call: ContractCall) -> None:
    assert tools.impersonate(tools.address("TimelockController"), tools.address(call.contract), encode_call(call))


def _found(plan: DeploymentPlan, reader: Web3Reader) -> list[str]:
    with pytest.raises(InconsistentError) as caught:
        verify_plan(plan, reader)
    assert caught.value.code == "deployment_differs"
    found = caught.value.values["differences"]
    assert isinstance(found, list)
    assert all(item["want"] != item["have"] for item in found)
    return [item["what"] for item in found]

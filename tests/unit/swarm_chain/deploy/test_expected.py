"""What a verification looks at: every immutable and every getter of every contract, or a reason why not."""

import pytest

from swarm_chain.abi import CONTRACTS, load_artifact
from swarm_chain.core.encoding import word
from swarm_chain.deploy import DeploymentPlan
from swarm_chain.deploy.expected import (
    changing_functions,
    constructor_values,
    expected_answers,
    expected_functions,
    expected_members,
    immutable_words,
)
from swarm_chain.params import PRESETS
from tests.unit.swarm_chain.deploy.world import plan_of

# Constants of the code: the comparison of the code covers them.
CONSTANTS = {
    "AccessManager": {"ADMIN_ROLE", "PUBLIC_ROLE", "expiration", "minSetback"},
    "TimelockController": {"CANCELLER_ROLE", "DEFAULT_ADMIN_ROLE", "EXECUTOR_ROLE", "PROPOSER_ROLE"},
    "ProviderRegistry": {"MAX_AHEAD", "MAX_MAINTENANCE", "MAX_NODES", "MAX_PAYOUT_DELAY", "NODE_ADMISSION_TYPEHASH"},
    "SlashSink": {"MAX_BOUNTY_BPS"},
    "StakeVault": {"LONGEST_UNBONDING", "MAX_REQUESTS"},
}
# EIP-712's own view of its immutables, and a flag that is set within a transaction only.
DERIVED = {"eip712Domain", "isConsumingScheduledOp"}
PAUSE = {"MAX_PAUSE", "PAUSE_INTERVAL", "nextPauseAt", "pausedUntil"}
# What a running network moves by itself.
MOVING = {
    "SwarmToken": {"totalSupply"},
    "ProviderRegistry": {"providerCount"},
    "SlashSink": {"insurance", "totalBounties"},
    "StakeVault": {"totalStaked"} | PAUSE,
    "EpochOracle": {"currentEpoch", "processedEpochs"},
    "RewardSettlement": {
        "exitStatus",
        "nettedPenalties",
        "rootCount",
        "totalFunded",
        "totalMinted",
        "totals",
    }
    | PAUSE,
    "JobEscrow": {"jobCount"} | PAUSE,
}


@pytest.fixture(params=PRESETS)
def plan(request: pytest.FixtureRequest) -> DeploymentPlan:
    return plan_of(request.param)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_every_immutable_has_one_expected_word(plan: DeploymentPlan, contract: str) -> None:
    words = immutable_words(plan, contract)

    assert words.keys() == load_artifact(contract).immutables.keys()
    assert all(len(expected) == 32 for expected in words.values())


@pytest.mark.parametrize("contract", CONTRACTS)
def test_every_getter_without_arguments_is_compared_or_has_a_reason(plan: DeploymentPlan, contract: str) -> None:
    compared = {call.function for call, _ in expected_answers(plan) if call.contract == contract and not call.args}
    excused = CONSTANTS.get(contract, set()) | MOVING.get(contract, set()) | DERIVED
    getters = {
        item["name"]
        for item in load_artifact(contract).abi
        if item["type"] == "function" and not item["inputs"] and item["stateMutability"] in {"view", "pure"}
    }

    assert getters - excused == compared
    assert not compared & excused


def test_immutables_are_the_numbers_of_the_preset(plan: DeploymentPlan) -> None:
    at, params = plan.deployment.contracts, plan.params

    vault, court = immutable_words(plan, "StakeVault"), immutable_words(plan, "SlashingCourt")

    assert vault["MIN_UNBONDING"] == word(params.stake.min_unbonding_for)
    assert vault["MAX_UNBONDING"] == word(params.stake.max_unbonding_for)
    assert vault["TOKEN"] == word(at["SwarmToken"])
    assert court["SEVERE_VETO_FOR"] == word(params.court.severe_veto_for)
    assert court["BOND_WEI"] == word(params.court.bond_wei)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_constructor_values_are_all_named(plan: DeploymentPlan, contract: str) -> None:
    names = [argument.name for argument in constructor_values(plan, contract)]

    assert all(names)
    assert len(names) == len(set(names))


def test_every_function_of_every_contract_has_an_expected_role(plan: DeploymentPlan) -> None:
    asked = {call.args for call, _ in expected_answers(plan) if call.function == "getTargetFunctionRole"}

    assert len(asked) == sum(len(changing_functions(contract)) for contract in CONTRACTS)
    assert expected_functions(plan).keys() <= asked


def test_nobody_but_the_timelock_is_admin_and_the_deployer_holds_nothing(plan: DeploymentPlan) -> None:
    members = expected_members(plan)

    assert [account for role, account, _ in members if role == 0] == [plan.deployment.contracts["TimelockController"]]
    assert plan.origin.deployer not in {account for _, account, _ in members}
    assert {delay for _, _, delay in members} == {0}

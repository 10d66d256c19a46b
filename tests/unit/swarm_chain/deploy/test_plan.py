"""The deployment plan: addresses known in advance, every role and restricted function of the specification in it."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from swarm_chain.abi import CONTRACTS
from swarm_chain.adapters.contracts import encode_call, function_selector
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.model import ContractCall
from swarm_chain.core.units import Address
from swarm_chain.deploy import DeploymentPlan, plan_deployment
from swarm_chain.deploy.plan import create_address
from swarm_chain.params import PRESETS
from swarm_chain.testing import FakeSigner
from tests.unit.swarm_chain.deploy.world import ORIGIN, plan_of

SPEC = Path(__file__).resolve().parents[4] / "docs" / "spec" / "deployment.md"


@pytest.fixture(params=PRESETS)
def plan(request: pytest.FixtureRequest) -> DeploymentPlan:
    return plan_of(request.param)


@pytest.mark.parametrize(
    ("nonce", "address"),
    [
        (0, "0xcd234A471b72ba2F1Ccf0A70FCABA648a5eeCD8d"),
        (1, "0x343c43A37D37dfF08AE8C4A11544c718AbB4fCF8"),
        (2, "0xf778B86FA74E846c4f0a1fBd1335FE81c00a0C91"),
        (3, "0xffFd933A0bC612844eaF0C6Fe3E5b8E9B6C1d19c"),
    ],
)
def test_create_address_is_the_published_one(nonce: int, address: str) -> None:
    assert create_address(Address("0x6ac7ea33f8831ea9dcc53393aaa88b25a785dbf0"), nonce) == address


def test_addresses_of_all_contracts_differ_also_across_the_sizes_of_a_nonce() -> None:
    nonces = [0, 1, 127, 128, 255, 256, 65_535, 65_536]

    assert len({create_address(ORIGIN.deployer, nonce) for nonce in nonces}) == len(nonces)


def test_contracts_are_created_in_the_order_of_the_specification(plan: DeploymentPlan) -> None:
    listed = re.findall(r"^\| \d+ \| `(\w+)`", SPEC.read_text(), re.MULTILINE)

    assert listed == list(CONTRACTS)
    assert [step.contract for step in plan.steps[: len(listed)]] == listed
    assert all(step.function == "constructor" for step in plan.steps[: len(listed)])


def test_every_step_fits_its_abi(plan: DeploymentPlan) -> None:
    for step in plan.steps:
        assert encode_call(step)


def test_last_step_takes_the_administration_from_the_deployer(plan: DeploymentPlan) -> None:
    assert plan.steps[-1] == ContractCall(contract="AccessManager", function="revokeRole", args=(0, ORIGIN.deployer))


def test_every_holder_of_the_specification_is_granted_its_role(plan: DeploymentPlan) -> None:
    where, roles = plan.deployment.contracts, plan.roles
    people = {"timelock": where["TimelockController"], "guardian key": roles.guardian, "veto committee": roles.veto}
    wanted = {
        (role, people.get(holder) or where[holder]) for role, _, holders, _ in _role_table() for holder in holders
    }

    granted = {step.args[:2] for step in plan.steps if step.function == "grantRole"}

    assert granted == wanted


def test_every_restricted_function_of_the_specification_belongs_to_its_role(plan: DeploymentPlan) -> None:
    set_roles = {
        (step.args[0], selector, step.args[2])
        for step in plan.steps
        if step.function == "setTargetFunctionRole"
        for selector in _selectors(step)
    }

    for role, name, _, functions in _role_table():
        for contract, function in functions if name != "ADMIN" else ():
            target = plan.deployment.contracts[contract]
            assert (target, function_selector(contract, function), role) in set_roles


def test_number_of_members_must_be_the_params(plan: DeploymentPlan) -> None:
    roles = replace(plan.roles, members=(*plan.roles.members, FakeSigner("one too many").address))

    with pytest.raises(InvalidInputError):
        plan_deployment(plan.params, roles, ORIGIN)


def test_windows_that_end_too_early_are_refused_before_anything_is_sent(plan: DeploymentPlan) -> None:
    """Invariant 33: one second below the sum of the other contracts' windows."""
    stake = replace(plan.params.stake, min_unbonding_for=plan.params.stake.min_unbonding_for - 1)

    with pytest.raises(InvalidInputError, match="min_unbonding_for is") as caught:
        plan_deployment(replace(plan.params, stake=stake), plan.roles, ORIGIN)

    assert caught.value.code == "windows"


def test_plan_of_the_same_arguments_is_the_same(plan: DeploymentPlan) -> None:
    assert plan_deployment(plan.params, plan.roles, ORIGIN) == plan


def _selectors(step: ContractCall) -> tuple[bytes, ...]:
    selectors = step.args[1]
    assert isinstance(selectors, tuple)
    return selectors


def _role_table() -> Iterator[tuple[int, str, list[str], list[tuple[str, str]]]]:
    """Rows of the specification's role table: id, name, holders, (contract, function) pairs."""
    for name, number, holders, functions in re.findall(
        r"^\| ([A-Z]+) (\d) \| ([^|]*) \| (.*) \|$", SPEC.read_text(), re.MULTILINE
    ):
        people = [holder.strip() for holder in re.sub(r"\([^)]*\)", "", holders).split(",")]
        pairs, contract = [], "RewardSettlement"
        for text in re.findall(r"`([^`]+)`", functions):
            contract, _, function = text.rpartition(".") if "." in text else (contract, "", text)
            pairs.append((contract, function))
        yield int(number), name, people, pairs

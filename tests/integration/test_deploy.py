"""A deployment is carried out once, goes on after a cut, and is compared with its plan."""

from dataclasses import replace

import pytest

from swarm_chain.adapters.clock import SystemClock
from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.adapters.rpc import Web3Reader
from swarm_chain.core.errors import InconsistentError, InvalidInputError, RejectedError
from swarm_chain.deploy import DeploymentPlan, Roles, plan_deployment, read_origin, run_plan, verify_plan
from swarm_chain.devnet import Devnet
from swarm_chain.params import load_params
from swarm_chain.testing import FakeSigner
from tests.chain_fixtures import ChainTools


class CutError(Exception):
    """Stands for a process that dies in the middle of a deployment."""


@pytest.fixture
def deployer(chain: Devnet) -> KeySigner:
    return chain.accounts[8]


@pytest.fixture
def plan(chain: Devnet, deployer: KeySigner) -> DeploymentPlan:
    names = ("owner", "member", "guardian", "veto", "proposer")
    owner, member, guardian, veto, proposer = (FakeSigner(name).address for name in names)
    roles = Roles(owner=owner, members=(member,), guardian=guardian, veto=veto, proposers=(proposer,))
    return plan_deployment(load_params("minimal"), roles, read_origin(chain.rpc_url, deployer.address))


@pytest.fixture
def fresh_reader(chain: Devnet, plan: DeploymentPlan) -> Web3Reader:
    return Web3Reader(chain.rpc_url, plan.deployment)


def test_cut_deployment_goes_on_where_it_stopped_and_sends_nothing_twice(
    chain: Devnet, plan: DeploymentPlan, fresh_reader: Web3Reader, deployer: KeySigner
) -> None:
    shown: list[int] = []

    def cut(done: int, total: int, what: str) -> None:
        if done == 17:
            raise CutError(f"{what} of {total}")

    with pytest.raises(CutError):
        run_plan(plan, fresh_reader, deployer, clock=SystemClock(), progress=cut)

    run_plan(plan, fresh_reader, deployer, clock=SystemClock(), progress=lambda done, _total, _what: shown.append(done))
    run_plan(plan, fresh_reader, deployer, clock=SystemClock())

    nonce = int(chain.rpc.request("eth_getTransactionCount", [deployer.address, "latest"]), 16)
    assert shown == list(range(17, len(plan.steps) + 1))
    assert nonce == plan.origin.first_nonce + len(plan.steps)


def test_finished_deployment_that_differs_from_the_plan_is_found_out(
    plan: DeploymentPlan, fresh_reader: Web3Reader, deployer: KeySigner
) -> None:
    run_plan(plan, fresh_reader, deployer, clock=SystemClock())
    stranger = FakeSigner("stranger").address
    other = replace(plan, roles=replace(plan.roles, guardian=stranger, members=(stranger,)))

    with pytest.raises(InconsistentError) as caught:
        verify_plan(other, fresh_reader)

    differences = str(caught.value.values["differences"])
    assert "hasRole" in differences
    assert "EpochOracle.members" in differences


def test_deployment_whose_deployer_kept_the_administration_is_found_out(
    plan: DeploymentPlan, fresh_reader: Web3Reader, deployer: KeySigner
) -> None:
    selfish = replace(plan, steps=plan.steps[:-1])

    with pytest.raises(InconsistentError) as caught:
        run_plan(selfish, fresh_reader, deployer, clock=SystemClock())

    assert deployer.address in caught.value.message


def test_plan_is_carried_out_by_its_deployer_alone(
    plan: DeploymentPlan, fresh_reader: Web3Reader, owner: KeySigner
) -> None:
    with pytest.raises(InvalidInputError):
        run_plan(plan, fresh_reader, owner, clock=SystemClock())


@pytest.mark.parametrize(
    ("contract", "function"),
    [("EpochOracle", "setLimits"), ("StakeVault", "setExitGate"), ("EpochOracle", "setSettlement")],
)
def test_deployer_cannot_rewire_afterwards(tools: ChainTools, owner: KeySigner, contract: str, function: str) -> None:
    with pytest.raises(RejectedError) as caught:
        tools.send(owner, contract, function, owner.address)

    assert caught.value.code == "AccessManagedUnauthorized"


def test_initial_supply_is_the_owners_and_the_members_are_the_planned_ones(tools: ChainTools, owner: KeySigner) -> None:
    params = load_params("minimal")

    assert tools.call("SwarmToken", "balanceOf", owner.address) == params.token.initial_supply_wei
    assert tools.call("SwarmToken", "totalSupply") == params.token.initial_supply_wei
    assert tools.call("EpochOracle", "members") == (tools.net.accounts[1].address,)
    assert tools.call("EpochOracle", "epochEnd", 1) == int(str(tools.call("EpochOracle", "epochEnd", 0))) + 60

"""A deployment is carried out once, whatever cuts it, by its deployer alone."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from swarm_chain.abi import CONTRACTS
from swarm_chain.adapters.clock import SystemClock
from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.adapters.rpc import Web3Reader
from swarm_chain.adapters.sender import Web3Writer, send_and_wait
from swarm_chain.core.errors import InconsistentError, InvalidInputError, RejectedError
from swarm_chain.core.model import ContractCall
from swarm_chain.core.units import ZERO_ADDRESS, Timestamp
from swarm_chain.deploy import DeploymentPlan, Roles, plan_deployment, read_origin, run_plan, verify_plan
from swarm_chain.devnet import Devnet
from swarm_chain.params import load_params
from swarm_chain.testing import FakeSigner
from tests.chain_fixtures import ChainTools

CREATED = len(CONTRACTS)


class CutError(Exception):
    """Stands for a process that dies in the middle of a deployment."""


@dataclass(slots=True)
class CuttingClock:
    """The system's time, but the process dies at the n-th wait: a transaction is broadcast and nobody looks at it."""

    waits_left: int

    def now(self) -> Timestamp:
        return SystemClock().now()

    def monotonic_ms(self) -> int:
        return SystemClock().monotonic_ms()

    def sleep(self, seconds: float) -> None:
        if self.waits_left == 0:
            raise CutError
        self.waits_left -= 1
        SystemClock().sleep(seconds)


@dataclass(frozen=True, slots=True)
class MiningClock:
    """The system's time; each wait mines a block."""

    chain: Devnet

    def now(self) -> Timestamp:
        return SystemClock().now()

    def monotonic_ms(self) -> int:
        return SystemClock().monotonic_ms()

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.chain.mine()


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


def _cut_at(step: int) -> Callable[[int, int, str], None]:
    def cut(done: int, total: int, what: str) -> None:
        if done == step:
            raise CutError(f"{what} of {total}")

    return cut


def _nonce(chain: Devnet, deployer: KeySigner) -> int:
    return int(chain.rpc.request("eth_getTransactionCount", [deployer.address, "latest"]), 16)


@pytest.mark.parametrize("step", [0, 1, CREATED - 1, CREATED, CREATED + 5, -1])
def test_cut_deployment_goes_on_where_it_stopped_and_sends_nothing_twice(
    chain: Devnet, plan: DeploymentPlan, fresh_reader: Web3Reader, deployer: KeySigner, step: int
) -> None:
    cut, shown = step % len(plan.steps), list[int]()
    with pytest.raises(CutError):
        run_plan(plan, fresh_reader, deployer, clock=SystemClock(), progress=_cut_at(cut))

    sent = run_plan(plan, fresh_reader, deployer, clock=SystemClock(), progress=lambda done, _t, _w: shown.append(done))
    again = run_plan(plan, fresh_reader, deployer, clock=SystemClock())

    assert shown == list(range(cut, len(plan.steps) + 1))
    assert (sent, again) == (len(plan.steps) - cut, 0)
    assert _nonce(chain, deployer) == plan.origin.first_nonce + len(plan.steps)


@pytest.mark.parametrize("waits", [0, CREATED, CREATED + 4])
def test_cut_behind_a_broadcast_waits_for_it_and_sends_it_once(
    chain: Devnet, plan: DeploymentPlan, fresh_reader: Web3Reader, deployer: KeySigner, waits: int
) -> None:
    with pytest.raises(CutError):
        run_plan(plan, fresh_reader, deployer, clock=SystemClock(), progress=_cut_at(waits))
    chain.rpc.request("evm_setAutomine", [False])
    with pytest.raises(CutError):
        run_plan(plan, fresh_reader, deployer, clock=CuttingClock(0))
    assert _nonce(chain, deployer) == plan.origin.first_nonce + waits

    sent = run_plan(plan, fresh_reader, deployer, clock=MiningClock(chain))

    assert sent == len(plan.steps) - waits - 1
    assert _nonce(chain, deployer) == plan.origin.first_nonce + len(plan.steps)


def test_something_else_sent_in_between_is_found_before_more_is_spent(
    chain: Devnet, plan: DeploymentPlan, fresh_reader: Web3Reader, deployer: KeySigner
) -> None:
    with pytest.raises(CutError):
        run_plan(plan, fresh_reader, deployer, clock=SystemClock(), progress=_cut_at(3))
    other = ContractCall(contract="SwarmToken", function="approve", args=(deployer.address, 1))
    send_and_wait(Web3Writer(Web3Reader(chain.rpc_url, chain.deployment), deployer), other, SystemClock())
    spent = _nonce(chain, deployer)

    with pytest.raises(InconsistentError) as caught:
        run_plan(plan, fresh_reader, deployer, clock=SystemClock())

    assert caught.value.code == "nonce_spent"
    assert "ProviderRegistry" in str(caught.value.values["differences"])
    assert _nonce(chain, deployer) == spent


def test_transaction_that_slips_in_at_the_last_moment_stops_the_step(
    chain: Devnet, plan: DeploymentPlan, fresh_reader: Web3Reader, deployer: KeySigner
) -> None:
    other = ContractCall(contract="SwarmToken", function="approve", args=(deployer.address, 1))
    foreign = Web3Writer(Web3Reader(chain.rpc_url, chain.deployment), deployer)

    def slip_in(done: int, _total: int, _what: str) -> None:
        if done == 2:
            send_and_wait(foreign, other, SystemClock())

    with pytest.raises(InconsistentError) as caught:
        run_plan(plan, fresh_reader, deployer, clock=SystemClock(), progress=slip_in)

    assert caught.value.values == {"have": plan.origin.first_nonce + 3, "want": plan.origin.first_nonce + 2}
    assert _nonce(chain, deployer) == plan.origin.first_nonce + 3


def test_plan_of_a_chain_that_was_started_anew_says_so(
    chain: Devnet, plan: DeploymentPlan, fresh_reader: Web3Reader, deployer: KeySigner
) -> None:
    later = replace(plan, origin=replace(plan.origin, first_nonce=plan.origin.first_nonce + 7))

    with pytest.raises(InconsistentError, match="starts at transaction") as caught:
        run_plan(later, fresh_reader, deployer, clock=SystemClock())

    assert caught.value.code == "other_chain"


def test_deployment_whose_deployer_kept_the_administration_is_found_out(
    plan: DeploymentPlan, fresh_reader: Web3Reader, deployer: KeySigner
) -> None:
    selfish = replace(plan, steps=plan.steps[:-1])

    with pytest.raises(InconsistentError) as caught:
        run_plan(selfish, fresh_reader, deployer, clock=SystemClock())

    differences = str(caught.value.values["differences"])
    assert f"ADMIN of {deployer.address} (deployer)" in differences


def test_role_the_deployer_gave_away_in_secret_is_found_out(
    plan: DeploymentPlan, fresh_reader: Web3Reader, deployer: KeySigner
) -> None:
    thief = FakeSigner("thief").address
    secret = ContractCall(contract="AccessManager", function="grantRole", args=(1, thief, 0))
    crooked = replace(plan, steps=(*plan.steps[:-1], secret, plan.steps[-1]))

    with pytest.raises(InconsistentError) as caught:
        run_plan(crooked, fresh_reader, deployer, clock=SystemClock())

    assert [item["what"] for item in _differences(caught.value)] == [f"MINTER of {thief} with delay 0 s"]


def test_role_that_was_granted_before_the_block_of_the_file_cannot_hide(
    plan: DeploymentPlan, fresh_reader: Web3Reader, deployer: KeySigner
) -> None:
    run_plan(plan, fresh_reader, deployer, clock=SystemClock())
    late = replace(plan.deployment, block=fresh_reader.block("latest").number)

    with pytest.raises(InconsistentError) as caught:
        verify_plan(replace(plan, deployment=late), fresh_reader)

    assert any("before block" in item["what"] for item in _differences(caught.value))


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
    assert tools.call("SwarmToken", "balanceOf", ZERO_ADDRESS) == 0
    assert tools.call("EpochOracle", "members") == (tools.net.accounts[1].address,)
    assert tools.call("EpochOracle", "epochEnd", 1) == int(str(tools.call("EpochOracle", "epochEnd", 0))) + 60


def _differences(error: InconsistentError) -> list[dict[str, str]]:
    found = error.values["differences"]
    assert isinstance(found, list)
    return found

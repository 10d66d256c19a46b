"""Sends the transactions of a deployment plan and checks on the chain that everything is as planned."""

from collections.abc import Callable, Iterator, Sequence

from swarm_chain.abi import CONTRACTS
from swarm_chain.adapters.clock import SystemClock
from swarm_chain.adapters.contracts import function_selector
from swarm_chain.adapters.rpc import RpcPool, Web3Reader
from swarm_chain.adapters.sender import WaitPolicy, Web3Writer, send_and_wait
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InconsistentError, InvalidInputError
from swarm_chain.core.model import ContractCall, Deployment
from swarm_chain.core.params import Params
from swarm_chain.core.units import Address, BlockNumber, Timestamp
from swarm_chain.deploy.plan import (
    ADMIN,
    FUNCTION_ROLES,
    WIRING,
    DeploymentPlan,
    Origin,
    Roles,
    plan_deployment,
    role_holders,
)
from swarm_chain.ports import Clock, Signer

Progress = Callable[[int, int, str], None]
_QUICK = WaitPolicy(poll_ms=100)


def read_origin(rpc_url: str | Sequence[str], deployer: Address, genesis_at: Timestamp | None = None) -> Origin:
    """Where a deployment from this account would start now; epoch 0 starts at the latest block unless told otherwise."""
    rpc = RpcPool([rpc_url] if isinstance(rpc_url, str) else rpc_url)
    head = rpc.request("eth_getBlockByNumber", ["latest", False])
    return Origin(
        deployer=deployer,
        first_nonce=int(rpc.request("eth_getTransactionCount", [deployer, "latest"]), 16),
        chain_id=int(rpc.request("eth_chainId"), 16),
        block=BlockNumber(int(head["number"], 16) + 1),
        genesis_at=Timestamp(int(head["timestamp"], 16)) if genesis_at is None else genesis_at,
    )


def run_plan(
    plan: DeploymentPlan, reader: Web3Reader, signer: Signer, *, clock: Clock, progress: Progress | None = None
) -> None:
    """Send what the chain does not have yet of a plan, one transaction after the other, then verify everything.

    Args:
        plan: from `plan_deployment`; running it twice, or again after a cut, sends nothing twice.
        reader: endpoints, with the plan's deployment.
        signer: the plan's deployer; it must send nothing else meanwhile.
        clock: time.
        progress: called with (done, total, what comes next) before each step and once at the end.

    Raises:
        InvalidInputError: another signer than the plan's.
        RejectedError: a transaction would revert, or reverted.
        InconsistentError: the chain is not as planned.
    """
    if signer.address != plan.origin.deployer:
        raise InvalidInputError(f"the plan is {plan.origin.deployer}'s, not {signer.address}'s")
    show, total = progress or _silent, len(plan.steps)
    writer = Web3Writer(reader, signer)
    nonce = int(reader.rpc.request("eth_getTransactionCount", [signer.address, "latest"]), 16)
    for done in range(max(0, nonce - plan.origin.first_nonce), total):
        step = plan.steps[done]
        show(done, total, step.contract if step.function == "constructor" else f"{step.contract}.{step.function}")
        send_and_wait(writer, step, clock, policy=_QUICK)
    show(total, total, "verified")
    verify_plan(plan, reader)


def deploy(
    rpc_url: str | Sequence[str],
    signer: Signer,
    params: Params,
    roles: Roles,
    *,
    genesis_at: Timestamp | None = None,
    progress: Progress | None = None,
) -> Deployment:
    """Deploy everything from an account whose next transactions are only these.

    Args:
        rpc_url: endpoint, or several.
        signer: pays, and administers until the last step hands over to the timelock.
        params: protocol numbers.
        roles: role holders.
        genesis_at: start of epoch 0; the latest block's timestamp if None.
        progress: see `run_plan`.

    Returns:
        Where the contracts are; `save_deployment` writes it down.

    Raises:
        RejectedError, UnavailableError, InconsistentError: see `run_plan`.
    """
    plan = plan_deployment(params, roles, read_origin(rpc_url, signer.address, genesis_at))
    run_plan(plan, Web3Reader(rpc_url, plan.deployment), signer, clock=SystemClock(), progress=progress)
    return plan.deployment


def verify_plan(plan: DeploymentPlan, reader: Web3Reader) -> None:
    """Compare code, roles, wiring and committee on the chain with the plan.

    Raises:
        InconsistentError: anything differs; `values` lists all differences.
    """
    head = reader.block("latest")
    found = [*_missing_code(reader), *_wrong_answers(plan, reader), *_wrong_wiring(plan, reader, head.number)]
    if found:
        raise InconsistentError(
            f"the deployment is not as planned: {found[0]}",
            code="deployment_differs",
            fix="do not use it: deploy again from a fresh account",
            values={"differences": found},
        )


def _missing_code(reader: Web3Reader) -> Iterator[str]:
    for name in CONTRACTS:
        if reader.rpc.request("eth_getCode", [reader.address_of(name), "latest"]) in {"0x", None}:
            yield f"no code at {name} {reader.address_of(name)}"


def _wrong_answers(plan: DeploymentPlan, reader: Web3Reader) -> Iterator[str]:
    for call, want in _expected(plan):
        have = reader.call(call)
        if have != want:
            yield f"{call.contract}.{call.function}{call.args} is {have}, planned {want}"


def _expected(plan: DeploymentPlan) -> Iterator[tuple[ContractCall, object]]:
    at, roles = plan.deployment.contracts, plan.roles
    for role, account in role_holders(roles, at):
        yield _manager("hasRole", role, account), {"isMember": True, "executionDelay": 0}
    yield _manager("hasRole", ADMIN, plan.origin.deployer), {"isMember": False, "executionDelay": 0}
    for contract, functions, role in FUNCTION_ROLES:
        for function in functions:
            yield _manager("getTargetFunctionRole", at[contract], function_selector(contract, function)), role
    yield ContractCall(contract="EpochOracle", function="members"), roles.members
    yield ContractCall(contract="EpochOracle", function="quorum"), plan.params.governance.quorum
    yield ContractCall(contract="SwarmToken", function="cap"), plan.params.token.cap_wei
    for proposer in roles.proposers:
        proposes = ContractCall(
            contract="TimelockController", function="hasRole", args=(keccak(b"PROPOSER_ROLE"), proposer)
        )
        yield proposes, True


def _wrong_wiring(plan: DeploymentPlan, reader: Web3Reader, head: int) -> Iterator[str]:
    events = reader.events(plan.deployment.block, head)
    for contract, _, target, event, field in WIRING:
        have = [found.args[field] for found in events if (found.contract, found.name) == (contract, event)]
        if have[-1:] != [plan.deployment.contracts[target]]:
            yield f"{contract}: last {event} is {have[-1:]}, planned {target}"


def _manager(function: str, *args: object) -> ContractCall:
    return ContractCall(contract="AccessManager", function=function, args=args)


def _silent(done: int, total: int, what: str) -> None:
    """Shows nothing."""

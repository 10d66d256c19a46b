"""Sends the transactions of a deployment plan, each once, whatever happens in between."""

from collections.abc import Callable, Sequence

from swarm_chain.abi import CONTRACTS
from swarm_chain.adapters.clock import SystemClock
from swarm_chain.adapters.rpc import RpcPool, Web3Reader
from swarm_chain.adapters.sender import WaitPolicy, Web3Writer, send_and_wait
from swarm_chain.core.errors import InconsistentError, InvalidInputError, UnavailableError
from swarm_chain.core.model import SignedTx
from swarm_chain.core.params import Params
from swarm_chain.core.units import Address, BlockNumber, Timestamp
from swarm_chain.deploy.plan import DeploymentPlan, Origin, plan_deployment
from swarm_chain.deploy.roles import Roles
from swarm_chain.deploy.verify import compare_created, verify_plan
from swarm_chain.ports import Clock, Signer

Progress = Callable[[int, int, str], None]
_QUICK = WaitPolicy(poll_ms=100)


def read_origin(rpc_url: str | Sequence[str], deployer: Address, genesis_at: Timestamp | None = None) -> Origin:
    """Where a deployment from this account would start now; epoch 0 starts at the latest block unless told otherwise."""
    rpc = RpcPool([rpc_url] if isinstance(rpc_url, str) else rpc_url)
    head = rpc.request("eth_getBlockByNumber", ["latest", False])
    return Origin(
        deployer=deployer,
        first_nonce=int(rpc.request("eth_getTransactionCount", [deployer, "pending"]), 16),
        chain_id=int(rpc.request("eth_chainId"), 16),
        block=BlockNumber(int(head["number"], 16) + 1),
        genesis_at=Timestamp(int(head["timestamp"], 16)) if genesis_at is None else genesis_at,
    )


def run_plan(
    plan: DeploymentPlan, reader: Web3Reader, signer: Signer, *, clock: Clock, progress: Progress | None = None
) -> int:
    """Send what the chain does not have yet of a plan, one transaction after the other, then verify everything.

    Args:
        plan: from `plan_deployment`; running it twice, or again after a cut, sends nothing twice.
        reader: endpoints, with the plan's deployment.
        signer: the plan's deployer; it must send nothing else meanwhile.
        clock: time.
        progress: called with (done, total, what comes next) before each step and once at the end.

    Returns:
        Number of transactions sent.

    Raises:
        InvalidInputError: another signer than the plan's.
        RejectedError: a transaction would revert, or reverted.
        UnavailableError: a transaction of an earlier run still waits to be mined (code "outcome_unknown", exit 7).
        InconsistentError: the chain is not as planned, or the deployer sent something else in between.
    """
    if signer.address != plan.origin.deployer:
        raise InvalidInputError(f"the plan is {plan.origin.deployer}'s, not {signer.address}'s")
    show, total = progress or _silent, len(plan.steps)
    first = _steps_done(plan, reader, clock)
    writer = Web3Writer(reader, signer)
    for done in range(first, total):
        step = plan.steps[done]
        show(done, total, step.contract if step.function == "constructor" else f"{step.contract}.{step.function}")
        send_and_wait(writer, step, clock, store=_nonce_guard(plan, done), policy=_QUICK)
    show(total, total, "verified")
    verify_plan(plan, reader)
    return total - first


def deploy(
    rpc_url: str | Sequence[str],
    signer: Signer,
    params: Params,
    roles: Roles,
    *,
    genesis_at: Timestamp | None = None,
    progress: Progress | None = None,
) -> DeploymentPlan:
    """Deploy everything from an account whose next transactions are only these.

    Args:
        rpc_url: endpoint, or several.
        signer: pays, and administers until the last step hands over to the timelock.
        params: protocol numbers.
        roles: role holders.
        genesis_at: start of epoch 0; the latest block's timestamp if None.
        progress: see `run_plan`.

    Returns:
        The plan that was carried out; `save_plan` writes it down.

    Raises:
        RejectedError, UnavailableError, InconsistentError: see `run_plan`.
    """
    plan = plan_deployment(params, roles, read_origin(rpc_url, signer.address, genesis_at))
    run_plan(plan, Web3Reader(rpc_url, plan.deployment), signer, clock=SystemClock(), progress=progress)
    return plan


def _steps_done(plan: DeploymentPlan, reader: Web3Reader, clock: Clock) -> int:
    """How many steps the chain has; the contracts among them must be ours."""
    origin, total = plan.origin, len(plan.steps)
    nonce = _settled_nonce(reader, origin.deployer, clock)
    if nonce < origin.first_nonce:
        raise InconsistentError(
            f"the plan starts at transaction {origin.first_nonce} of {origin.deployer}, the chain knows {nonce}",
            code="other_chain",
            fix="the chain was started anew: remove the file of the deployment, or name another with --out",
        )
    done = min(nonce - origin.first_nonce, total)
    differences = compare_created(plan, reader, min(done, len(CONTRACTS)))
    if differences:
        raise InconsistentError(
            f"transactions of {origin.deployer} are spent, but {differences[0].what} has {differences[0].have}",
            code="nonce_spent",
            fix="the account sent something else in between: deploy again from a fresh account into another file",
            values={"differences": [difference.what for difference in differences]},
        )
    return done


def _settled_nonce(reader: Web3Reader, deployer: Address, clock: Clock) -> int:
    """Next nonce once nothing of the account waits any more: a step of an earlier run may still be on its way."""
    started = clock.monotonic_ms()
    while True:
        mined, known = (
            int(reader.rpc.request("eth_getTransactionCount", [deployer, tag]), 16) for tag in ("latest", "pending")
        )
        if known <= mined:
            return mined
        if clock.monotonic_ms() - started > _QUICK.timeout_ms:
            raise UnavailableError(
                f"{known - mined} transaction(s) of {deployer} wait to be mined",
                code="outcome_unknown",
                fix="run it again once they are mined or dropped: nothing is sent twice",
                exit_code=7,
            )
        clock.sleep(_QUICK.poll_ms / 1000)


def _nonce_guard(plan: DeploymentPlan, step: int) -> Callable[[SignedTx], None]:
    """Called before a broadcast: a step sent with another step's nonce would create another address."""
    want = plan.origin.first_nonce + step

    def check(tx: SignedTx) -> None:
        if tx.nonce != want:
            raise InconsistentError(
                f"step {step} is transaction {want} of {tx.sender}, but the next one is {tx.nonce}",
                code="nonce_spent",
                fix="let the deployer send nothing else, and run it again",
                values={"have": tx.nonce, "want": want},
            )

    return check


def _silent(done: int, total: int, what: str) -> None:
    """Shows nothing."""

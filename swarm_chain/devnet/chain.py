"""A development chain with everything deployed: funded accounts, a faucet, and time that can be moved."""

import json
import os
import signal
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from swarm_chain.adapters.clock import SystemClock
from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.adapters.rpc import RpcPool, Web3Reader
from swarm_chain.adapters.sender import WaitPolicy, Web3Writer, send_and_wait
from swarm_chain.core.errors import InvalidInputError, RejectedError, UnavailableError
from swarm_chain.core.model import ContractCall, Deployment
from swarm_chain.core.params import Params
from swarm_chain.core.units import Address, Timestamp, Wei
from swarm_chain.deploy import DeploymentPlan, Roles, deploy, load_deployment, save_plan
from swarm_chain.devnet.anvil import Anvil, start_anvil
from swarm_chain.params import load_params
from swarm_chain.recursion import recursion_limit_kept

# Public knowledge: the phrase every development chain starts with. Its keys hold nothing anywhere else.
MNEMONIC = "test test test test test test test test test test test junk"
ACCOUNTS = 10
BLOCK_FOR = 1
TRIES = 20  # of a transaction whose nonce another process took
STATE_FILE, DEPLOYMENT_FILE = "devnet.json", "deployment.json"

Progress = Callable[[int, int, str], None]


class Devnet:
    """A running development chain; leaving its context stops it, unless another process started it.

    accounts[0] deployed everything: it holds the initial supply and the guardian, veto and proposer roles.
    accounts[1] to accounts[members] are the oracle members; the others are free. `plan` is how it was deployed, known to
    the process that did.
    """

    def __init__(
        self, rpc_url: str, deployment: Deployment, anvil: Anvil | None = None, plan: DeploymentPlan | None = None
    ) -> None:
        self.rpc_url = rpc_url
        self.deployment = deployment
        self.plan = plan
        self.accounts = dev_accounts()
        self.rpc = RpcPool([rpc_url], chain_id=deployment.chain_id)
        self._anvil = anvil

    def warp(self, seconds: int) -> Timestamp:
        """Moves the chain's clock forward and mines one block; returns its timestamp."""
        self.rpc.request("evm_increaseTime", [hex(seconds)])
        return self.mine()

    def mine(self, blocks: int = 1) -> Timestamp:
        """Mines blocks at once; returns the timestamp of the last."""
        self.rpc.request("anvil_mine", [hex(blocks)])
        return Timestamp(int(self.rpc.request("eth_getBlockByNumber", ["latest", False])["timestamp"], 16))

    def faucet(self, address: Address, *, eth_wei: Wei | None = None, swm_wei: Wei | None = None) -> None:
        """Adds native coin and SWM to an address; the SWM come from accounts[0]."""
        if eth_wei:
            have = int(self.rpc.request("eth_getBalance", [address, "latest"]), 16)
            self.rpc.request("anvil_setBalance", [address, hex(have + eth_wei)])
        if swm_wei:
            self._send(ContractCall(contract="SwarmToken", function="transfer", args=(address, swm_wei)))

    def _send(self, call: ContractCall) -> None:
        """Sends from accounts[0]. Every process of a development chain shares it, so a nonce may be taken by another one."""
        writer = Web3Writer(Web3Reader(self.rpc_url, self.deployment), self.accounts[0])
        for left in reversed(range(TRIES)):
            try:
                send_and_wait(writer, call, SystemClock(), policy=WaitPolicy(poll_ms=50))
                return
            except RejectedError as error:
                # Refused before it entered the only pool there is: nothing was sent, so nothing can be sent twice.
                if error.code not in {"nonce_used", "underpriced"} or not left:
                    raise

    def automine(self, enabled: bool) -> None:
        """True mines a block for every transaction at once, False one every second."""
        _automine(self.rpc, enabled)

    def close(self) -> None:
        """Stops anvil if this object started it; may be called twice."""
        if self._anvil is not None:
            self._anvil.stop()
            self._anvil = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def start_devnet(
    params: Params | None = None,
    *,
    state_dir: Path | None = None,
    port: int | None = None,
    progress: Progress | None = None,
) -> Devnet:
    """Start anvil and deploy everything.

    Args:
        params: protocol numbers; the minimal preset if None.
        state_dir: where `attach_devnet` of another process finds this chain; None keeps it to ourselves.
        port: loopback port; a free one if None.
        progress: called with (done, total, what comes next).

    Returns:
        The chain; its `close`, or the end of this process, stops it.

    Raises:
        InvalidInputError: anvil is not installed, or a chain already runs for `state_dir` (exit 3).
        UnavailableError: anvil does not come up.
    """
    if state_dir is not None and _running(state_dir):
        raise InvalidInputError(
            f"a development chain already runs for {state_dir}",
            fix="use it, or stop it with `swarm dev down`",
            exit_code=3,
        )
    params = params or load_params("minimal")
    with tempfile.TemporaryFile() as log:
        anvil = start_anvil(port, log)
    try:
        plan = _deploy(anvil, params, progress)
        if state_dir is not None:
            _save_state(state_dir, anvil, plan)
    except BaseException:
        anvil.stop()
        raise
    return Devnet(anvil.rpc_url, plan.deployment, anvil, plan)


def attach_devnet(state_dir: Path) -> Devnet:
    """The chain another process started for `state_dir`; UnavailableError (code "devnet_down") if none runs."""
    state = _running(state_dir)
    if not state:
        raise UnavailableError(
            f"no development chain runs for {state_dir}", code="devnet_down", fix="start one with `swarm dev up`"
        )
    return Devnet(state["rpcUrl"], load_deployment(state_dir / DEPLOYMENT_FILE))


def stop_devnet(state_dir: Path) -> bool:
    """Stops the chain of `state_dir`, whoever started it; False if none runs."""
    state = _running(state_dir)
    if state:
        os.kill(state["pid"], signal.SIGTERM)
    (state_dir / STATE_FILE).unlink(missing_ok=True)
    return bool(state)


@cache
def dev_accounts() -> tuple[KeySigner, ...]:
    """Signers of anvil's funded accounts, in its order."""
    with recursion_limit_kept():
        from eth_account.hdaccount import key_from_seed, seed_from_mnemonic

    seed = seed_from_mnemonic(MNEMONIC, passphrase="")
    return tuple(KeySigner(key_from_seed(seed, f"m/44'/60'/0'/0/{index}")) for index in range(ACCOUNTS))


def _deploy(anvil: Anvil, params: Params, progress: Progress | None) -> DeploymentPlan:
    owner, *others = (account.address for account in dev_accounts())
    members = tuple(others[: params.governance.members])
    roles = Roles(owner=owner, members=members, guardian=owner, veto=owner, proposers=(owner,))
    rpc = RpcPool([anvil.rpc_url])
    _automine(rpc, True)
    plan = deploy(anvil.rpc_url, dev_accounts()[0], params, roles, progress=progress)
    _automine(rpc, False)
    return plan


def _automine(rpc: RpcPool, enabled: bool) -> None:
    rpc.request("evm_setAutomine", [enabled])
    if not enabled:
        rpc.request("evm_setIntervalMining", [BLOCK_FOR])


def _save_state(state_dir: Path, anvil: Anvil, plan: DeploymentPlan) -> None:
    state_dir.mkdir(parents=True, exist_ok=True)
    save_plan(plan, state_dir / DEPLOYMENT_FILE)
    state = {"pid": anvil.pid, "rpcUrl": anvil.rpc_url}
    (state_dir / STATE_FILE).write_text(json.dumps(state) + "\n", encoding="utf-8")


def _running(state_dir: Path) -> dict[str, Any]:
    """State of a chain that answers with this deployment's code; empty if none does. A stale file never names a victim."""
    try:
        state: dict[str, Any] = json.loads((state_dir / STATE_FILE).read_text(encoding="utf-8"))
        deployment = load_deployment(state_dir / DEPLOYMENT_FILE)
        rpc = RpcPool([state["rpcUrl"]], chain_id=deployment.chain_id, timeout_s=2)
        code = rpc.request("eth_getCode", [deployment.contracts["StakeVault"], "latest"])
    except (OSError, ValueError, UnavailableError, InvalidInputError):
        return {}
    return state if code != "0x" else {}

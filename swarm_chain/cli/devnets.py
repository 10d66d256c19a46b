"""What `swarm dev` does to local chains: run one, take one of its accounts over."""

import socket
import time
from pathlib import Path

from swarm_chain.adapters.keystore import import_key
from swarm_chain.cli.context import Session
from swarm_chain.cli.deployments import home_file
from swarm_chain.cli.keys import directory
from swarm_chain.cli.output import facts
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.deploy import save_plan
from swarm_chain.devnet import Devnet, attach_devnet, start_devnet
from swarm_chain.devnet.chain import ACCOUNTS, MNEMONIC
from swarm_chain.params import load_params

USUAL_PORT = 8545
LOOK_EVERY_S = 1


def state_dir(session: Session) -> Path:
    """Where the local chain leaves its traces for other terminals."""
    return session.settings.home / "devnet"


def attached(session: Session) -> Devnet:
    """The local chain that another terminal runs."""
    return attach_devnet(state_dir(session))


def run_devnet(session: Session, params: str, port: int | None) -> None:
    """Starts a chain, says how to use it, and stays until Ctrl-C or until somebody ends it."""
    protocol, port = load_params(params), port or _usual_port()
    with session.output.steps("deploying") as progress:
        devnet = start_devnet(protocol, state_dir=state_dir(session), port=port, progress=progress)
    with devnet:
        path = home_file(session, devnet.deployment.chain_id)
        if devnet.plan is not None:
            save_plan(devnet.plan, path)
        _introduce(session, devnet, path)
        try:
            while _alive(devnet):
                time.sleep(LOOK_EVERY_S)
        except KeyboardInterrupt:
            session.output.note("stopping the chain")


def import_account(session: Session, number: int, name: str) -> None:
    """Encrypts the key of one of the local chain's accounts into a keystore."""
    from eth_account.hdaccount import key_from_seed, seed_from_mnemonic

    if number >= ACCOUNTS:
        raise InvalidInputError(f"no account {number}", fix=f"give a number from 0 to {ACCOUNTS - 1}", code="usage")
    key = key_from_seed(seed_from_mnemonic(MNEMONIC, passphrase=""), f"m/44'/60'/0'/0/{number}")
    password = session.secret(f"new password for {name}", session.settings.password_file)
    with session.output.progress("encrypting"):
        made = import_key(directory(session.settings), name, key, password)
    session.output.show(
        {"name": made.name, "address": made.address, "path": str(made.path)},
        facts("imported", {"key": made.name, "address": made.address, "use it": f"--account {made.name}"}),
    )


def role_of(number: int, members: int) -> str:
    """What an account of the local chain may do."""
    if number == 0:
        return "owner of the supply, guardian, veto"
    return "oracle member" if number <= members else "free"


def _introduce(session: Session, devnet: Devnet, path: Path) -> None:
    session.output.show(
        {"rpcUrl": devnet.rpc_url, "deployment": str(path), "contracts": dict(devnet.deployment.contracts)},
        facts(
            "local chain", {"endpoint": devnet.rpc_url, "deployment": path, "ends with": "Ctrl-C, or: swarm dev down"}
        ),
    )
    session.output.finish()
    session.output.note(
        "in another terminal:\n"
        f"  export SWARM_RPC_URL={devnet.rpc_url} SWARM_DEPLOYMENT={path}\n"
        "  swarm wallet create alice\n"
        "  swarm dev faucet alice\n"
        "  swarm provider register --account alice"
    )


def _alive(devnet: Devnet) -> bool:
    try:
        devnet.rpc.request("eth_chainId")
    except UnavailableError:
        return False
    return True


def _usual_port() -> int | None:
    """The port everybody expects, if it is free; else any."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", USUAL_PORT))
        except OSError:
            return None
    return USUAL_PORT

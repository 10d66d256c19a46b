"""Where nodes run as processes of their own: a real chain, a real oracle member, a real Ray."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eth_account.hdaccount import key_from_seed, seed_from_mnemonic

from swarm_chain.adapters.keystore import KeySigner, create_keystore, export_key, import_key, load_signer
from swarm_chain.core.encoding import keccak
from swarm_chain.core.units import WEI_PER_SWM
from swarm_chain.deploy import save_deployment
from swarm_chain.devnet import Devnet, dev_accounts
from swarm_chain.devnet.chain import MNEMONIC
from tests.chain_fixtures import ChainTools
from tests.secrets_guard import remember

PASSWORD, LIGHT_SCRYPT = "correct horse", 1024
WAIT_S = 120
STAKE_WEI = 2000 * WEI_PER_SWM
BLOCK_FOR = 1
BIN = Path(sys.executable).parent


@dataclass(slots=True)
class Program:
    """A started program and its JSON log."""

    process: "subprocess.Popen[bytes]"
    log: Path

    def events(self, name: str) -> list[dict[str, Any]]:
        """Log lines of one event so far."""
        lines = [line for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [entry for entry in map(json.loads, lines) if entry["event"] == name]

    def wait_for(self, name: str) -> dict[str, Any]:
        """First line of an event."""
        wait_until(lambda: bool(self.events(name)) or self.process.poll() is not None)
        assert self.events(name), self.log.read_text()[-3000:]
        return self.events(name)[0]


@dataclass(slots=True)
class Stage:
    """Where programs are started; all of them are ended with it."""

    chain: Devnet
    home: Path
    owner: KeySigner
    node_key: KeySigner
    environment: dict[str, str]
    programs: list[Program] = field(default_factory=list)

    def start(self, *command: str) -> Program:
        """Starts a program with its log in a file of its own."""
        log = self.home / f"{len(self.programs)}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=file)
        self.programs.append(Program(process, log))
        return self.programs[-1]

    @contextmanager
    def time_stopped(self) -> Iterator[None]:
        """Lets no chain time pass: however slowly a program starts, it is not late."""
        self.chain.rpc.request("evm_setIntervalMining", [0])
        yield
        self.chain.rpc.request("evm_setIntervalMining", [BLOCK_FOR])

    def node(self) -> Program:
        """Starts the node's agent."""
        return self.start(str(BIN / "swarm"), "node", "run", "--folder", str(self.home / "node"), "--poll-ms", "200")

    def end(self) -> None:
        """Ends everything that still runs."""
        for program in self.programs:
            if program.process.poll() is None:
                program.process.terminate()
        for program in self.programs:
            program.process.wait(timeout=40)


@contextmanager
def node_stage(chain: Devnet, tools: ChainTools, tmp_path: Path) -> Iterator[Stage]:
    """A provider with one registered node that has gas money, and an oracle member at work; Ray must be connected."""
    import ray

    owner, node = KeySigner(keccak(b"alice")), _node_key(tmp_path / "node")
    tools.register(owner, node, stake_wei=STAKE_WEI)
    tools.fund(node.address)
    save_deployment(chain.deployment, tmp_path / "deployment.json")
    _import_member(tmp_path)
    chain.automine(False)
    port = _free_port()
    # Chain time follows blocks, not this machine's clock.
    chain.rpc.request("anvil_setBlockTimestampInterval", [BLOCK_FOR])
    made = Stage(
        chain,
        tmp_path,
        owner,
        node,
        {
            **os.environ,
            "SWARM_HOME": str(tmp_path / "home"),
            "SWARM_RPC_URL": chain.rpc_url,
            "SWARM_DEPLOYMENT": str(tmp_path / "deployment.json"),
            "SWARM_KEYSTORE_DIR": str(tmp_path / "keys"),
            "ETH_PASSWORD": str(tmp_path / "node" / "password"),
            "SWARM_ORACLE_URL": f"http://127.0.0.1:{port}",
            "SWARM_RAY_ADDRESS": ray.get_runtime_context().gcs_address,
        },
    )
    try:
        member = made.start(str(BIN / "swarm"), "oracle", "run", "--account", "member", "--port", str(port))
        member.wait_for("member_started")
        yield made
    finally:
        made.end()
        chain.rpc.request("anvil_removeBlockTimestampInterval")


def wait_until(holds: Callable[[], bool]) -> None:
    """Waits for something that must happen."""
    end = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _node_key(folder: Path) -> KeySigner:
    remember(PASSWORD)
    create_keystore(folder, "key.json", PASSWORD, scrypt_n=LIGHT_SCRYPT)
    (folder / "password").write_text(PASSWORD)
    (folder / "password").chmod(0o600)
    remember(export_key(folder / "key.json", PASSWORD))
    return load_signer(folder / "key.json", PASSWORD)


def _import_member(home: Path) -> None:
    key = key_from_seed(seed_from_mnemonic(MNEMONIC, ""), "m/44'/60'/0'/0/1")
    import_key(home / "keys", "member", key, PASSWORD, scrypt_n=LIGHT_SCRYPT)
    assert load_signer(home / "keys" / "member", PASSWORD).address == dev_accounts()[1].address

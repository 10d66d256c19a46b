"""The stage of a story: a real chain with everything deployed, a Ray cluster, and the people's command line."""

import json
import logging
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from swarm_chain.adapters.rpc import RpcPool, Web3Reader
from swarm_chain.core.model import ChainEvent, ContractCall, Deployment
from swarm_chain.deploy import save_deployment
from swarm_chain.devnet import Devnet, start_devnet
from tests.e2e.processes import Processes

SWARM = str(Path(sys.executable).with_name("swarm"))
PATIENCE_S = 120
LOOK_EVERY_S = 0.25
BUSY_S = 60
RAY_CPUS = 12  # a logical number: Ray ends idle workers beyond it, and each node keeps one warm
RAY_STORE_BYTES = 100 * 2**20


@dataclass(slots=True, kw_only=True)
class World:
    """Everything the acts of a story work with."""

    folder: Path
    net: Devnet
    reader: Web3Reader
    processes: Processes
    oracle_url: str
    gateway_url: str = ""
    started: float = field(default_factory=time.monotonic)
    providers: dict[str, int] = field(default_factory=dict)

    @property
    def deployment(self) -> Deployment:
        """The contracts."""
        return self.net.deployment

    def swarm(self, *arguments: str, account: str | None = None) -> Any:
        """Result of a `swarm` command with --json, run as its own process; fails with what it printed if it fails."""
        chosen = ["--account", account] if account else []
        command = [SWARM, *arguments, *chosen, "--json", "--yes"]
        environment = {**os.environ, **self.processes.environment}
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL, check=False
        )
        if done.returncode:
            raise RuntimeError(f"swarm {' '.join(arguments)} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)

    def view(self, contract: str, function: str, *args: object) -> Any:
        """Result of a view at the latest block."""
        return self.reader.call(ContractCall(contract=contract, function=function, args=args))

    def oracle(self, path: str) -> Any:
        """JSON of the member's API; comes again where it says when to, as any client should."""
        end = time.monotonic() + BUSY_S
        answer = httpx2.get(self.oracle_url + path, timeout=30)
        while answer.status_code == httpx2.codes.SERVICE_UNAVAILABLE and time.monotonic() < end:
            time.sleep(int(answer.headers["Retry-After"]))
            answer = httpx2.get(self.oracle_url + path, timeout=30)
        answer.raise_for_status()
        return answer.json()

    def open_gateway(self) -> str:
        """Starts a gateway beside the Ray cluster that runs; whoever is asked afterwards knows it. Gives its address."""
        port = _free_port()
        self.gateway_url = self.processes.environment["SWARM_GATEWAY_URL"] = f"http://127.0.0.1:{port}"
        self.start_gateway()
        found: dict[str, Any] = self.wait_for("the gateway", lambda: self.gateway("/v1/gateway"))
        return str(found["address"])

    def start_gateway(self) -> None:
        """Starts the gateway's process, also again after it was killed: on the same port, with what it stored."""
        port, ray = self.gateway_url.rpartition(":")[2], self.processes.environment["SWARM_RAY_ADDRESS"]
        self.processes.start("gateway", SWARM, "cluster", "head", "--port", port, "--ray-address", ray)

    def gateway(self, path: str) -> Any:
        """JSON of the gateway's API."""
        answer = httpx2.get(self.gateway_url + path, timeout=30)
        answer.raise_for_status()
        return answer.json()

    def events(self, contract: str, name: str, **wanted: object) -> list[ChainEvent]:
        """Events of a contract so far that have the wanted arguments."""
        found = self.reader.events(self.deployment.block, self.reader.block("latest").number)
        named = (event for event in found if (event.contract, event.name) == (contract, name))
        return [event for event in named if all(event.args[key] == value for key, value in wanted.items())]

    def address_of(self, account: str) -> str:
        """Address of somebody's account."""
        return next(str(one["address"]) for one in self.swarm("wallet", "list")["keystores"] if one["name"] == account)

    def wait_for(self, what: str, done: Callable[[], Any]) -> Any:
        """Looks until something is there.

        Raises:
            RuntimeError: it did not come in time, or a process died meanwhile.
        """
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            self.processes.require_alive()
            try:
                found = done()
            except httpx2.HTTPError:
                found = None
            if found:
                return found
            time.sleep(LOOK_EVERY_S)
        logs = "\n".join(f"--- {name}\n{self.processes.last_words(name)}" for name in self.processes.running)
        raise RuntimeError(f"waited {PATIENCE_S} s in vain for {what}\n{logs}")

    def chain_time(self) -> int:
        """Timestamp of the latest block."""
        return self.reader.block("latest").timestamp

    def provider_of(self, name: str) -> int:
        """Provider id of somebody; asked once."""
        if name not in self.providers:
            self.providers[name] = int(self.swarm("provider", "show", account=name)["providerId"])
        return self.providers[name]

    def warp_to(self, at: int) -> None:
        """Moves the chain's clock forward, never back."""
        ahead = at - self.chain_time()
        if ahead > 0:
            self.net.warp(ahead)


@contextmanager
def open_world(folder: Path) -> Iterator[World]:
    """A fresh world in a folder: chain, deployment, Ray, settings of every process; all of it ends with the block."""
    home = folder / "home"
    home.mkdir(parents=True, exist_ok=True)
    password = home / "password"
    password.write_text(secrets.token_hex(16))
    password.chmod(0o600)
    with start_devnet(state_dir=home / "devnet") as net, _ray() as ray_address:
        deployment = home / "deployments" / f"{net.deployment.chain_id}.json"
        save_deployment(net.deployment, deployment)
        port = _free_port()
        environment = {
            "SWARM_HOME": str(home),
            "SWARM_KEYSTORE_DIR": str(home / "keys"),
            "SWARM_RPC_URL": net.rpc_url,
            "SWARM_DEPLOYMENT": str(deployment),
            "SWARM_ORACLE_URL": f"http://127.0.0.1:{port}",
            "SWARM_ORACLE_PORT": str(port),
            "SWARM_RAY_ADDRESS": ray_address,
            "SWARM_THREADS": "1",
            "ETH_PASSWORD": str(password),
        }
        processes = Processes(logs=folder / "logs", environment=environment)
        reader = Web3Reader(net.rpc_url, net.deployment)
        try:
            yield World(
                folder=folder, net=net, reader=reader, processes=processes, oracle_url=environment["SWARM_ORACLE_URL"]
            )
        finally:
            processes.stop_all()


def receipt_of(world: World, tx_hash: bytes) -> dict[str, Any]:
    """Receipt of a mined transaction, as the endpoint gives it."""
    found: dict[str, Any] = RpcPool([world.net.rpc_url]).request("eth_getTransactionReceipt", ["0x" + tx_hash.hex()])
    return found


@contextmanager
def _ray() -> Iterator[str]:
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))  # Ray reads it once, however many worlds come
    os.environ.update(
        RAY_AUTH_MODE="token",
        RAY_USAGE_STATS_ENABLED="0",
        RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0",
        RAY_worker_niceness="0",  # or devices stand still while anything else runs on the machine
    )
    import ray

    ray.init(
        address="local",
        num_cpus=RAY_CPUS,
        num_gpus=0,
        include_dashboard=False,
        object_store_memory=RAY_STORE_BYTES,
        log_to_driver=False,
        logging_level=logging.WARNING,
        _node_ip_address="127.0.0.1",
    )
    try:
        yield str(ray.get_runtime_context().gcs_address)
    finally:
        ray.shutdown()


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

"""`swarm oracle` as an operator runs it: a program of its own, ended by signals, judged by its exit code and its log."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from swarm_chain.adapters.keystore import import_key
from swarm_chain.deploy import save_deployment
from swarm_chain.devnet import Devnet
from tests.secrets_guard import remember

PASSWORD = "correct horse battery staple"
START_WITHIN_S = 60
SEEN_WITHIN_S = 60
SWARM = Path(sys.executable).parent / "swarm"


def wait_until(holds: Callable[[], bool], meanwhile: Callable[[], object] = lambda: None, within_s: int = 60) -> None:
    """Returns once something holds; does something else between two looks."""
    end = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        meanwhile()
        time.sleep(0.05)


def pace(net: Devnet, running: "Callable[[], Sequence[MemberProgram]]", behind: int = 0, act_s: float = 0.2) -> None:
    """Mines a block once every member that runs has seen the one before, or the one so many `behind`, and had time to act.

    Chain time passes as fast as these processes can follow, on whatever machine they run, if the chain's time is its own.
    """
    head = int(net.rpc.request("eth_blockNumber", []), 16)
    wait_until(lambda: all(program.seen() >= head - behind for program in running()), within_s=SEEN_WITHIN_S)
    time.sleep(act_s)
    net.mine()


@dataclass(slots=True, kw_only=True)
class MemberProgram:
    """One member's home and its process, if one runs."""

    home: Path
    net: Devnet
    rpc_url: str
    process: "subprocess.Popen[bytes] | None" = None
    url: str = ""
    starts: int = field(default=0)
    settings: dict[str, str] = field(default_factory=dict)  # more SWARM_ORACLE_* variables, by their last part
    extra: dict[str, str] = field(default_factory=dict)  # more variables, by their whole name

    @classmethod
    def at(cls, home: Path, net: Devnet, key: bytes, rpc_url: str | None = None) -> "MemberProgram":
        """A member with a fresh home that holds its key, password and deployment file."""
        remember(key, PASSWORD)
        import_key(home / "keys", "oracle", key, PASSWORD, scrypt_n=1024)
        (home / "password").write_text(PASSWORD + "\n", encoding="utf-8")
        save_deployment(net.deployment, home / "deployment.json")
        return cls(home=home, net=net, rpc_url=rpc_url or net.rpc_url)

    @property
    def environment(self) -> dict[str, str]:
        """SWARM_* variables of the member."""
        names = {
            "SWARM_HOME": str(self.home),
            "SWARM_RPC_URL": self.rpc_url,
            "SWARM_DEPLOYMENT": str(self.home / "deployment.json"),
            "SWARM_KEYSTORE": str(self.home / "keys" / "oracle"),
            "ETH_PASSWORD": str(self.home / "password"),
            "SWARM_ORACLE_POLL_MS": "100",
        }
        own = {f"SWARM_ORACLE_{name}": value for name, value in self.settings.items()}
        return {**os.environ, **names, **own, **self.extra}

    @property
    def log_path(self) -> Path:
        """What the running process says."""
        return self.home / f"member-{self.starts}.log"

    def start(self) -> None:
        """Starts the member and waits until it serves."""
        self.launch()
        self.wait_for_start()

    def launch(self) -> None:
        """Starts the member on its port, a free one if it has none."""
        self.starts += 1
        with open(self.log_path, "wb") as log:
            command = [str(SWARM), "oracle", "run", "--port", self.settings.get("PORT", "0")]
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=self.environment)

    def wait_for_start(self) -> None:
        """Waits until the member serves."""
        wait_until(lambda: bool(self.said("member_started")) or self.process_ended(), within_s=START_WITHIN_S)
        assert not self.process_ended(), self.log_path.read_text()
        self.url = f"http://127.0.0.1:{self.said('member_started')[0]['port']}"

    def seen(self) -> int:
        """Newest block this member has worked on; 0 while it does not answer."""
        try:
            return int(self.get("/readyz").get("block", 0))
        except httpx2.TransportError:
            return 0

    def process_ended(self) -> bool:
        """Whether the process has come to an end."""
        return self.process is not None and self.process.poll() is not None

    def said(self, event: str) -> list[dict[str, Any]]:
        """Log lines of the running process with this event name."""
        lines = self.log_path.read_bytes().splitlines() if self.log_path.exists() else []
        documents = (json.loads(line) for line in lines if line.startswith(b"{") and line.endswith(b"}"))
        return [document for document in documents if document["event"] == event]

    def signal(self, number: int) -> None:
        """Sends a signal that does not end it."""
        assert self.process is not None
        self.process.send_signal(number)

    def kill(self) -> None:
        """kill -9."""
        self.end(signal.SIGKILL)

    def end(self, number: int) -> int:
        """Sends a signal and gives the exit code."""
        assert self.process is not None
        self.process.send_signal(number)
        code = self.process.wait(30)
        self.process = None
        return code

    def get(self, path: str) -> Any:
        """JSON answer of the member."""
        return httpx2.get(self.url + path, timeout=20).json()

    def get_bytes(self, path: str) -> bytes:
        """Bytes at a path."""
        answer = httpx2.get(self.url + path, timeout=20)
        assert answer.status_code == 200, answer.text
        return answer.content

    def post(self, path: str, body: dict[str, object]) -> httpx2.Response:
        """Answer to a posted body."""
        return httpx2.post(self.url + path, json=body, timeout=20)

    def run(self, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        """Another command of the program, run to its end."""
        return subprocess.run(
            [str(SWARM), *arguments],
            env=self.environment | environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

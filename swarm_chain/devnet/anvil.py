"""anvil as a child process that never outlives its parent.

It runs behind a small shell guard that reads from a pipe of ours. However this process ends, the pipe closes, and the guard
takes anvil down with it:

    this process --pipe--> sh: anvil & (read; kill anvil) & wait anvil
"""

import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

from swarm_chain.adapters.rpc import RpcPool
from swarm_chain.core.errors import InvalidInputError, UnavailableError

CHAIN_ID = 31_337
START_WITHIN_S = 30
STOP_WITHIN_S = 10

_GUARD = """
exec 3<&0
"$@" 3<&- & anvil=$!
(read -r _ <&3; kill $anvil) & reader=$!
trap 'kill $anvil' TERM INT
wait $anvil
wait $anvil
kill $reader 2>/dev/null
"""
_OPTIONS = ("--quiet", "--host", "127.0.0.1", "--chain-id", str(CHAIN_ID), "--hardfork", "prague")
# Two slots an epoch put the finalized block four behind the latest, so finality is something tests can see.
_CHAIN = ("--slots-in-an-epoch", "2", "--block-time", "1", "--accounts", "10")


class Anvil:
    """A running anvil on a loopback port. `log` collects what it says on stderr."""

    def __init__(self, port: int, guard: "subprocess.Popen[bytes]", log: IO[bytes]) -> None:
        self.rpc_url = f"http://127.0.0.1:{port}"
        self._guard = guard
        self._log = log

    @property
    def pid(self) -> int:
        """Process to end with SIGTERM, which ends anvil too."""
        return self._guard.pid

    def wait_until_ready(self) -> None:
        """Returns once the chain answers; UnavailableError with anvil's own words if it does not."""
        rpc = RpcPool([self.rpc_url], chain_id=CHAIN_ID)
        last_try = time.monotonic() + START_WITHIN_S
        while self._guard.poll() is None and time.monotonic() < last_try:
            try:
                rpc.request("eth_chainId")
            except UnavailableError:
                time.sleep(0.05)
            else:
                return
        self.stop()
        raise UnavailableError(f"anvil did not start: {self._words()}", code="anvil_failed", fix="try another --port")

    def stop(self) -> None:
        """Ends anvil and its guard; may be called twice."""
        if self._guard.stdin is not None:
            self._guard.stdin.close()
        try:
            self._guard.wait(STOP_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._guard.kill()
            self._guard.wait()

    def _words(self) -> str:
        self._log.seek(0)
        return self._log.read()[-500:].decode(errors="replace").strip() or "it said nothing"


def start_anvil(port: int | None, log: IO[bytes]) -> Anvil:
    """Start anvil and wait until it answers.

    Args:
        port: loopback port; a free one if None.
        log: where its stderr goes.

    Raises:
        InvalidInputError: anvil is not installed (exit 3).
        UnavailableError: the port is taken, or anvil does not come up.
    """
    port = _free_port(port or 0)
    command = ["sh", "-c", _GUARD, "anvil-guard", str(find_anvil()), "--port", str(port), *_OPTIONS, *_CHAIN]
    guard = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=log)
    anvil = Anvil(port, guard, log)
    anvil.wait_until_ready()
    return anvil


def find_anvil() -> Path:
    """The anvil program: of this Python environment, of node_modules below here, or of the PATH.

    Raises:
        InvalidInputError: none of them (exit 3).
    """
    # npm's wrapper in node_modules/.bin is a Node program that would not pass signals on: the real one is beside it.
    beside = Path(sys.executable).parent / "anvil"
    packaged = sorted(Path("node_modules/@foundry-rs").glob("anvil-*/bin/anvil"))
    on_path = shutil.which("anvil")
    for candidate in (beside, *packaged, *([Path(on_path)] if on_path else [])):
        if candidate.is_file():
            return candidate.absolute()
    raise InvalidInputError(
        "anvil is not installed", code="anvil_missing", fix="run `make install`, or install Foundry", exit_code=3
    )


def _free_port(wanted: int) -> int:
    """The wanted port if nobody listens there, any free one for 0. Else another chain would answer in anvil's place."""
    with socket.socket() as probe:
        # A port whose last connections are still fading away counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", wanted))
        except OSError as error:
            raise UnavailableError(
                f"port {wanted} is taken", code="port_taken", fix="choose another --port, or leave it out"
            ) from error
        return int(probe.getsockname()[1])

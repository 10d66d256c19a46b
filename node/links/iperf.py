"""What iperf3 moves between two peers, both ways: a server at this end while the agent lives, a client at the other.

Each end runs the client against the other's server and signs the slower way, so that neither has to believe the other.
"""

import shutil
import subprocess
import threading
from collections.abc import Callable

import structlog

from node.measure.iperf import parse_iperf3
from swarm_chain.core.errors import InvalidInputError

log = structlog.get_logger()

Throughput = Callable[[str, int], int | None]
RUN_FOR, START_FOR = 2, 8  # seconds: of data one way, and what the program may take beside
IDLE_FOR = 10  # seconds until a server drops a client that says nothing
REST_S = 0.2


def not_measured(_host: str, _port: int) -> None:
    """Throughput of a node that runs no iperf3."""


def slower_way(host: str, port: int) -> int | None:
    """Move data to a peer's server and back, one after the other.

    Args:
        host: literal address.
        port: TCP, the number of the peer's ping port.

    Returns:
        10^6 bit/s of the slower way, rounded down; None where there is no such server, or it is at another client.
    """
    ways = [_one_way(host, port, way) for way in ((), ("--reverse",))]
    return min((one for one in ways if one is not None), default=None) if None not in ways else None


class IperfServer:
    """iperf3's server on an address, one client at a time, until it is closed.

    Args:
        host: literal address; no other is listened on.
        port: TCP.

    Raises:
        InvalidInputError: iperf3 is not installed (exit 3).
    """

    def __init__(self, host: str, port: int) -> None:
        program = shutil.which("iperf3")
        if program is None:
            raise InvalidInputError(
                "SWARM_LINK_IPERF is set and iperf3 is not installed",
                fix="apt install iperf3, or unset it",
                code="no_iperf3",
                exit_code=3,
            )
        idle = ("--idle-timeout", str(IDLE_FOR))
        self._command = (program, "--server", "--bind", host, "--port", str(port), *idle)
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._serve, name="iperf3", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends the server."""
        with self._lock:
            self._closing.set()
            if self._process is not None:
                self._process.kill()
        self._thread.join()

    def _serve(self) -> None:
        while not self._closing.is_set():
            with self._lock:
                if self._closing.is_set():
                    return
                quiet = subprocess.DEVNULL
                self._process = subprocess.Popen(self._command, stdin=quiet, stdout=quiet, stderr=quiet)
            self._process.wait()
            self._closing.wait(REST_S)  # it ends where the port is taken: that must not make this a busy loop


def _one_way(host: str, port: int, way: tuple[str, ...]) -> int | None:
    program = shutil.which("iperf3")
    if program is None:
        return None
    where = ("--client", host, "--port", str(port), "--connect-timeout", "2000")
    command = (program, *where, "--time", str(RUN_FOR), "--json", *way)
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=RUN_FOR + START_FOR
        )
        return parse_iperf3(done.stdout).mbps
    except (subprocess.TimeoutExpired, InvalidInputError) as error:
        log.info("throughput_not_measured", peer=host, reason=str(error)[:200])
        return None

"""The Ray head beside a gateway: a process of its own that outlives it, found again by what is written down of it.

start_head --pid, address--> <folder>/head.json --find_head--> the same head after a restart --stop_head--> gone

It has no CPUs for tasks: what customers run, runs on nodes. Whoever joins needs the token.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil
import structlog

from gateway.config import GatewaySettings, ray_environment, ray_token_file
from swarm_chain.core.errors import UnavailableError

log = structlog.get_logger()

OBJECT_STORE_BYTES = 80 * 2**20  # the smallest Ray allows: inputs travel as blobs, not through the head
READY_WITHIN_S, STOP_WITHIN_S, POLL_S = 90.0, 15.0, 0.2
LISTENER_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadRecord:
    """A head: process id, when that process was created (ms, so that another one with its id is not taken for it), address."""

    pid: int
    created_ms: int
    address: str


def running_head(settings: GatewaySettings) -> HeadRecord:
    """The head that runs, else a fresh one.

    Raises:
        UnavailableError: it does not start.
    """
    found = find_head(settings.own_folder)
    if found is not None:
        log.info("ray_head_found", address=found.address, pid=found.pid)
        return found
    return start_head(settings)


def find_head(folder: Path) -> HeadRecord | None:
    """The head that was started for a folder, if it runs and answers."""
    record = _read(folder)
    return record if record is not None and _process(record) is not None and _answers(record.address) else None


def start_head(settings: GatewaySettings) -> HeadRecord:
    """Starts a head.

    Raises:
        UnavailableError: it ended at once, or does not answer in time.
    """
    stop_head(settings.own_folder)  # one that does not answer any more holds memory and ports
    port = settings.ray_port or _free_port(settings.ray_host)
    address = f"{settings.ray_host}:{port}"
    token_file = ray_token_file(settings)
    with (settings.own_folder / "head.log").open("ab") as output:
        process = subprocess.Popen(
            _command(settings.ray_host, port),
            env=ray_environment(token_file, loopback=settings.ray_host.startswith("127.")),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # signals for the gateway are not for it
        )
    created_ms = int(psutil.Process(process.pid).create_time() * 1000)
    record = HeadRecord(pid=process.pid, created_ms=created_ms, address=address)
    _write(settings.own_folder, record)
    _wait_until_ready(process, record, settings.own_folder)
    log.info("ray_head_started", address=address, pid=process.pid)
    return record


def stop_head(folder: Path) -> bool:
    """Ends the head of a folder with all its processes; False if there was none."""
    record = _read(folder)
    process = None if record is None else _process(record)
    if process is not None:
        family = [*process.children(recursive=True), process]
        process.send_signal(signal.SIGTERM)
        _, left = psutil.wait_procs(family, timeout=STOP_WITHIN_S)
        for one in left:
            one.kill()
        psutil.wait_procs(left, timeout=STOP_WITHIN_S)
    (folder / "head.json").unlink(missing_ok=True)
    return process is not None


def _command(host: str, port: int) -> list[str]:
    options = {
        "--node-ip-address": host,
        "--port": str(port),
        "--include-dashboard": "false",
        "--object-store-memory": str(OBJECT_STORE_BYTES),
        "--num-cpus": "0",
        "--num-gpus": "0",
    }
    named = [f"{name}={value}" for name, value in options.items()]
    return [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", *named]


def _wait_until_ready(process: "subprocess.Popen[bytes]", record: HeadRecord, folder: Path) -> None:
    deadline = time.monotonic() + READY_WITHIN_S
    while not _answers(record.address):
        if process.poll() is not None or time.monotonic() > deadline:
            stop_head(folder)
            raise UnavailableError(
                f"the Ray head at {record.address} did not start",
                fix=f"see {folder / 'head.log'}",
                code="ray_head",
                retry_after=30,
            )
        time.sleep(POLL_S)


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=LISTENER_S).close()
    except OSError:
        return False
    return True


def _free_port(host: str) -> int:
    with socket.create_server((host, 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


def _process(record: HeadRecord) -> psutil.Process | None:
    try:
        process = psutil.Process(record.pid)
        same = int(process.create_time() * 1000) == record.created_ms
        return process if same and process.status() != psutil.STATUS_ZOMBIE else None
    except psutil.NoSuchProcess:
        return None


def _read(folder: Path) -> HeadRecord | None:
    try:
        return HeadRecord(**json.loads((folder / "head.json").read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def _write(folder: Path, record: HeadRecord) -> None:
    beside = folder / "head.json.part"
    beside.write_text(json.dumps(asdict(record)), encoding="utf-8")
    with beside.open("rb") as file:
        os.fsync(file.fileno())
    beside.replace(folder / "head.json")

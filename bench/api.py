"""Commitments of many nodes at once against a real member: its own process, uvicorn, SQLite with synchronous=FULL, real
EIP-712 signatures; only the chain is in memory. Each node keeps one connection open and sends when its time has come,
whatever happened to the others. Two figures: nodes come over one second, and all in the same instant.
"""

import argparse
import asyncio
import json
import math
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, sleep
from typing import cast

import psutil
import uvloop
from _member import MINIMAL, node_of, window_of
from _report import Result, print_report
from sqlalchemy import func, select

from node.wire import commitment_body
from oracle.store.engine import open_store
from oracle.store.tables import commitments
from swarm_chain.core.encoding import keccak, words
from swarm_chain.core.model import Commitment, SignedCommitment
from swarm_chain.core.signing import commitment_hash, domain_separator
from swarm_chain.core.units import Hash32
from swarm_chain.testing import FakeChain, FakeSigner

GOAL_MS = 250.0
READY_WITHIN_S = 60
ANSWERED_WITHIN_S = 30
SETTLE_S = 0.5  # for what the connections and the burst before left to do
LEAD_S = 0.1  # from planning a burst to its first request
SCRIPT = Path(__file__).with_name("_member.py")


@dataclass(slots=True, kw_only=True)
class Load:
    """One burst: what each node sends, and over how long the nodes come."""

    requests: list[bytes]
    over_s: float


@dataclass(slots=True, kw_only=True)
class Burst:
    """What became of a burst: seconds from a node's due time to its whole answer, statuses, CPU seconds."""

    waited_s: list[float] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    client_s: float = 0.0
    server_s: float = 0.0


class Sender(asyncio.Protocol):
    """One node's connection; it sends one request and notes when the whole answer was there."""

    def __init__(self) -> None:
        self.answered: asyncio.Future[tuple[float, int]] = asyncio.get_running_loop().create_future()
        self._buffer = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keeps the connection."""
        self._transport = cast(asyncio.Transport, transport)

    def send(self, request: bytes) -> None:
        """Sends a request."""
        self._transport.write(request)

    def close(self) -> None:
        """Hangs up."""
        self._transport.close()

    def data_received(self, data: bytes) -> None:
        """Collects the answer."""
        self._buffer += data
        head, found, body = self._buffer.partition(b"\r\n\r\n")
        if found and len(body) >= int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]):
            self.answered.set_result((perf_counter(), int(head.split(b" ", 2)[1])))

    def connection_lost(self, exc: Exception | None) -> None:
        """An answer that was still due will not come."""
        if not self.answered.done():
            self.answered.set_exception(exc or ConnectionError("the member hung up"))


def loads_of(nodes: int, spans_s: Sequence[float]) -> list[Load]:
    """A burst in a window of its own for each span of seconds."""
    deployment = FakeChain().deployment
    domain = domain_separator(deployment.chain_id, deployment.contracts["ChallengeBeacon"])
    keys = [node_of(number) for number in range(nodes)]
    return [
        Load(requests=[request_of(window, node, domain) for node in keys], over_s=over_s)
        for window, over_s in enumerate(spans_s)
    ]


def request_of(window_number: int, node: FakeSigner, domain: Hash32) -> bytes:
    """The HTTP request with which a node commits in a window."""
    compute, (window, seed) = MINIMAL.compute, window_of(window_number)
    commitment = Commitment(
        window_id=window,
        window_seed=seed,
        node=node.address,
        device=0,
        m=compute.m,
        n=compute.n,
        steps=compute.first_steps,
        root=keccak(words(window, node.address)),
    )
    signed = SignedCommitment(commitment=commitment, signature=node.sign_typed(domain, commitment_hash(commitment)))
    body = json.dumps(commitment_body(signed)).encode()
    head = f"POST /v1/commitments HTTP/1.1\r\nHost: member\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return head.encode() + b"\r\n\r\n" + body


async def fire(port: int, load: Load, server: psutil.Process) -> Burst:
    """Opens a connection for each node, sends every request at its due time and waits for all answers."""
    loop, burst = asyncio.get_running_loop(), Burst()
    senders = [(await loop.create_connection(Sender, "127.0.0.1", port))[1] for _ in load.requests]
    await asyncio.sleep(SETTLE_S)
    before, client_before = server.cpu_times(), process_time()
    start, clock = loop.time() + LEAD_S, perf_counter() + LEAD_S
    dues = [load.over_s * number / len(senders) for number in range(len(senders))]
    for sender, request, due in zip(senders, load.requests, dues, strict=True):
        loop.call_at(start + due, sender.send, request)
    answers = await asyncio.wait_for(asyncio.gather(*(sender.answered for sender in senders)), ANSWERED_WITHIN_S)
    for sender, (at, status), due in zip(senders, answers, dues, strict=True):
        burst.waited_s.append(at - clock - due)
        burst.statuses.append(status)
        sender.close()
    after = server.cpu_times()
    burst.client_s = process_time() - client_before
    burst.server_s = after.user + after.system - before.user - before.system
    return burst


async def fire_all(port: int, loads: Sequence[Load], server: psutil.Process) -> list[Burst]:
    """Sends the bursts, one after the other."""
    return [await fire(port, load, server) for load in loads]


def free_port() -> int:
    """A port of the loopback interface that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def wait_until_served(port: int) -> None:
    """Returns once the member takes connections."""
    deadline = perf_counter() + READY_WITHIN_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            if perf_counter() > deadline:
                sys.exit("the member does not listen")
            sleep(0.1)
        else:
            return


@contextmanager
def serving(nodes: int, windows: int, folder: Path) -> Iterator[tuple[psutil.Process, int]]:
    """A member in a process of its own, and its port; its log is shown if it does not end well."""
    port = free_port()
    given = {"--nodes": nodes, "--windows": windows, "--port": port, "--folder": folder}
    command = [sys.executable, str(SCRIPT), *(str(word) for pair in given.items() for word in pair)]
    with (
        (folder / "log").open("w+b") as log,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=log) as member,
    ):
        try:
            wait_until_served(port)
            yield psutil.Process(member.pid), port
        finally:
            member.send_signal(signal.SIGTERM)
            ended = member.wait(READY_WITHIN_S)
            log.seek(0)
            if ended:
                sys.stderr.buffer.write(log.read())


def kept(folder: Path) -> int:
    """Commitments that count in the member's store."""
    engine = open_store(f"sqlite:///{folder / 'oracle.db'}")
    with engine.connect() as connection:
        count = connection.execute(select(func.count()).where(commitments.c.first)).scalar_one()
    engine.dispose()
    return int(count)


def percentile(values: Sequence[float], share: float) -> float:
    """The value that so large a share of all do not exceed."""
    return sorted(values)[max(math.ceil(share * len(values)) - 1, 0)]


def results_of(name: str, bursts: Sequence[Burst]) -> list[Result]:
    """The best burst of several: other programs share the machine."""
    best = min(bursts, key=lambda burst: percentile(burst.waited_s, 0.99))
    typical = median(percentile(burst.waited_s, 0.99) for burst in bursts)
    waited_ms = {
        "p50": percentile(best.waited_s, 0.5),
        "p99": percentile(best.waited_s, 0.99),
        "slowest": max(best.waited_s),
        "median of all p99": typical,
    }
    shown = [
        Result(name=f"{name}: {what}", value=1000 * value, unit="ms", goal=GOAL_MS if what == "p99" else None)
        for what, value in waited_ms.items()
    ]
    cpu = {"server": best.server_s, "client": best.client_s}
    return [*shown, *(Result(name=f"{name}: CPU of the {who}", value=value, unit="s") for who, value in cpu.items())]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    spans_s = [1.0] + [1.0, 0.0] * options.rounds  # the first burst warms the member up
    loads = loads_of(options.nodes, spans_s)
    with TemporaryDirectory() as name:
        folder = Path(name)
        with serving(options.nodes, len(loads), folder) as (server, port):
            bursts = uvloop.run(fire_all(port, loads, server))
        lost = len(loads) * options.nodes - kept(folder)
    refused = sum(status != 202 for burst in bursts for status in burst.statuses)
    results = [
        *results_of(f"{options.nodes} nodes in one second", bursts[1::2]),
        *results_of(f"{options.nodes} nodes in the same instant", bursts[2::2]),
        Result(name="refused", value=refused, unit="commitments", goal=0),
        Result(name="answered and not in the store", value=lost - refused, unit="commitments", goal=0),
    ]
    print_report("api", results)


if __name__ == "__main__":
    main()

"""Network, as far as one machine can measure it: over loopback, against an echo and a payload in another process.

this process --pings--> echo          down: <--payload--           up: --payload--> one byte back
                                      the payload of the audits, made while it is sent
"""

import multiprocessing
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

from node.links.echo import Doorkeeper, UdpEcho
from node.suite.metrics import MEMBERS, PEERS, Bench, Metric
from swarm_chain.adapters.clock import SystemClock
from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.adapters.pinger import PingCall, ping
from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.network import BLOCK_BYTES, rate_mbps
from swarm_chain.core.payload import payload_block, payload_key
from swarm_chain.core.pings import figures_of, token_hash
from swarm_chain.core.units import ZERO_ADDRESS, ZERO_HASH, Address, EpochNumber

LOOPBACK = "127.0.0.1"
PROBES, GAP_MS, TIMEOUT_MS = 200, 1, 1000
BLOCKS = 2048  # 32 MiB each way
PATIENCE_S = 60
_EPOCH, _UP, _DOWN = EpochNumber(0), b"U", b"D"


def network_metrics(bench: Bench) -> Iterator[Metric]:
    """Latency, jitter, loss and both directions over loopback: what this machine's own stack and processor allow.

    Args:
        bench: gives the clock.

    Raises:
        UnavailableError: the other process ended, or does not answer.
    """
    signer = KeySigner(secrets.token_bytes(32))
    with _other_process(signer.address) as (echo_port, payload_port):
        token = signer.sign_typed(ZERO_HASH, token_hash(_EPOCH, signer.address, ZERO_ADDRESS))
        call = PingCall(
            host=LOOPBACK,
            port=echo_port,
            epoch=_EPOCH,
            caller=signer.address,
            token=token,
            probes=PROBES,
            gap_ms=GAP_MS,
            timeout_ms=TIMEOUT_MS,
        )
        yield from _figures(call)
        for name, move in (("bandwidth up", _up), ("bandwidth down", _down)):
            started = bench.clock_ns()
            move(payload_port)
            elapsed_ms = (bench.clock_ns() - started) // 10**6
            method = f"loopback, {BLOCKS * BLOCK_BYTES // 2**20} MiB of the audits' payload, made as it is sent"
            value = rate_mbps(BLOCKS * BLOCK_BYTES, elapsed_ms)
            yield Metric(category="network", name=name, unit="Mbit/s", method=method, paid_by=MEMBERS, value=value)


def _figures(call: PingCall) -> Iterator[Metric]:
    found = figures_of(ping(call))
    method = f"loopback, {PROBES} pings of drawn peers' kind to another process"
    for name, unit, value in (
        ("latency", "us", found.rtt_us),
        ("jitter", "us", found.jitter_us),
        ("loss", "ppm", found.loss_ppm),
    ):
        yield Metric(category="network", name=name, unit=unit, method=method, paid_by=PEERS, value=value)


@contextmanager
def _other_process(caller: Address) -> Iterator[tuple[int, int]]:
    """Ports of an echo and of a payload server, which end with this.

    Raises:
        UnavailableError: the process died, or what was moved did not arrive.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, caller), daemon=True)
    process.start()
    there.close()  # else a process that died would be waited for
    try:
        yield here.recv()
    except (OSError, EOFError) as error:
        raise UnavailableError(
            f"loopback could not be measured: {error!r}", code="no_loopback", fix="run it again on a quieter machine"
        ) from error
    finally:
        process.kill()
        process.join()
        here.close()


def _serve(pipe: Connection, caller: Address) -> None:
    door = Doorkeeper(ZERO_HASH, ZERO_ADDRESS, SystemClock().monotonic_ms)
    door.admit(_EPOCH, frozenset({caller}))
    echo = UdpEcho(LOOPBACK, 0, door)
    with socket.create_server((LOOPBACK, 0)) as listener:
        pipe.send((echo.port, listener.getsockname()[1]))
        while True:
            line, _ = listener.accept()
            with line:
                _answer(line)


def _answer(line: socket.socket) -> None:
    if line.recv(1) == _DOWN:
        _send(line)
    elif _read(line) == BLOCKS * BLOCK_BYTES:
        line.sendall(b"!")


def _up(port: int) -> None:
    with socket.create_connection((LOOPBACK, port), timeout=PATIENCE_S) as line:
        line.sendall(_UP)
        _send(line)
        line.shutdown(socket.SHUT_WR)
        _require(_read(line) == 1)


def _down(port: int) -> None:
    with socket.create_connection((LOOPBACK, port), timeout=PATIENCE_S) as line:
        line.sendall(_DOWN)
        _require(_read(line) == BLOCKS * BLOCK_BYTES)


def _send(line: socket.socket) -> None:
    key = payload_key(bytes(32), ZERO_HASH)
    for index in range(BLOCKS):
        line.sendall(payload_block(key, index))


def _read(line: socket.socket) -> int:
    size = 0
    while piece := line.recv(2**18):
        size += len(piece)
    return size


def _require(arrived: bool) -> None:
    if not arrived:
        raise ConnectionError("the other process ended")

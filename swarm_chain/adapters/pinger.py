"""Pings over UDP: one after the other to one address, each with a nonce of its own."""

import secrets
import socket
import time
from dataclasses import dataclass

from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.pings import NONCE_BYTES, PONG_BYTES, Ping, ping_bytes, pong_bytes
from swarm_chain.core.units import Address, EpochNumber, Signature

HELLOS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PingCall:
    """Whom to ping in whose name: literal address, token for that node, number of pings, pause and patience in ms."""

    host: str
    port: int
    epoch: EpochNumber
    caller: Address
    token: Signature
    probes: int
    gap_ms: int
    timeout_ms: int


def ping(call: PingCall) -> tuple[int | None, ...]:
    """Round trips in us in the order of the pings, None where no answer came in time.

    A few pings go ahead and are not counted: the other side checks the token at the first one.

    Raises:
        UnavailableError: not even those are answered, or there is no way to that address (code "peer_away").
    """
    family = socket.AF_INET6 if ":" in call.host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as line:
            line.connect((call.host, call.port))  # so that nobody else's datagrams arrive
            if all(_round_trip_us(line, call) is None for _ in range(HELLOS)):
                raise _away(call, "no answer")
            return tuple(_one(line, call) for _ in range(call.probes))
    except OSError as error:
        raise _away(call, error.strerror or str(error)) from error


def _one(line: socket.socket, call: PingCall) -> int | None:
    found = _round_trip_us(line, call)
    time.sleep(call.gap_ms / 1000)
    return found


def _round_trip_us(line: socket.socket, call: PingCall) -> int | None:
    nonce = secrets.token_bytes(NONCE_BYTES)
    asked = ping_bytes(Ping(epoch=call.epoch, caller=call.caller, nonce=nonce, token=call.token))
    wanted, until = pong_bytes(nonce), time.monotonic() + call.timeout_ms / 1000
    started_ns = time.perf_counter_ns()
    try:
        line.send(asked)
        while (left := until - time.monotonic()) > 0:  # late answers to pings before this one are passed over
            line.settimeout(left)
            if line.recv(PONG_BYTES + 1) == wanted:
                return (time.perf_counter_ns() - started_ns) // 1000
    except (TimeoutError, ConnectionRefusedError):
        return None
    return None


def _away(call: PingCall, why: str) -> UnavailableError:
    return UnavailableError(f"{call.host} port {call.port} answers no ping: {why}", code="peer_away", retry_after=60)

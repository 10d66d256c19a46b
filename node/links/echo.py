"""Answers pings over UDP at one address, and only those of callers that were drawn for this node.

datagram --parse, caller admitted, token signed by it for this node and epoch--> pong, shorter than the ping
"""

import socket
import threading
from collections.abc import Callable, Mapping

from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.pings import PING_BYTES, Ping, parse_ping, pong_bytes, token_digest
from swarm_chain.core.signing import require_signed_by
from swarm_chain.core.units import Address, EpochNumber, Hash32, Signature

KEPT_EPOCHS = 2
CHECKS_A_SECOND = 100  # of signatures: a flood of forged tokens costs no more than 2 % of a core
ANSWERS_A_SECOND = 2000
TICK_S = 0.2  # until a closed echo notices


class Doorkeeper:
    """Decides which datagrams are answered. Tokens are checked once, so that a check is in no measured round trip.

    Args:
        domain: EIP-712 domain of node messages.
        node: address of this node's key.
        monotonic_ms: the clock.
    """

    def __init__(self, domain: Hash32, node: Address, monotonic_ms: Callable[[], int]) -> None:
        self._domain, self._node, self._now = domain, node, monotonic_ms
        self._admitted: Mapping[EpochNumber, frozenset[Address]] = {}
        self._known: dict[tuple[EpochNumber, Address], Signature] = {}
        self._second, self._checks, self._answers = 0, 0, 0

    def admit(self, epoch: EpochNumber, callers: frozenset[Address]) -> None:
        """Answers these callers in an epoch from now on; epochs long over are forgotten."""
        kept = {one: who for one, who in self._admitted.items() if one > epoch - KEPT_EPOCHS}
        self._admitted = {**kept, epoch: kept.get(epoch, frozenset()) | callers}
        self._known = {key: token for key, token in self._known.copy().items() if key[0] in self._admitted}

    def answer(self, datagram: bytes) -> bytes:
        """The pong to a datagram; nothing for what is no ping, or not from a caller that may ask."""
        self._count()
        try:
            ping = parse_ping(datagram)
            if self._answers >= ANSWERS_A_SECOND or ping.caller not in self._admitted.get(ping.epoch, frozenset()):
                return b""
            self._require_token(ping)
        except InvalidInputError:
            return b""
        self._answers += 1
        return pong_bytes(ping.nonce)

    def _require_token(self, ping: Ping) -> None:
        key = (ping.epoch, ping.caller)
        if self._known.get(key) == ping.token:
            return
        if self._checks >= CHECKS_A_SECOND:
            raise InvalidInputError("too many tokens at once", code="busy")
        self._checks += 1
        require_signed_by(ping.caller, token_digest(self._domain, ping.epoch, ping.caller, self._node), ping.token)
        self._known[key] = ping.token

    def _count(self) -> None:
        second = self._now() // 1000
        if second != self._second:
            self._second, self._checks, self._answers = second, 0, 0


class UdpEcho:
    """A thread that answers at one address from its construction until `close`.

    Args:
        host: literal address of this machine, never all of them.
        port: 0 takes any free one.
        doorkeeper: decides what is answered.

    Raises:
        InvalidInputError: it cannot listen there (exit 3).
    """

    def __init__(self, host: str, port: int, doorkeeper: Doorkeeper) -> None:
        self._line = _bound(host, port)
        self._doorkeeper = doorkeeper
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="link-echo", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """Port it listens on."""
        port: int = self._line.getsockname()[1]
        return port

    def close(self) -> None:
        """Answers nobody any more."""
        self._closing.set()
        self._thread.join()
        self._line.close()

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                datagram, sender = self._line.recvfrom(PING_BYTES + 1)  # a longer one is none: it stays too long
                pong = self._doorkeeper.answer(datagram)
                if pong:
                    self._line.sendto(pong, sender)
            except OSError:  # nothing came, or the way back is closed: the next one may be another's
                continue


def _bound(host: str, port: int) -> socket.socket:
    line = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
    try:
        line.bind((host, port))
    except (OSError, OverflowError) as error:
        line.close()
        raise InvalidInputError(
            f"cannot answer pings on {host} port {port}: {error}",
            fix="set SWARM_LINK_HOST and SWARM_LINK_PORT to an address of this machine and a free port",
            code="cannot_listen",
            exit_code=3,
        ) from error
    line.settimeout(TICK_S)
    return line

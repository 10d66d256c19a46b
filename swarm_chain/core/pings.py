"""Pings between drawn peers: where a node answers, who may ask it, and what the round trips come to.

    node --LinkEndpoint(epoch, host, port), signed--> members --> peers that the epoch's seed draws
    peer --ping: epoch, caller, nonce, token--> node --pong: nonce--> peer          the token is the caller's signature

    ping  "SWL1" ‖ uint32 epoch ‖ caller, 20 bytes ‖ nonce, 16 bytes ‖ token, 65 bytes         109 bytes
    pong  "SWL2" ‖ nonce                                                                      20 bytes

A pong is shorter than its ping and goes to callers alone that sign for this node and epoch: no amplifier. The nonce is
unpredictable: whoever answers has seen the ping. Source: docs/spec/network.md "Links".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from swarm_chain.core.encoding import address_bytes, checksum_address, keccak, words
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.hosts import require_host
from swarm_chain.core.link_params import LinkParams
from swarm_chain.core.links import MAX_US, PPM, LinkReport
from swarm_chain.core.signing import typed_digest
from swarm_chain.core.units import BPS, Address, EpochNumber, Hash32, Signature, Timestamp

ENDPOINT_TYPE = "LinkEndpoint(uint256 epoch,address node,string host,uint256 port,uint256 issuedAt)"
CALLER_TYPE = "LinkToken(uint256 epoch,address caller,address target)"
MAX_HOST = 39
NONCE_BYTES, TOKEN_BYTES = 16, 65
PING_BYTES, PONG_BYTES = 4 + 4 + 20 + NONCE_BYTES + TOKEN_BYTES, 4 + NONCE_BYTES

_PING, _PONG = b"SWL1", b"SWL2"


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkEndpoint:
    """Where a node answers pings in an epoch; of two the later one counts."""

    epoch: EpochNumber
    node: Address
    host: str
    port: int
    issued_at: Timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping:
    """A request: nonce of NONCE_BYTES, token of TOKEN_BYTES."""

    epoch: EpochNumber
    caller: Address
    nonce: bytes
    token: Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFigures:
    """What one end found: median round trip and median of its changes, us; share of pings without an answer, ppm.

    `throughput_mbps` is the slower way iperf3 found, None where this end did not measure it.
    """

    rtt_us: int
    jitter_us: int
    loss_ppm: int
    throughput_mbps: int | None = None


def endpoint_hash(endpoint: LinkEndpoint) -> Hash32:
    """Struct hash of a LinkEndpoint."""
    e = endpoint
    return keccak(words(keccak(ENDPOINT_TYPE.encode()), e.epoch, e.node, keccak(e.host.encode()), e.port, e.issued_at))


def endpoint_digest(domain: Hash32, endpoint: LinkEndpoint) -> Hash32:
    """What a node signs to be measured with (domain: ChallengeBeacon)."""
    return typed_digest(domain, endpoint_hash(endpoint))


def token_hash(epoch: EpochNumber, caller: Address, target: Address) -> Hash32:
    """Struct hash of a LinkToken."""
    return keccak(words(keccak(CALLER_TYPE.encode()), epoch, caller, target))


def token_digest(domain: Hash32, epoch: EpochNumber, caller: Address, target: Address) -> Hash32:
    """What a caller signs to ping a node in an epoch (domain: ChallengeBeacon)."""
    return typed_digest(domain, token_hash(epoch, caller, target))


def require_place(endpoint: LinkEndpoint, *, private: bool) -> None:
    """Refuses an endpoint that nobody should send pings to.

    Args:
        endpoint: as somebody said.
        private: whether addresses that no router forwards will do.

    Raises:
        InvalidInputError: no literal public address, or a port below 1024: pings must not knock at other services.
    """
    require_host(endpoint.host, private=private, code="bad_endpoint")
    if not 1024 <= endpoint.port < 2**16:
        raise InvalidInputError(
            f"port {endpoint.port} is not pinged", code="bad_endpoint", fix="use one from 1024 to 65535"
        )


def ping_bytes(ping: Ping) -> bytes:
    """The datagram of a ping, PING_BYTES long."""
    return _PING + ping.epoch.to_bytes(4, "big") + address_bytes(ping.caller) + ping.nonce + ping.token


def parse_ping(datagram: bytes) -> Ping:
    """Read a ping.

    Raises:
        InvalidInputError: anything else.
    """
    if len(datagram) != PING_BYTES or not datagram.startswith(_PING):
        raise InvalidInputError("this is no ping", code="bad_ping")
    return Ping(
        epoch=EpochNumber(int.from_bytes(datagram[4:8], "big")),
        caller=checksum_address(datagram[8:28]),
        nonce=datagram[28:44],
        token=Signature(datagram[44:]),
    )


def pong_bytes(nonce: bytes) -> bytes:
    """The datagram that answers a ping, PONG_BYTES long."""
    return _PONG + nonce


def figures_of(round_trips_us: Sequence[int | None]) -> LinkFigures:
    """Sum up round trips in the order of their pings.

    Args:
        round_trips_us: us; None: no answer in time.

    Returns:
        Lower medians; a round trip is at least 1 us and at most MAX_US.

    Raises:
        InvalidInputError: none came back.
    """
    back = [min(max(one, 1), MAX_US) for one in round_trips_us if one is not None]
    if not back:
        raise InvalidInputError("no ping was answered", code="peer_away")
    changes = [abs(second - first) for first, second in pairwise(back)]
    return LinkFigures(
        rtt_us=_middle(back),
        jitter_us=_middle(changes or [0]),
        loss_ppm=(len(round_trips_us) - len(back)) * PPM // len(round_trips_us),
    )


def agrees(mine: LinkFigures, report: LinkReport, params: LinkParams) -> bool:
    """Whether an end may sign what the other one found: no figure differs by more than `agree_bps` and some slack.

    A throughput is agreed to by who measured much the same: a small one lowers what this end's audits proved.

    Args:
        mine: what this end found itself.
        report: the other end's.
        params: the preset's numbers.
    """
    return (
        _same_throughput(mine.throughput_mbps, report.throughput_mbps, params)
        and _alike(mine.rtt_us, report.rtt_us, params)
        and _alike(mine.jitter_us, report.jitter_us, params)
        and abs(mine.loss_ppm - report.loss_ppm) <= params.agree_ppm
    )


def _same_throughput(mine: int | None, told: int | None, params: LinkParams) -> bool:
    if told is None:
        return True
    low, high = sorted((told, -1 if mine is None else mine))
    return mine is not None and high * BPS <= low * params.agree_bps


def _alike(one: int, other: int, params: LinkParams) -> bool:
    low, high = sorted((one, other))
    return high * BPS <= low * params.agree_bps + params.agree_us * BPS


def _middle(values: Sequence[int]) -> int:
    return sorted(values)[(len(values) - 1) // 2]

"""Calling a node back: to the address its request came from and to no other, for a greeting of one line."""

import ipaddress
from dataclasses import dataclass
from typing import Protocol

from oracle.pipeline.desk import Desk, require_fresh, require_node
from swarm_chain.core.callbacks import LEAST_PORT, MOST_PORT, CallbackRequest, callback_digest, greeting
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.signing import require_signed_by
from swarm_chain.core.units import Address, Signature

# The preset of demos and tests lives on loopback and private networks; on every other a member never calls there.
PRIVATE_PRESETS = frozenset({"minimal"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """How a call went: milliseconds until connected, or why it could not be."""

    elapsed_ms: int
    problem: str = ""


class Caller(Protocol):
    """What opens the connection."""

    def call(self, host: str, port: int, line: bytes, /) -> Called:
        """Connects to a literal address, writes a line, reads nothing and closes."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Callbacks:
    """What calling back needs."""

    desk: Desk
    member: Address | None
    caller: Caller


def take_callback(callbacks: Callbacks, request: CallbackRequest, signature: Signature, host: str) -> Called:
    """Call a node back.

    Args:
        callbacks: this member.
        request: what the node asks.
        signature: the node's.
        host: network address the request came from; the only one that is ever called.

    Raises:
        InvalidInputError: not a live node's, for another member, expired, a port or an address that is never called, or
            not signed by the node.
    """
    desk, sight = callbacks.desk, callbacks.desk.sight()
    require_node(sight, request.node)
    if request.member != callbacks.member:
        raise InvalidInputError(
            "the request is for another member", code="wrong_member", fix="ask /v1/status who this is"
        )
    require_fresh(sight.now, request.issued_at, request.expires_at, desk.network.params.liveness.message_for)
    require_signed_by(request.node, callback_digest(desk.domain, request), signature)
    if not LEAST_PORT <= request.port <= MOST_PORT:
        raise InvalidInputError(
            f"port {request.port} is not called", code="bad_port", fix=f"listen on one from {LEAST_PORT} to {MOST_PORT}"
        )
    address = callable_address(host, private=desk.network.params.name in PRIVATE_PRESETS)
    return callbacks.caller.call(address, request.port, greeting(request.nonce))


def callable_address(host: str, *, private: bool) -> str:
    """Give the address to call, literal and free of IPv4 in IPv6's clothes.

    Args:
        host: as the connection shows it.
        private: loopback and private networks may be called too.

    Raises:
        InvalidInputError: no address, or one that only this member's own network knows: a member behind a proxy would
            knock at its own doors.
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        raise InvalidInputError(f"{host[:40]!r} is no address to call", code="not_callable") from None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    seen = mapped or address
    usable = not (seen.is_unspecified or seen.is_multicast or seen.is_reserved or seen.is_link_local)
    if not usable or not (seen.is_global or (private and seen.is_private)):
        raise InvalidInputError(
            f"{seen} is not a public address",
            code="not_callable",
            fix="ask from the machine itself over the public network; a member behind a proxy cannot call back",
        )
    return str(seen)

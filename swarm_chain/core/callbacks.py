"""A node asks a member to connect to one of its ports, so that it learns whether the port is reachable from outside.

    CallbackRequest --signed--> member --connects to the sender's own address, writes the greeting--> port of the node

The address is never in the message: a member only calls back whoever called it.
Source: docs/node.md, Ports from outside.
"""

from dataclasses import dataclass

from swarm_chain.core.encoding import keccak, words
from swarm_chain.core.signing import typed_digest
from swarm_chain.core.units import Address, Hash32, Timestamp

CALLBACK_TYPE = (
    "CallbackRequest(address node,address member,uint256 port,bytes32 nonce,uint256 issuedAt,uint256 expiresAt)"
)
LEAST_PORT, MOST_PORT = 1024, 65535  # below are other people's services: mail, name servers, shells


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackRequest:
    """Which port to try, by which member; `nonce` tells the node that the call is the one it asked for. Chain time."""

    node: Address
    member: Address
    port: int
    nonce: Hash32
    issued_at: Timestamp
    expires_at: Timestamp


def callback_hash(request: CallbackRequest) -> Hash32:
    """Struct hash of a CallbackRequest."""
    r, kind = request, keccak(CALLBACK_TYPE.encode())
    return keccak(words(kind, r.node, r.member, r.port, r.nonce, r.issued_at, r.expires_at))


def callback_digest(domain: Hash32, request: CallbackRequest) -> Hash32:
    """What the node key signs to be called back (domain: ChallengeBeacon)."""
    return typed_digest(domain, callback_hash(request))


def greeting(nonce: Hash32) -> bytes:
    """The only bytes a member writes to the port: a line that names the nonce, and that no protocol takes for a command."""
    return b"swarm-callback " + nonce.hex().encode() + b"\n"

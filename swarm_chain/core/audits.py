"""Audits: what one oracle member asks one device alone, at once after a window closed, and what the device answers.

    AuditRequest --signed--> member --nonce, clock starts--> device works --AuditAnswer, signed; clock stops--> member
                                    member --draw--> device --openings--> member judges

The nonce keeps an answer from being made beforehand, the draw keeps a device from opening only what it did. The nonce is
the hash of the draw, so that a member cannot choose what it draws after it has seen the answer.
Source: docs/spec/audits.md.
"""

from dataclasses import dataclass

from swarm_chain.core.encoding import keccak, words
from swarm_chain.core.kinds import Category
from swarm_chain.core.signing import typed_digest
from swarm_chain.core.units import Address, Hash32, WindowId, epoch_of, window_id

REQUEST_TYPE = "AuditRequest(uint256 windowId,address node,uint256 device,uint8 category,uint256 claim,address member)"
ANSWER_TYPE = "AuditAnswer(bytes32 auditId,bytes32 root)"
DRAW_BYTES = 32
# Every device has its own; the others are the machine's, asked as device 0.
PER_DEVICE = frozenset({Category.MEMORY, Category.TRAINING})


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """A device asks a member to be audited after a window; `claim` is in units of the category, > 0."""

    window_id: WindowId
    node: Address
    device: int
    category: Category
    claim: int
    member: Address


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditAnswer:
    """What a device's work came to: the root of a tree over all of it, or a digest of it."""

    audit_id: Hash32
    root: Hash32


def is_audited(window: WindowId) -> bool:
    """Whether devices are audited after a window: after every one but the first of an epoch, whose seed they prepare with."""
    return window != first_window(window)


def first_window(window: WindowId) -> WindowId:
    """First window of an epoch, by any of its windows."""
    return window_id(epoch_of(window), 0)


def category_number(category: Category) -> int:
    """Number of a category in signed messages: its place in the order of `Category`."""
    return list(Category).index(category)


def request_hash(request: AuditRequest) -> Hash32:
    """Struct hash of an AuditRequest."""
    r = request
    who = words(keccak(REQUEST_TYPE.encode()), r.window_id, r.node, r.device)
    return keccak(who + words(category_number(r.category), r.claim, r.member))


def request_digest(domain: Hash32, request: AuditRequest) -> Hash32:
    """What the node key signs to be audited (domain: ChallengeBeacon)."""
    return typed_digest(domain, request_hash(request))


def answer_hash(answer: AuditAnswer) -> Hash32:
    """Struct hash of an AuditAnswer."""
    return keccak(words(keccak(ANSWER_TYPE.encode()), answer.audit_id, answer.root))


def answer_digest(domain: Hash32, answer: AuditAnswer) -> Hash32:
    """What the node key signs when its work is done."""
    return typed_digest(domain, answer_hash(answer))


def nonce_of(draw: Hash32) -> Hash32:
    """Nonce of an audit: keccak256 of the 32 random bytes its member keeps to itself until the answer is in."""
    return keccak(draw)


def audit_id(request: AuditRequest, nonce: Hash32) -> Hash32:
    """Name of an audit: of this request, by this member, with this nonce, and of no other."""
    return keccak(words(request_hash(request), nonce))

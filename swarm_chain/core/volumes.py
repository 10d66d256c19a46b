"""Giving out a volume: what node and member sign about it, and how many blocks may be sent and confirmed.

    node -> member   VolumeRequest(node, member, index)       "the volume I keep for you has this number, or is yet to begin"
    node -> member   BlocksRequest(volume, first, count)      blocks from `confirmed` on, at most `grow_blocks` an epoch
    node -> member   BlocksConfirmed(volume, blocks)          they are on disk: audits cover them, nobody gets them again

                0 ......... confirmed ......... sent ......... max_blocks
                  audited     on their way        not made yet

A block that audits may ask for is never sent: else a node would fetch it when it is asked.
Source: docs/spec/storage.md.
"""

from dataclasses import dataclass, replace

from swarm_chain.core.encoding import keccak, words
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.signing import typed_digest
from swarm_chain.core.storageset import StorageParams, Volume
from swarm_chain.core.units import Address, EpochNumber, Hash32

REQUEST_TYPE = "VolumeRequest(address node,address member,uint256 index)"
BLOCKS_TYPE = "BlocksRequest(bytes32 volume,uint256 first,uint256 count)"
CONFIRMED_TYPE = "BlocksConfirmed(bytes32 volume,uint256 blocks)"
MAX_SENT_AT_ONCE = 256  # blocks, a MiB: bounds what an answer takes of a member's memory, and what a crash loses


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeRequest:
    """A node asks for its volume with a member. `index` is the least that will do: the one after a lost volume begins anew."""

    node: Address
    member: Address
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BlocksRequest:
    """A node asks for blocks `first` … `first + count - 1` of a volume."""

    volume_id: Hash32
    first: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BlocksConfirmed:
    """A node says that the first `blocks` blocks of a volume are on its disk."""

    volume_id: Hash32
    blocks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """Blocks of a volume: `confirmed` by its node, `sent` so far, and `sent_now` in epoch `sent_epoch`, repeats included."""

    confirmed: int = 0
    sent: int = 0
    sent_epoch: EpochNumber = EpochNumber(0)
    sent_now: int = 0


def volume_id(volume: Volume) -> Hash32:
    """Name of a volume in messages: keccak256 of its 192 bytes."""
    return keccak(volume.encoded)


def request_hash(request: VolumeRequest) -> Hash32:
    """Struct hash of a VolumeRequest."""
    return keccak(words(keccak(REQUEST_TYPE.encode()), request.node, request.member, request.index))


def blocks_hash(request: BlocksRequest) -> Hash32:
    """Struct hash of a BlocksRequest."""
    return keccak(words(keccak(BLOCKS_TYPE.encode()), request.volume_id, request.first, request.count))


def confirmed_hash(confirmed: BlocksConfirmed) -> Hash32:
    """Struct hash of a BlocksConfirmed."""
    return keccak(words(keccak(CONFIRMED_TYPE.encode()), confirmed.volume_id, confirmed.blocks))


def request_digest(domain: Hash32, request: VolumeRequest) -> Hash32:
    """What the node key signs to get a volume (domain: ChallengeBeacon)."""
    return typed_digest(domain, request_hash(request))


def blocks_digest(domain: Hash32, request: BlocksRequest) -> Hash32:
    """What the node key signs to get blocks, so that nobody else uses up what it may fetch."""
    return typed_digest(domain, blocks_hash(request))


def confirmed_digest(domain: Hash32, confirmed: BlocksConfirmed) -> Hash32:
    """What the node key signs when blocks are on its disk."""
    return typed_digest(domain, confirmed_hash(confirmed))


def may_send(ledger: Ledger, epoch: EpochNumber, params: StorageParams) -> int:
    """Blocks that may still be sent in an epoch: what is left of its share, and of the volume behind what was confirmed.

    Args:
        ledger: of the volume.
        epoch: the running one.
        params: growth an epoch, largest volume.
    """
    spent = ledger.sent_now if ledger.sent_epoch == epoch else 0
    return max(0, min(params.grow_blocks - spent, params.max_blocks - ledger.confirmed))


def send(ledger: Ledger, request: BlocksRequest, epoch: EpochNumber, params: StorageParams) -> Ledger:
    """Book blocks that are about to be sent; what was lost on the way may be sent again and counts again.

    Args:
        ledger: of the volume.
        request: which blocks.
        epoch: the running one.
        params: growth an epoch, largest volume.

    Returns:
        The ledger afterwards.

    Raises:
        InvalidInputError: too many at once, confirmed ones, a gap before them, or beyond the largest volume.
        UnavailableError: the epoch's share is used up (code "grown_enough").
    """
    end = request.first + request.count
    if not 1 <= request.count <= MAX_SENT_AT_ONCE or end > params.max_blocks:
        raise InvalidInputError(
            f"blocks {request.first} to {end} of a volume of {params.max_blocks}",
            fix=f"ask for 1 to {MAX_SENT_AT_ONCE} blocks that the volume has",
            code="bad_blocks",
        )
    if not ledger.confirmed <= request.first <= ledger.sent:
        raise InvalidInputError(
            f"block {request.first} does not follow {ledger.confirmed} confirmed and {ledger.sent} sent ones",
            fix=f"ask from block {ledger.confirmed} on; confirmed blocks are never sent again",
            code="not_next",
        )
    if request.count > may_send(ledger, epoch, params):
        raise UnavailableError(
            f"{params.grow_blocks} blocks are sent in an epoch", fix="go on in the next epoch", code="grown_enough"
        )
    spent = ledger.sent_now if ledger.sent_epoch == epoch else 0
    return replace(ledger, sent=max(ledger.sent, end), sent_epoch=epoch, sent_now=spent + request.count)


def confirm(ledger: Ledger, blocks: int) -> Ledger:
    """Book that a node has the first blocks; an older or repeated confirmation changes nothing.

    Raises:
        InvalidInputError: more than were sent (code "not_sent").
    """
    if not 0 <= blocks <= ledger.sent:
        raise InvalidInputError(
            f"{blocks} blocks are confirmed where {ledger.sent} were sent", fix="confirm what came", code="not_sent"
        )
    return replace(ledger, confirmed=max(ledger.confirmed, blocks))

"""The payload of a bandwidth audit: bytes that one member alone can make, fetched once and sent back in a drawn order.

    secret --payload_key--> key --block(i)--> block 0 ‖ block 1 ‖ … --down--> node --payload_root--> root, signed
    draw   --upload_order--> p(0), p(1), …    block p(0) ‖ block p(1) ‖ … <--up-- node

To whoever lacks the key the blocks are random: they can be neither compressed nor made elsewhere, and no earlier audit had
them. The order is fixed by the draw, which nobody knows before the root is in, so nothing can be sent ahead.
Source: docs/spec/network.md.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256, shake_128

from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.network import BLOCK_BYTES
from swarm_chain.core.units import Hash32

SECRET_BYTES = 32

_MAX_BLOCKS = 2**32
_TAG_KEY = keccak(b"swarm.network.key.v1")
_TAG_BLOCK = keccak(b"swarm.network.block.v1")
_TAG_ROOT = keccak(b"swarm.network.root.v1")
_TAG_ORDER = keccak(b"swarm.network.order.v1")


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadKey:
    """Secret that generates the payload of one audit; only the member has it."""

    audit_id: Hash32
    raw: bytes = field(repr=False)


def payload_key(secret: bytes, audit_id: Hash32) -> PayloadKey:
    """Derive the key of an audit's payload.

    Args:
        secret: 32 random bytes, drawn for this audit when its payload is first asked for.
        audit_id: the audit.

    Returns:
        keccak256(tag ‖ secret ‖ audit id); every part has a fixed length.

    Raises:
        InvalidInputError: the secret is not 32 bytes long.
    """
    if len(secret) != SECRET_BYTES:
        raise InvalidInputError(f"a secret of {len(secret)} bytes", fix=f"give exactly {SECRET_BYTES}")
    return PayloadKey(audit_id=audit_id, raw=keccak(_TAG_KEY + secret + audit_id))


def payload_block(key: PayloadKey, index: int) -> bytes:
    """Generate one block: SHAKE128(tag ‖ key ‖ uint64 index), BLOCK_BYTES bytes.

    Args:
        key: key of the payload.
        index: number of the block, in [0, 2^32).

    Raises:
        InvalidInputError: there is no such block.
    """
    if not 0 <= index < _MAX_BLOCKS:
        raise InvalidInputError(f"no block {index}", fix="count blocks from 0")
    return shake_128(_TAG_BLOCK + key.raw + index.to_bytes(8, "big")).digest(BLOCK_BYTES)


class PayloadRoot:
    """Hash over a payload as it passes by; both sides use it, so that neither has to keep the payload for it.

    Args:
        audit_id: the audit; it goes first, so that the same bytes of another audit have another root.
    """

    def __init__(self, audit_id: Hash32) -> None:
        self._hash = sha256(_TAG_ROOT + audit_id)

    def update(self, piece: bytes) -> None:
        """Takes in the next bytes, however many."""
        self._hash.update(piece)

    @property
    def root(self) -> Hash32:
        """SHA-256(tag ‖ audit id ‖ all bytes so far)."""
        return Hash32(self._hash.digest())


def payload_root(audit_id: Hash32, pieces: Iterable[bytes]) -> Hash32:
    """Root over a whole payload, given piece by piece."""
    hashed = PayloadRoot(audit_id)
    for piece in pieces:
        hashed.update(piece)
    return hashed.root


def upload_order(draw: Hash32, audit_id: Hash32, blocks: int) -> tuple[int, ...]:
    """Draw the order in which the blocks go back.

    Args:
        draw: what the member shows once the root is in.
        audit_id: the audit.
        blocks: number of blocks, > 0.

    Returns:
        Every number in [0, blocks) once, ordered by SHA-256(tag ‖ draw ‖ audit id ‖ uint64 number).
    """
    seed = _TAG_ORDER + draw + audit_id
    return tuple(sorted(range(blocks), key=lambda index: sha256(seed + index.to_bytes(8, "big")).digest()))


class UploadCheck:
    """Compares an upload with the payload as it arrives, block by block, and keeps less than one block of it.

    Args:
        key: generates the blocks anew.
        order: the drawn order.
    """

    def __init__(self, key: PayloadKey, order: tuple[int, ...]) -> None:
        self._expected: Iterator[bytes] = (payload_block(key, index) for index in order)
        self._rest = b""
        self._blocks_left = len(order)

    @property
    def complete(self) -> bool:
        """Whether every byte is there, and right."""
        return self._blocks_left == 0 and not self._rest

    def feed(self, piece: bytes) -> bool:
        """Takes in the next bytes.

        Returns:
            Whether they are the right ones so far; after a False nothing more need be fed.
        """
        came = self._rest + piece
        whole = len(came) // BLOCK_BYTES
        self._rest = came[whole * BLOCK_BYTES :]
        self._blocks_left -= whole
        if self._blocks_left < 0 or (self._rest and not self._blocks_left):
            return False
        return all(
            came[at * BLOCK_BYTES : (at + 1) * BLOCK_BYTES] == expected
            for at, expected in zip(range(whole), self._expected, strict=False)
        )

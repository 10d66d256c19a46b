"""Stored blocks and the audit that shows they are held, in exact integers.

    member's secret --volume_key--> key of one volume --block(i)--> 4096 bytes, sent to the node, which keeps them
    audit (N, nonce, reads):  state --mod N--> index --read--> block --SHA-256--> next state --> … --> digest

Every read is chosen by all reads before it, so nothing can be fetched ahead; the last state is the digest over everything
read. The node reads its disk, the member generates the same blocks anew: both call `walk`.
Source: docs/spec/storage.md.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256, shake_128

from swarm_chain.core.checks import check_bytes, check_range
from swarm_chain.core.encoding import address_bytes, keccak, words
from swarm_chain.core.units import UINT64_MAX, UINT256_MAX, Address, EpochNumber, Hash32

BLOCK_BYTES = 4096
KEY_BYTES = 32
MAX_READS = 2**20  # some seconds of a member's time
MAX_BLOCKS = 2**40

_BYTES_PER_MB = 10**6
_UINT256_MAX = 2**256 - 1
_TAG_KEY = keccak(b"swarm.storage.key.v1")
_TAG_KEY_HASH = keccak(b"swarm.storage.keyhash.v1")
_TAG_BLOCK = keccak(b"swarm.storage.block.v1")
_TAG_AUDIT = keccak(b"swarm.storage.audit.v1")


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageParams:
    """Size, growth and times of stored volumes; `ask_for` seconds after a window's close a node may ask to be audited."""

    ask_for: int
    reads: int
    read_us: int
    answer_ms: int
    grow_blocks: int
    max_blocks: int

    @property
    def limit_ms(self) -> int:
        """Longest time from asking to having the answer, rounded up: a fraction decides nothing against a node."""
        return -(-self.reads * self.read_us // 1000) + self.answer_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """Blocks one member gave one node to keep; its key is of this volume alone. `epoch` is the one it was opened in."""

    chain_id: int
    beacon: Address
    member: Address
    node: Address
    epoch: EpochNumber
    index: int

    def __post_init__(self) -> None:
        for name, value in (("chain_id", self.chain_id), ("epoch", self.epoch), ("index", self.index)):
            check_range(name, value, 0, UINT256_MAX)
        for address in (self.beacon, self.member, self.node):
            address_bytes(address)

    @property
    def encoded(self) -> bytes:
        """abi.encode of its six fields in their order, 192 bytes."""
        return words(self.chain_id, self.beacon, self.member, self.node, self.epoch, self.index)


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeKey:
    """Secret that generates the blocks of one volume; whoever has it need not store them."""

    volume: Volume
    raw: bytes = field(repr=False)

    def __post_init__(self) -> None:
        check_bytes("key", self.raw, KEY_BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageAudit:
    """A member's question: follow `reads` reads through the first `blocks` blocks, starting from a fresh random nonce."""

    volume: Volume
    blocks: int
    nonce: Hash32
    reads: int

    def __post_init__(self) -> None:
        check_range("blocks", self.blocks, 1, MAX_BLOCKS)
        check_range("reads", self.reads, 1, MAX_READS)
        check_bytes("nonce", self.nonce, 32)


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageAnswer:
    """A node's answer: the audit it answers, named by volume, blocks and nonce, and the last state of the chain."""

    volume: Volume
    blocks: int
    nonce: Hash32
    digest: Hash32


def volume_key(secret: bytes, volume: Volume) -> VolumeKey:
    """Derive the key of a volume; one volume's key says nothing about another's, nor about the secret.

    Args:
        secret: 32 random bytes that only this member knows.
        volume: whose key it is.

    Returns:
        keccak256(tag ‖ secret ‖ volume), 32 bytes. All parts have a fixed length, so no two volumes share an input.

    Raises:
        InvalidInputError: the secret is not 32 bytes long.
    """
    check_bytes("secret", secret, KEY_BYTES)
    return VolumeKey(volume=volume, raw=keccak(_TAG_KEY + secret + volume.encoded))


def key_hash(key: VolumeKey) -> Hash32:
    """Give what a member publishes of a key when it opens a volume.

    Once the volume is retired the member shows the key, and anyone can repeat its audits.

    Args:
        key: key of the volume.

    Returns:
        keccak256(tag ‖ key ‖ volume), 32 bytes.
    """
    return keccak(_TAG_KEY_HASH + key.raw + key.volume.encoded)


def block(key: VolumeKey, index: int) -> bytes:
    """Generate one block.

    Args:
        key: key of the volume.
        index: number of the block, in [0, 2^40).

    Returns:
        4096 bytes: SHAKE128(tag ‖ key ‖ uint64 index). To whoever lacks the key they are random, so they cannot be
        compressed or computed, only kept.

    Raises:
        InvalidInputError: there is no such block.
    """
    check_range("block", index, 0, MAX_BLOCKS - 1)
    return shake_128(_TAG_BLOCK + key.raw + index.to_bytes(8, "big")).digest(BLOCK_BYTES)


def blocks(key: VolumeKey, first: int, count: int) -> bytes:
    """Generate a stretch of blocks, to be sent to the node.

    Args:
        key: key of the volume.
        first: number of the first block, >= 0.
        count: number of blocks, >= 0; bounds the memory used.

    Returns:
        count·4096 bytes.

    Raises:
        InvalidInputError: there are no such blocks.
    """
    return b"".join([block(key, index) for index in range(first, first + count)])


def walk(audit: StorageAudit, read: Callable[[int], bytes]) -> Hash32:
    """Follow the chain of dependent reads.

    Args:
        audit: where it starts and how long it is.
        read: gives block i, 4096 bytes, for i in [0, audit.blocks); called audit.reads times, one after the other.

    Returns:
        The last state, 32 bytes: it depends on every byte read, and on the audit.

    Raises:
        InvalidInputError: `read` gave something else than a block.

    Source: docs/spec/storage.md "The audit".
    """
    state = keccak(_TAG_AUDIT + audit.volume.encoded + words(audit.blocks, audit.nonce, audit.reads))
    for _ in range(audit.reads):
        content = read(int.from_bytes(state[:8], "big") % audit.blocks)
        check_bytes("block", content, BLOCK_BYTES)
        # The state goes first. Behind the block, a node could keep SHA-256's 32 bytes of inner state after it instead of it.
        state = Hash32(sha256(state + content).digest())
    return state


def answer_to(audit: StorageAudit, read: Callable[[int], bytes]) -> StorageAnswer:
    """Answer an audit from blocks that `read` gives; arguments and errors are those of `walk`."""
    return StorageAnswer(volume=audit.volume, blocks=audit.blocks, nonce=audit.nonce, digest=walk(audit, read))


def proven_mb(held: int) -> int:
    """Whole MB (10^6 bytes) in so many blocks, rounded down: what is paid was held entirely."""
    return held * BLOCK_BYTES // _BYTES_PER_MB


def blocks_of_mb(claim_mb: int) -> int:
    """Blocks that an audit of so many MB reads, rounded up: the fewest that hold them, so `proven_mb` gives them back."""
    return -(-claim_mb * _BYTES_PER_MB // BLOCK_BYTES)


def reads_per_second(reads: int, elapsed_ms: int) -> int:
    """Give 4 KiB random reads a second at queue depth 1, rounded down.

    Args:
        reads: dependent reads done.
        elapsed_ms: how long they took, the network's part included, > 0.

    Raises:
        InvalidInputError: no time passed.
    """
    check_range("elapsed_ms", elapsed_ms, 1, UINT64_MAX)
    return reads * 1000 // elapsed_ms


def mean_read_us(reads: int, elapsed_ms: int) -> int:
    """Give the mean time of a read in microseconds, rounded up: no measurement flatters a node.

    Args:
        reads: dependent reads done, > 0.
        elapsed_ms: how long they took, the network's part included, > 0.

    Raises:
        InvalidInputError: nothing was read, or no time passed.
    """
    check_range("elapsed_ms", elapsed_ms, 1, UINT64_MAX)
    check_range("reads", reads, 1, MAX_READS)
    return -(-elapsed_ms * 1000 // reads)


def storage_rules(params: StorageParams) -> dict[str, bool]:
    """Say of each rule that the numbers of storage must keep whether they do."""
    return {
        "an audit must read something, and take time": 0 < params.reads <= MAX_READS
        and min(params.ask_for, params.read_us) > 0,
        "a volume must grow up to its largest size": 0 < params.grow_blocks <= params.max_blocks <= MAX_BLOCKS,
    }

"""Shapes, seeds, leaves and drawn lanes of the memory set; its rows, items and walks are in `memoryset`.

Source: docs/spec/memory.md.
"""

from dataclasses import dataclass

from swarm_chain.core.checks import check_bytes, check_power_of_two, check_range
from swarm_chain.core.draws import draw_distinct
from swarm_chain.core.encoding import address_bytes, double_hash, keccak, words
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.merkle import build_tree, leaf_hashes
from swarm_chain.core.units import BPS, UINT64_MAX, UINT256_MAX, Address, EpochNumber, Hash32

ROW_BYTES = 128  # of a cache row, an item and a lane's state alike
RESULT_BYTES = 32
MIB = 2**20
MAX_ITEMS = 2**36  # 8 TiB: the remainder of a 64-bit word by it is even to one in 2^28

_TAG_CACHE = keccak(b"swarm.memory.cache.v1")
_TAG_ITEMS = keccak(b"swarm.memory.items.v1")
_TAG_LANES = keccak(b"swarm.memory.lanes.v1")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryShape:
    """Size of a question: rows and generations of the cache, cache rows mixed into an item, items, lanes, reads.

    `least_reads` is how many items a lane reads at least; cache_rows and lanes are powers of two.
    """

    cache_rows: int
    generations: int
    mixes: int
    items: int
    lanes: int
    least_reads: int

    def __post_init__(self) -> None:
        check_power_of_two("cache_rows", self.cache_rows, 2, 2**31)
        check_power_of_two("lanes", self.lanes, 2, 2**31)
        check_range("generations", self.generations, 1, 64)
        check_range("mixes", self.mixes, 1, 2**16)
        check_range("items", self.items, 1, MAX_ITEMS)
        check_range("least_reads", self.least_reads, 1, 2**16)

    @property
    def reads(self) -> int:
        """Items a lane reads: all lanes together read as many as there are, rounded up, or `least_reads` each."""
        return max(self.least_reads, -(-self.items // self.lanes))

    @property
    def path_length(self) -> int:
        """Siblings in the path of every lane: exactly log2(lanes)."""
        return self.lanes.bit_length() - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEpoch:
    """What all nodes of an epoch share; it fixes the cache."""

    chain_id: int
    beacon: Address
    epoch: EpochNumber
    epoch_seed: Hash32

    def __post_init__(self) -> None:
        check_range("chain_id", self.chain_id, 0, UINT256_MAX)
        check_range("epoch", self.epoch, 0, UINT256_MAX)
        check_bytes("epoch_seed", self.epoch_seed, 32)
        address_bytes(self.beacon)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChallenge:
    """The question one member asks one device; `nonce` is the hash of the draw seed that the member keeps to itself."""

    epoch: MemoryEpoch
    node: Address
    device: int
    shape: MemoryShape
    nonce: Hash32

    def __post_init__(self) -> None:
        check_range("device", self.device, 0, UINT256_MAX)
        check_bytes("nonce", self.nonce, 32)
        address_bytes(self.node)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCommitment:
    """A device's answer to a challenge, made before it knows which lanes will be drawn."""

    challenge: MemoryChallenge
    root: Hash32


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneOpening:
    """One lane: what it ended with (32 bytes) and its path to the committed root."""

    lane: int
    result: bytes
    path: tuple[Hash32, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryProof:
    """A device's openings of the drawn lanes, in draw order."""

    challenge: MemoryChallenge
    root: Hash32
    openings: tuple[LaneOpening, ...]


def seed_cache(epoch: MemoryEpoch, shape: MemoryShape) -> int:
    """Derive the seed of the cache, shared by all devices of an epoch.

    Args:
        epoch: chain, beacon, number and seed.
        shape: gives rows, generations and mixes: what is computed otherwise starts otherwise.

    Returns:
        An integer in [0, 2^64).
    """
    return _seed(_TAG_CACHE, epoch, words(shape.cache_rows, shape.generations, shape.mixes))


def seed_items(epoch: MemoryEpoch, node: Address, device: int) -> int:
    """Derive the seed of the items, private to one device of one node in one epoch.

    Args:
        epoch: chain, beacon, number and seed.
        node: address of the node key.
        device: index of the device on its node.

    Returns:
        An integer in [0, 2^64).
    """
    return _seed(_TAG_ITEMS, epoch, words(node, device))


def seed_lanes(challenge: MemoryChallenge) -> int:
    """Derive the seed the lanes start from; it is new with every nonce.

    Args:
        challenge: the question.

    Returns:
        An integer in [0, 2^64).
    """
    asked = words(challenge.node, challenge.device, challenge.shape.items, challenge.nonce)
    return _seed(_TAG_LANES, challenge.epoch, asked)


def nonce_of(draw_seed: Hash32) -> Hash32:
    """Give the nonce that binds a member to the draw it will reveal.

    Args:
        draw_seed: 32 random bytes the member keeps to itself until all roots are in.

    Returns:
        keccak256 of them.
    """
    check_bytes("draw_seed", draw_seed, 32)
    return keccak(draw_seed)


def lane_leaf(lane: int, result: bytes) -> Hash32:
    """Hash a lane's number and result to its leaf.

    Args:
        lane: lane number, in [0, lanes).
        result: 32 bytes.

    Returns:
        32 bytes.
    """
    return double_hash(words(lane, result))


def lanes_tree(results: bytes) -> bytes:
    """Build the tree a device commits to.

    Args:
        results: the results of all lanes, one after the other in lane order; lanes · 32 bytes.

    Returns:
        The tree in the layout of `merkle`.

    Raises:
        InvalidInputError: no lane, or not a whole number of results.
    """
    if len(results) % RESULT_BYTES:
        raise InvalidInputError(f"{len(results)} bytes are not whole results", fix=f"give {RESULT_BYTES} bytes a lane")
    # Spelled out: a million lanes are hashed within the time of an answer.
    encoded = (
        (start // RESULT_BYTES).to_bytes(32, "big") + results[start : start + RESULT_BYTES]
        for start in range(0, len(results), RESULT_BYTES)
    )
    return build_tree(leaf_hashes(encoded))


def draw_lanes(draw_seed: Hash32, challenge: MemoryChallenge, root: Hash32, count: int) -> tuple[int, ...]:
    """Draw the lanes a device must open, from what the member revealed after the root was in.

    Args:
        draw_seed: 32 bytes, the preimage of the nonce.
        challenge: gives node, device and lanes.
        root: the committed root.
        count: number of lanes, 1 <= count <= lanes.

    Returns:
        `count` distinct lanes in draw order, each in [0, lanes).

    Raises:
        InvalidInputError: more lanes than there are, or none.
    """
    prefix = words(draw_seed, challenge.node, challenge.device, root)
    return draw_distinct("lanes", prefix, count, challenge.shape.lanes)


def items_of(claimed_mib: int, share_bps: int) -> int:
    """Give the items a device of a claimed size holds.

    Args:
        claimed_mib: memory the device is registered with, MiB, > 0.
        share_bps: part of it the dataset fills, in 1/10000; the rest is the driver's.

    Returns:
        Items of 128 bytes, rounded down: nobody is asked for a byte more than the share.
    """
    return claimed_mib * MIB * share_bps // (BPS * ROW_BYTES)


def dataset_mib(items: int) -> int:
    """Give the size of a dataset in MiB, rounded down: what is paid was shown in full."""
    return items * ROW_BYTES // MIB


def bytes_per_ms(shape: MemoryShape, elapsed_ms: int) -> int:
    """Give the rate at which items were read, bytes a millisecond (kB/s), rounded down.

    It is a lower bound of the device's bandwidth: hashing and the way to the member count as time too.

    Args:
        shape: size of the question.
        elapsed_ms: from the nonce to the root on the member's clock, > 0.

    Raises:
        InvalidInputError: no time passed.
    """
    check_range("elapsed_ms", elapsed_ms, 1, UINT64_MAX)
    return shape.lanes * shape.reads * ROW_BYTES // elapsed_ms


def _seed(tag: Hash32, epoch: MemoryEpoch, tail: bytes) -> int:
    shared = words(tag, epoch.chain_id, epoch.beacon, epoch.epoch, epoch.epoch_seed)
    return int.from_bytes(keccak(shared + tail)[:8], "big")

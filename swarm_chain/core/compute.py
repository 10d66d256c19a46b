"""Shapes, seeds, leaves and drawn rows of the row-chain proof of compute; the matrices are in `rowchain`.

Source: compute-proof.md.
"""

from dataclasses import dataclass

from sha3 import keccak_256

from swarm_chain.core.checks import check_bytes, check_power_of_two, check_range
from swarm_chain.core.draws import draw_distinct
from swarm_chain.core.encoding import address_bytes, double_hash, keccak, words
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.merkle import build_tree, leaf_hashes
from swarm_chain.core.units import UINT64_MAX, UINT256_MAX, Address, Hash32, Mtops, WindowId

HEAD_BYTES = 64
MIN_SIZE, MAX_N, MAX_M, MAX_STEPS = 64, 32_768, 2**31, 1024

_TAG_WEIGHTS = keccak(b"swarm.compute.weights.v1")
_TAG_INPUT = keccak(b"swarm.compute.input.v1")


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeShape:
    """Size of a run: X is (m, n) int8, W is (n, n) int8, `steps` products; m and n are powers of two."""

    m: int
    n: int
    steps: int

    def __post_init__(self) -> None:
        check_power_of_two("m", self.m, MIN_SIZE, MAX_M)
        check_power_of_two("n", self.n, MIN_SIZE, MAX_N)
        check_range("steps", self.steps, 1, MAX_STEPS)

    @property
    def path_length(self) -> int:
        """Siblings in the path of every row: exactly log2(m)."""
        return self.m.bit_length() - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeWindow:
    """What all nodes of one window share; it fixes W for each n."""

    chain_id: int
    beacon: Address
    window_id: WindowId
    window_seed: Hash32

    def __post_init__(self) -> None:
        check_range("chain_id", self.chain_id, 0, UINT256_MAX)
        check_range("window_id", self.window_id, 0, UINT256_MAX)
        check_bytes("window_seed", self.window_seed, 32)
        address_bytes(self.beacon)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeChallenge:
    """The question one device answers in one window; anyone can derive it from the chain."""

    window: ComputeWindow
    node: Address
    device: int
    shape: ComputeShape

    def __post_init__(self) -> None:
        check_range("device", self.device, 0, UINT256_MAX)
        address_bytes(self.node)


def seed_w(window: ComputeWindow, n: int) -> int:
    """Derive the seed of W, shared by all devices of a window that run the same n.

    Args:
        window: chain, beacon, window id and seed.
        n: width of the matrices.

    Returns:
        An integer in [0, 2^64).
    """
    return _seed(_TAG_WEIGHTS, window, words(n))


def seed_x(window: ComputeWindow, node: Address, device: int) -> int:
    """Derive the seed of X0, private to one device of one node in one window.

    Args:
        window: chain, beacon, window id and seed.
        node: address of the node key.
        device: index of the device on its node.

    Returns:
        An integer in [0, 2^64).
    """
    return _seed(_TAG_INPUT, window, words(node, device))


def digest(head: bytes) -> Hash32:
    """Hash the part of a final row that is committed to.

    Args:
        head: the first 64 bytes of the row.

    Returns:
        32 bytes.

    Raises:
        InvalidInputError: not 64 bytes.
    """
    check_bytes("head", head, HEAD_BYTES)
    return keccak(head)


def commitment_leaf(row: int, head_digest: Hash32) -> Hash32:
    """Hash a row's number and digest to its leaf.

    Args:
        row: row number, in [0, m).
        head_digest: what `digest` gave.

    Returns:
        32 bytes.
    """
    return double_hash(words(row, head_digest))


def commitment_tree(heads: bytes) -> bytes:
    """Build the tree a device commits to.

    Args:
        heads: the first 64 bytes of every final row, one after the other in row order; m·64 bytes.

    Returns:
        The tree in the layout of `merkle`: its root is the commitment's, its paths are the openings'.

    Raises:
        InvalidInputError: no row, or not a whole number of heads.
    """
    if len(heads) % HEAD_BYTES:
        raise InvalidInputError(f"{len(heads)} bytes are not whole heads", fix=f"give {HEAD_BYTES} bytes per row")
    # Spelled out: this runs for every row of every proof, and calls would cost as much as the hashing.
    encoded = (
        (start // HEAD_BYTES).to_bytes(32, "big") + keccak_256(heads[start : start + HEAD_BYTES]).digest()
        for start in range(0, len(heads), HEAD_BYTES)
    )
    return build_tree(leaf_hashes(encoded))


def draw_rows(draw_seed: Hash32, challenge: ComputeChallenge, root: Hash32, count: int) -> tuple[int, ...]:
    """Draw the rows a device must open, from randomness made after its commitment.

    Args:
        draw_seed: 32 bytes, stored on chain after the window closed.
        challenge: gives node, device and m.
        root: the committed root.
        count: number of rows, 1 <= count <= m.

    Returns:
        `count` distinct rows in draw order, each in [0, m).

    Raises:
        InvalidInputError: more rows than there are, or none.
    """
    prefix = words(draw_seed, challenge.node, challenge.device, root)
    return draw_distinct("rows", prefix, count, challenge.shape.m)


def mtops(shape: ComputeShape, elapsed_ms: int) -> Mtops:
    """Give the measured rate in 10^9 int8 operations a second, rounded down.

    Args:
        shape: size of the run.
        elapsed_ms: from the block that opened the window to the commitment's arrival, > 0.

    Returns:
        2·m·n²·steps // (elapsed_ms · 10^6).

    Raises:
        InvalidInputError: no time passed.
    """
    check_range("elapsed_ms", elapsed_ms, 1, UINT64_MAX)
    return Mtops(2 * shape.m * shape.n * shape.n * shape.steps // (elapsed_ms * 1_000_000))


def _seed(tag: Hash32, window: ComputeWindow, tail: bytes) -> int:
    shared = words(tag, window.chain_id, window.beacon, window.window_id, window.window_seed)
    return int.from_bytes(keccak(shared + tail)[:8], "big")

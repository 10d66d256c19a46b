"""Trees that may have one leaf or none, as the protocol pads them (docs/spec/protocol.md, Trees)."""

from collections.abc import Sequence

from swarm_chain.core import merkle
from swarm_chain.core.encoding import double_hash
from swarm_chain.core.units import ZERO_HASH, Hash32

_PADDING = double_hash(ZERO_HASH)


def small_tree(leaves: Sequence[Hash32]) -> bytes:
    """Build a tree over leaves in order.

    Args:
        leaves: 32 bytes each; a single one is padded with `double_hash(bytes32(0))`, so that every path has a node.

    Returns:
        The nodes, as `merkle.build_tree` lays them out; nothing for no leaves.
    """
    if not leaves:
        return b""
    return merkle.build_tree((*leaves, _PADDING) if len(leaves) == 1 else leaves)


def small_root(tree: bytes) -> Hash32:
    """Root of what `small_tree` gave; zero if there are no leaves."""
    return merkle.root(tree) if tree else ZERO_HASH

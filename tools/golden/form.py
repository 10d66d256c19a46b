"""How golden files write values: integers as decimal strings, bytes as 0x-hex, one array a field."""

from collections.abc import Sequence
from typing import Any

from swarm_chain.core import merkle
from swarm_chain.core.encoding import checksum_address, keccak, to_hex
from swarm_chain.core.units import Address, Hash32

CHAIN_ID = 31_337

Document = dict[str, Any]


def column(items: Sequence[object], name: str) -> list[str]:
    """One field of many values."""
    return [text(getattr(item, name)) for item in items]


def text(value: object) -> str:
    """An integer, an address or bytes as the files hold them."""
    if isinstance(value, bytes):
        return to_hex(value)
    return str(int(value)) if isinstance(value, int) else str(value)


def tree_fields(tree: bytes) -> Document:
    """Leaves in order, root, and the path of every leaf."""
    count = merkle.leaf_count(tree)
    nodes = [tree[i : i + merkle.NODE_BYTES] for i in range(0, len(tree), merkle.NODE_BYTES)]
    return {
        "leaves": hexes(nodes[: count - 2 : -1]),
        "root": to_hex(merkle.root(tree)),
        "paths": [hexes(merkle.path(tree, index)) for index in range(count)],
    }


def hexes(values: Sequence[bytes]) -> list[str]:
    """Hex of many byte strings."""
    return [to_hex(value) for value in values]


def camel(name: str) -> str:
    """Solidity's spelling of a Python field, without its unit."""
    first, *rest = name.removesuffix("_wei").split("_")
    return first + "".join(word.capitalize() for word in rest)


def sample_hash(label: str) -> Hash32:
    """A hash that follows from a label."""
    return keccak(f"golden {label}".encode())


def sample_address(contract: str) -> Address:
    """The address a contract has in the golden files."""
    return checksum_address(keccak(contract.encode())[12:])

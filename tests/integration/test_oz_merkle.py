"""Our trees, paths and dumps are those of npm's @openzeppelin/merkle-tree, which checks every node it loads."""

from typing import Any

import pytest

from swarm_chain.core.encoding import (
    SETTLEMENT_LEAF_TYPES,
    SETTLEMENT_TAG,
    keccak,
    leaf_domain,
    settlement_leaf,
    to_hex,
)
from swarm_chain.core.merkle import build_tree, dump, path, root
from swarm_chain.core.model import SettlementLeaf
from swarm_chain.core.units import Address, ProviderId, Wei
from tests.open_zeppelin import open_zeppelin

DOMAIN = leaf_domain(SETTLEMENT_TAG, 31337, Address("0x70997970C51812dc3A010C7d01b50e0d17dc79C8"))


def settlement(count: int) -> list[SettlementLeaf]:
    """Leaves of a report; amounts up to the largest that settle."""
    amounts = [int.from_bytes(keccak(index.to_bytes(4, "big"))[:16], "big") for index in range(count)]
    return [
        SettlementLeaf(provider_id=ProviderId(i + 1), cum_reward_wei=Wei(a), cum_penalty_wei=Wei(a // 7))
        for i, a in enumerate(amounts)
    ]


def document_of(count: int, indices: list[int]) -> tuple[bytes, dict[str, Any]]:
    leaves = settlement(count)
    tree = build_tree(settlement_leaf(DOMAIN, leaf) for leaf in leaves)
    rows = [(DOMAIN, leaf.provider_id, leaf.cum_reward_wei, leaf.cum_penalty_wei) for leaf in leaves]
    paths = [{"index": i, "path": [to_hex(node) for node in path(tree, i)]} for i in indices]
    return tree, {"dump": dump(tree, rows, SETTLEMENT_LEAF_TYPES), "paths": paths}


def agreed(tree: bytes) -> dict[str, Any]:
    """What the library says of a tree it agrees with."""
    return {"root": to_hex(root(tree)), "rebuiltRoot": to_hex(root(tree)), "wrong": []}


def test_small_trees_load_and_every_path_verifies() -> None:
    trees, documents = zip(*(document_of(count, list(range(count))) for count in range(1, 41)), strict=True)

    assert open_zeppelin(*documents) == [agreed(tree) for tree in trees]


def test_large_tree_loads_and_paths_verify() -> None:
    """Invariant 47."""
    tree, document = document_of(5000, [0, 1, 2047, 2048, 2500, 4998, 4999])

    assert open_zeppelin(document) == [agreed(tree)]


def test_dump_with_one_changed_node_is_refused_by_the_library() -> None:
    _, document = document_of(9, [])
    document["dump"]["tree"][3] = to_hex(bytes(32))

    with pytest.raises(AssertionError, match="Merkle tree is invalid"):
        open_zeppelin(document)


def test_path_of_another_leaf_is_named() -> None:
    _, document = document_of(9, [0, 1, 2])
    document["paths"][1]["path"] = document["paths"][2]["path"]

    assert open_zeppelin(document)[0]["wrong"] == [1]

"""Layout, paths and dump of trees; that OpenZeppelin's own library agrees is tests/integration/test_oz_merkle.py."""

import json

import pytest

from swarm_chain.core.encoding import double_hash, keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.merkle import (
    build_tree,
    dump,
    leaf_count,
    leaf_hashes,
    node_hash,
    path,
    path_length,
    root,
    verify,
)

COUNTS = [*range(1, 41), 255, 256, 257, 20_000]


def leaves_of(count: int) -> list[bytes]:
    return [double_hash(index.to_bytes(32, "big")) for index in range(count)]


def heap_root(leaves: list[bytes], node: int = 0) -> bytes:
    """The definition: leaf j is node 2n-2-j, any other node hashes its two children, smaller first."""
    count = len(leaves)
    if node >= count - 1:
        return leaves[2 * count - 2 - node]
    pair = sorted((heap_root(leaves, 2 * node + 1), heap_root(leaves, 2 * node + 2)))
    return keccak(b"".join(pair))


@pytest.mark.parametrize("count", COUNTS)
def test_root_equals_the_definition(count: int) -> None:
    leaves = leaves_of(count)

    assert root(build_tree(leaves)) == heap_root(leaves)


@pytest.mark.parametrize("count", COUNTS)
def test_every_path_verifies_and_has_the_exact_length(count: int) -> None:
    leaves = leaves_of(count)
    tree = build_tree(leaves)

    for index in {0, 1, count // 3, count // 2, count - 1} & set(range(count)):
        siblings = path(tree, index)
        assert len(siblings) == path_length(count, index)
        assert verify(root(tree), leaves[index], siblings)


def test_path_length_is_log2_for_powers_of_two() -> None:
    assert {path_length(1024, index) for index in range(1024)} == {10}
    assert path_length(1, 0) == 0


def test_tree_of_one_leaf_is_the_leaf() -> None:
    (leaf,) = leaves_of(1)

    assert build_tree([leaf]) == leaf
    assert path(leaf, 0) == ()
    assert verify(leaf, leaf, ())


def test_tree_reads_a_stream_once() -> None:
    encoded = [index.to_bytes(32, "big") for index in range(100)]

    assert build_tree(leaf_hashes(iter(encoded))) == build_tree(leaves_of(100))


def test_order_of_leaves_is_part_of_the_root() -> None:
    leaves = leaves_of(5)

    assert root(build_tree(leaves)) != root(build_tree(leaves[::-1]))


def test_node_hash_sorts_its_children() -> None:
    low, high = bytes(32), b"\xff" * 32

    assert node_hash(low, high) == node_hash(high, low) == keccak(low + high)


def test_path_of_another_leaf_or_root_fails() -> None:
    leaves = leaves_of(8)
    tree = build_tree(leaves)

    assert not verify(root(tree), leaves[1], path(tree, 2))
    assert not verify(keccak(b"other"), leaves[1], path(tree, 1))


def test_truncated_extended_and_misshapen_paths_fail() -> None:
    leaves = leaves_of(8)
    tree, siblings = build_tree(leaves), path(build_tree(leaves), 3)
    wrong = [
        siblings[:-1],
        (*siblings, bytes(32)),
        (),
        (*siblings[:-1], siblings[-1][:31]),
        (siblings[0] + siblings[1],),
    ]

    assert not any(verify(root(tree), leaves[3], one) for one in wrong)
    assert not verify(root(tree), leaves[3][:31], siblings)


def test_inner_node_verifies_with_a_shorter_path_which_is_why_the_length_is_checked() -> None:
    leaves = leaves_of(8)
    tree, siblings = build_tree(leaves), path(build_tree(leaves), 3)
    inner = node_hash(leaves[3], siblings[0])

    assert verify(root(tree), inner, siblings[1:])
    assert len(siblings[1:]) != path_length(8, 3)


def test_no_value_hashes_to_an_inner_node() -> None:
    left, right = leaves_of(2)

    assert double_hash(left + right) != node_hash(left, right)
    assert double_hash(right + left) != node_hash(left, right)


@pytest.mark.parametrize("index", [-1, 8])
def test_path_of_a_leaf_that_does_not_exist_is_refused(index: int) -> None:
    with pytest.raises(InvalidInputError, match="no leaf"):
        path(build_tree(leaves_of(8)), index)


def test_no_leaves_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="no leaf"):
        build_tree([])


@pytest.mark.parametrize("size", [0, 31, 33, 64])
def test_leaf_of_wrong_size_is_refused_even_if_the_total_fits(size: int) -> None:
    with pytest.raises(InvalidInputError, match="32 bytes"):
        build_tree([bytes(32), bytes(size), bytes(64 - min(size, 64))])


@pytest.mark.parametrize("size", [0, 64, 33, 128])
def test_bytes_that_are_no_tree_are_refused(size: int) -> None:
    with pytest.raises(InvalidInputError, match="not a tree"):
        leaf_count(bytes(size))


def test_dump_writes_integers_bytes_and_flags_as_json() -> None:
    rows = [(2**200, b"\x01" * 32, True, "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"), (0, bytes(32), False, "0x")]
    tree = build_tree(leaves_of(2))

    document = json.loads(json.dumps(dump(tree, rows, ("uint256", "bytes32", "bool", "address"))))

    assert document["format"] == "standard-v1"
    assert document["tree"] == ["0x" + tree[start : start + 32].hex() for start in range(0, 96, 32)]
    assert document["values"][0] == {
        "value": [str(2**200), "0x" + "01" * 32, True, "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"],
        "treeIndex": 2,
    }


@pytest.mark.parametrize("rows", [[(1,)], [(1,), (2,), (3,)], [(1, 2), (3, 4)]])
def test_dump_of_rows_that_do_not_fit_the_tree_is_refused(rows: list[tuple[int, ...]]) -> None:
    with pytest.raises(InvalidInputError, match="do not fit"):
        dump(build_tree(leaves_of(2)), rows, ("uint256",))

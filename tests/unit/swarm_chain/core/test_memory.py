"""Seeds, cache, items, lanes and draws of the memory set against the definition in plain integers."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.resources import files

import numpy as np
import pytest
from eth_abi.abi import encode

from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.memory import (
    MIB,
    ROW_BYTES,
    MemoryShape,
    bytes_per_ms,
    dataset_mib,
    draw_lanes,
    items_of,
    lane_leaf,
    lanes_tree,
    nonce_of,
    seed_cache,
    seed_items,
    seed_lanes,
)
from swarm_chain.core.memory_plan import planned_shape
from swarm_chain.core.memoryset import build_cache, computed, results, start, stir, stored, walk
from swarm_chain.core.merkle import path, root, verify
from swarm_chain.core.params import parse_params
from swarm_chain.core.rowchain import splitmix64
from swarm_chain.core.units import EpochNumber, Hash32
from swarm_chain.params import PRESETS, load_params
from tests.memory_world import CHALLENGE, DRAW_SEED, EPOCH, MALLORY, NODE, SHAPE, CountingFetch, cache_of, plain_walk

MINIMAL = files("swarm_chain.params").joinpath("minimal.toml").read_text()
ROOT = Hash32(bytes(range(32)))


def plain_start(seed: int, index: int) -> list[int]:
    words: list[int] = splitmix64(seed, np.arange(16 * index, 16 * index + 16, dtype=np.uint64)).tolist()
    return words


@cache
def plain_row(generation: int, index: int) -> list[int]:
    """One cache row by the definition, from rows of the generation before."""
    if generation == 0:
        return plain_start(seed_cache(EPOCH, SHAPE), index)
    before = plain_row(generation - 1, index)
    return plain_walk(before, lambda row: plain_row(generation - 1, row), SHAPE.cache_rows, 2)


@cache
def plain_item(index: int) -> list[int]:
    seed = seed_items(EPOCH, NODE, 0)
    return plain_walk(
        plain_start(seed, index), lambda row: plain_row(SHAPE.generations, row), SHAPE.cache_rows, SHAPE.mixes
    )


def abi_seed(tag: str, *tail: tuple[str, object]) -> int:
    """First eight bytes of the hash of the encoding, made by another library."""
    values = [keccak(tag.encode()), EPOCH.chain_id, EPOCH.beacon, EPOCH.epoch, EPOCH.epoch_seed]
    types = ["bytes32", "uint256", "address", "uint256", "bytes32", *(kind for kind, _ in tail)]
    return int.from_bytes(keccak(encode(types, [*values, *(value for _, value in tail)]))[:8], "big")


def test_seeds_equal_the_specification() -> None:
    sizes = [("uint256", SHAPE.cache_rows), ("uint256", SHAPE.generations), ("uint256", SHAPE.mixes)]
    who = [("address", NODE), ("uint256", 0)]

    assert seed_cache(EPOCH, SHAPE) == abi_seed("swarm.memory.cache.v1", *sizes)
    assert seed_items(EPOCH, NODE, 0) == abi_seed("swarm.memory.items.v1", *who)
    assert seed_lanes(CHALLENGE) == abi_seed(
        "swarm.memory.lanes.v1", *who, ("uint256", SHAPE.items), ("bytes32", CHALLENGE.nonce)
    )


def test_cache_when_built_equals_plain_integers() -> None:
    rows = cache_of().rows.tolist()

    assert rows == [plain_row(SHAPE.generations, index) for index in range(SHAPE.cache_rows)]


def test_items_when_computed_equal_plain_integers() -> None:
    item = computed(stored(cache_of().rows), SHAPE.cache_rows, SHAPE.mixes, seed_items(EPOCH, NODE, 0))

    assert item(np.array([0, 1, 299])).tolist() == [plain_item(index) for index in (0, 1, 299)]


def test_results_when_walked_equal_plain_integers() -> None:
    seed, item = seed_lanes(CHALLENGE), seed_items(EPOCH, NODE, 0)
    fetch = computed(stored(cache_of().rows), SHAPE.cache_rows, SHAPE.mixes, item)
    lanes = np.array([0, 31])
    found = results(walk(start(seed, lanes), fetch, SHAPE.items, SHAPE.reads))

    for place, lane in enumerate((0, 31)):
        state = plain_walk(plain_start(seed, lane), plain_item, SHAPE.items, SHAPE.reads)
        words = [state[q] ^ state[q + 4] ^ state[q + 8] ^ state[q + 12] for q in range(4)]
        assert found[32 * place :][:32] == b"".join(word.to_bytes(8, "little") for word in words)


def test_known_answer_does_not_change() -> None:
    rows = cache_of().rows.astype("<u8").tobytes()

    assert keccak(rows).hex() == "b53182d3a67b118f27e5108dc4bfbf3d8a87006599e573fb9f4cb1467a4b6729"


def test_walk_when_sizes_and_seeds_differ_equals_walks_alone() -> None:
    fetch, lanes = stored(cache_of().rows), np.array([3, 4])
    together = walk(start(np.array([5, 6], dtype=np.uint64), lanes), fetch, np.array([64, 10], dtype=np.uint64), 3)
    alone = [walk(start(seed, lanes[i : i + 1]), fetch, size, 3) for i, (seed, size) in enumerate([(5, 64), (6, 10)])]

    assert np.array_equal(together, np.concatenate(alone))


def test_stir_when_one_bit_of_a_row_changes_gives_another_state() -> None:
    state = start(1, np.array([0]))
    rows = [int.from_bytes(start(2, np.array([0])).tobytes(), "little") ^ 1 << bit for bit in range(1024)]
    changed = [np.frombuffer(row.to_bytes(128, "little"), dtype="<u8").reshape(1, 16).copy() for row in rows]

    assert len({stir(state, row).tobytes() for row in changed}) == 1024


def test_row_of_the_cache_when_not_held_costs_three_rows_a_generation() -> None:
    shape = MemoryShape(cache_rows=2**16, generations=5, mixes=8, items=300, lanes=32, least_reads=4)
    leaves: list[int] = []

    def row(generation: int, index: int) -> list[int]:
        if generation == 0:
            leaves.append(index)
            return plain_start(seed_cache(EPOCH, shape), index)
        return plain_walk(row(generation - 1, index), lambda at: row(generation - 1, at), shape.cache_rows, 2)

    row(shape.generations, 12345)

    assert len(leaves) == 3**shape.generations
    assert len(set(leaves)) > 0.9 * len(leaves)


def test_item_when_not_held_costs_one_cache_row_a_mix() -> None:
    counting = CountingFetch(cache_of().rows)
    computed(counting, SHAPE.cache_rows, SHAPE.mixes, 1)(np.arange(10))

    assert counting.count == 10 * SHAPE.mixes


@pytest.mark.parametrize(
    ("change", "shared"),
    [
        (lambda c: replace(c, node=MALLORY), {"cache"}),
        (lambda c: replace(c, device=1), {"cache"}),
        (lambda c: replace(c, nonce=nonce_of(ROOT)), {"cache", "items"}),
        (lambda c: replace(c, shape=replace(SHAPE, items=299)), {"cache", "items"}),
        (lambda c: replace(c, shape=replace(SHAPE, mixes=9)), {"items", "lanes"}),
        (lambda c: replace(c, epoch=replace(EPOCH, epoch_seed=ROOT)), set()),
        (lambda c: replace(c, epoch=replace(EPOCH, epoch=EpochNumber(8))), set()),
        (lambda c: replace(c, epoch=replace(EPOCH, chain_id=1)), set()),
        (lambda c: replace(c, epoch=replace(EPOCH, beacon=MALLORY)), set()),
    ],
)
def test_seeds_when_something_differs_are_shared_only_where_they_should(
    change: Callable[..., object], shared: set[str]
) -> None:
    def seeds(c: object) -> dict[str, int]:
        return {
            "cache": seed_cache(c.epoch, c.shape),  # type: ignore[attr-defined]
            "items": seed_items(c.epoch, c.node, c.device),  # type: ignore[attr-defined]
            "lanes": seed_lanes(c),  # type: ignore[arg-type]
        }

    mine, other = seeds(CHALLENGE), seeds(change(CHALLENGE))

    assert {name for name in mine if mine[name] == other[name]} == shared


def test_lanes_drawn_are_distinct_and_follow_seed_node_device_and_root() -> None:
    lanes = draw_lanes(DRAW_SEED, CHALLENGE, ROOT, SHAPE.lanes)

    assert sorted(lanes) == list(range(SHAPE.lanes))
    others = [
        draw_lanes(ROOT, CHALLENGE, ROOT, SHAPE.lanes),
        draw_lanes(DRAW_SEED, replace(CHALLENGE, node=MALLORY), ROOT, SHAPE.lanes),
        draw_lanes(DRAW_SEED, replace(CHALLENGE, device=1), ROOT, SHAPE.lanes),
        draw_lanes(DRAW_SEED, CHALLENGE, Hash32(bytes(32)), SHAPE.lanes),
    ]
    assert len({lanes, *others}) == 5


@pytest.mark.parametrize("count", [0, SHAPE.lanes + 1])
def test_draw_when_there_are_not_so_many_lanes_is_refused(count: int) -> None:
    with pytest.raises(InvalidInputError):
        draw_lanes(DRAW_SEED, CHALLENGE, ROOT, count)


def test_tree_of_lanes_opens_every_lane() -> None:
    lane_results = bytes(range(128))
    tree = lanes_tree(lane_results)

    for lane in range(4):
        assert verify(root(tree), lane_leaf(lane, lane_results[32 * lane :][:32]), path(tree, lane))


def test_tree_when_a_result_is_cut_is_refused() -> None:
    with pytest.raises(InvalidInputError):
        lanes_tree(bytes(63))


@pytest.mark.parametrize(("items", "reads"), [(1, 4), (128, 4), (129, 5), (160, 5), (161, 6)])
def test_reads_are_as_many_as_items_rounded_up_and_never_few(items: int, reads: int) -> None:
    assert replace(SHAPE, items=items).reads == reads


def test_sizes_and_rates_are_rounded_down() -> None:
    items = items_of(2, 9000)

    assert items * ROW_BYTES <= 2 * MIB * 9 // 10 < (items + 1) * ROW_BYTES
    assert (dataset_mib(8191), dataset_mib(8192)) == (0, 1)
    assert bytes_per_ms(replace(SHAPE, items=1), 3) == 32 * 4 * 128 // 3


@pytest.mark.parametrize(
    "change",
    [
        {"cache_rows": 65},
        {"cache_rows": 1},
        {"lanes": 33},
        {"lanes": 0},
        {"generations": 0},
        {"mixes": 0},
        {"items": 0},
        {"items": 2**36 + 1},
        {"least_reads": 0},
    ],
)
def test_shape_when_it_makes_no_sense_is_refused(change: dict[str, int]) -> None:
    with pytest.raises(InvalidInputError):
        replace(SHAPE, **change)


@pytest.mark.parametrize(
    "make",
    [
        lambda: replace(EPOCH, epoch_seed=Hash32(bytes(31))),
        lambda: replace(EPOCH, chain_id=-1),
        lambda: replace(CHALLENGE, nonce=Hash32(bytes(33))),
        lambda: replace(CHALLENGE, device=-1),
        lambda: nonce_of(Hash32(b"")),
        lambda: bytes_per_ms(SHAPE, 0),
    ],
)
def test_values_out_of_range_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(InvalidInputError):
        make()


@pytest.mark.parametrize("name", PRESETS)
def test_claim_within_bounds_gets_a_shape_and_one_outside_is_refused(name: str) -> None:
    params = load_params(name).memory

    for claim in (params.least_mib, params.most_mib):
        shape = planned_shape(params, claim)
        assert dataset_mib(shape.items) * 10 <= claim * 9 < (dataset_mib(shape.items) + 1) * 10
        assert shape.lanes * shape.reads >= shape.items
    for claim in (params.least_mib - 1, params.most_mib + 1):
        with pytest.raises(InvalidInputError) as caught:
            planned_shape(params, claim)
        assert caught.value.code == "claim"


def test_mainnet_checks_lanes_for_a_hundredth_of_the_work() -> None:
    params = load_params("mainnet").memory

    assert params.draws * params.mixes * 100 <= params.lanes


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("cache_rows", "2047", "powers of two"),
        ("lanes", "1", "powers of two"),
        ("mixes", "0", "must be positive"),
        ("least_mib", "1", "four caches|4 caches"),
        ("most_mib", "1", "claims ascend"),
        ("share_bps", "10001", "more than what is claimed"),
        ("answer_ms", "0", "needs time"),
    ],
)
def test_params_that_contradict_themselves_are_refused(name: str, value: str, complaint: str) -> None:
    head, section, tail = MINIMAL.partition("[memory]")
    changed, count = re.subn(rf"^{name} = [^#\n]*", f"{name} = {value} ", section + tail, count=1, flags=re.MULTILINE)

    assert count == 1
    with pytest.raises(InvalidInputError, match=complaint):
        parse_params(head + changed)


def test_cache_of_an_epoch_is_read_only() -> None:
    cache = build_cache(EPOCH, SHAPE)

    with pytest.raises(ValueError, match="read-only"):
        cache.rows[0, 0] = 1

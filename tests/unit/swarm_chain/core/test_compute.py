"""Seeds, leaves, draws and the arithmetic of the row chain against the independent vectors and against plain integers."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from swarm_chain.core.compute import (
    ComputeChallenge,
    ComputeShape,
    ComputeWindow,
    commitment_leaf,
    commitment_tree,
    digest,
    draw_rows,
    mtops,
    seed_w,
    seed_x,
)
from swarm_chain.core.encoding import hash_from_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.known_answers import KNOWN_ANSWERS, wrong_answers
from swarm_chain.core.merkle import root
from swarm_chain.core.rowchain import (
    Int8Matrix,
    NumpyCompute,
    input_rows,
    run_rows,
    splitmix64,
    step,
    top_byte,
    weight_column,
    weights,
)
from swarm_chain.core.units import Address, Hash32, WindowId
from tests.compute_world import CHALLENGE, DRAW_SEED, MALLORY, VECTORS, WINDOW

DOCUMENT = json.loads(VECTORS.read_text(encoding="utf-8"))
CASES: list[dict[str, Any]] = DOCUMENT["cases"]
ROOT = Hash32(bytes(range(32)))


def challenge_of(case: dict[str, Any]) -> ComputeChallenge:
    window = ComputeWindow(
        chain_id=case["chainId"],
        beacon=Address(case["beacon"]),
        window_id=WindowId(case["windowId"]),
        window_seed=hash_from_hex(case["windowSeed"]),
    )
    shape = ComputeShape(m=case["m"], n=case["n"], steps=case["steps"])
    return ComputeChallenge(window=window, node=Address(case["node"]), device=case["device"], shape=shape)


def plain_chain(x: Int8Matrix, w: Int8Matrix, steps: int) -> Int8Matrix:
    """The definition in 64-bit integers: no floating point, nothing clever."""
    for _ in range(steps):
        product = x.astype(np.int64) @ w.astype(np.int64)
        scattered = (product * 0x9E3779B1) % 2**32
        x = (scattered >> 24).astype(np.uint8).view(np.int8)
    return x


def test_splitmix64_gives_the_published_words() -> None:
    words = splitmix64(1234567, np.arange(5, dtype=np.uint64))

    assert [str(word) for word in words.tolist()] == DOCUMENT["splitmix64"]["first"]


@pytest.mark.parametrize("case", CASES)
def test_seeds_equal_the_vectors(case: dict[str, Any]) -> None:
    challenge = challenge_of(case)

    assert f"0x{seed_x(challenge.window, challenge.node, challenge.device):016x}" == case["seedX"]
    assert f"0x{seed_w(challenge.window, challenge.shape.n):016x}" == case["seedW"]


@pytest.mark.parametrize("case", CASES)
def test_rows_drawn_equal_the_vectors(case: dict[str, Any]) -> None:
    rows = draw_rows(hash_from_hex(case["drawSeed"]), challenge_of(case), hash_from_hex(case["root"]), case["draws"])

    assert list(rows) == case["rows"]


@pytest.mark.parametrize("case", CASES)
def test_root_of_all_rows_equals_the_vectors(case: dict[str, Any]) -> None:
    shape = challenge_of(case).shape
    x = input_rows(int(case["seedX"], 16), np.arange(shape.m), shape.n)
    last = run_rows(x, weights(int(case["seedW"], 16), shape.n), shape.steps)

    assert root(commitment_tree(last[:, :64].tobytes())) == hash_from_hex(case["root"])


def test_known_answers_are_those_of_the_vectors() -> None:
    embedded = [(answer.seed_x, answer.seed_w, answer.root) for answer in KNOWN_ANSWERS]

    assert embedded == [(int(c["seedX"], 16), int(c["seedW"], 16), hash_from_hex(c["root"])) for c in CASES]


def test_known_answers_pass_on_the_reference() -> None:
    assert wrong_answers(NumpyCompute()) == ()


@pytest.mark.parametrize("n", [64, 256, 2048, 4096])
def test_chain_equals_plain_integers(n: int) -> None:
    x, w = input_rows(11, np.array([0, 5, 63]), n), weights(12, n)

    assert np.array_equal(run_rows(x, w, 2), plain_chain(x, w, 2))


@pytest.mark.parametrize(("x_entry", "w_entry"), [(-128, -64), (-128, 63), (127, -64), (127, 63)])
def test_chain_is_exact_at_the_extremes_of_the_largest_width(x_entry: int, w_entry: int) -> None:
    n = 32_768
    x = np.full((1, n), x_entry, dtype=np.int8)
    columns = np.full((n, 3), w_entry, dtype=np.int8)

    assert np.array_equal(step(x, columns), plain_chain(x, columns, 1))


def test_top_byte_equals_python_integers() -> None:
    products = [0, 1, -1, 2**28, -(2**28), 8192 * 1024, -12345678]

    expected = [((c * 0x9E3779B1) % 2**32) >> 24 for c in products]

    assert top_byte(np.array([products], dtype=np.int32)).view(np.uint8).tolist() == [expected]


@pytest.mark.parametrize("n", [64, 4096])
def test_weights_lie_in_seven_bits_and_column_by_column(n: int) -> None:
    w = weights(99, n)

    assert w.shape == (n, n)
    assert (int(w.min()), int(w.max())) == (-64, 63)
    assert all(np.array_equal(w[:, j], weight_column(99, j, n)) for j in (0, 1, n // 2 + 1, n - 1))


def test_input_rows_use_the_whole_range_and_any_row_alone() -> None:
    rows = input_rows(7, np.arange(64), 1024)

    assert (int(rows.min()), int(rows.max())) == (-128, 127)
    assert np.array_equal(input_rows(7, np.array([40, 3]), 1024), rows[[40, 3]])


@pytest.mark.parametrize("column", [-1, 64])
def test_weight_column_outside_the_matrix_is_refused(column: int) -> None:
    with pytest.raises(InvalidInputError, match="no column"):
        weight_column(1, column, 64)


@pytest.mark.parametrize(
    ("m", "n", "steps"),
    [(32, 64, 1), (65, 64, 1), (64, 32, 1), (64, 96, 1), (64, 65_536, 1), (2**32, 64, 1), (64, 64, 0), (64, 64, 1025)],
)
def test_shape_outside_the_protocol_is_refused(m: int, n: int, steps: int) -> None:
    with pytest.raises(InvalidInputError):
        ComputeShape(m=m, n=n, steps=steps)


@pytest.mark.parametrize(
    "wrong",
    [
        {"chain_id": -1},
        {"window_id": 2**256},
        {"window_seed": bytes(31)},
        {"beacon": "0x12"},
        {"beacon": "0x" + "g" * 40},
    ],
)
def test_window_that_cannot_be_encoded_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        replace(WINDOW, **wrong)


@pytest.mark.parametrize("wrong", [{"device": -1}, {"node": "alice"}])
def test_challenge_that_cannot_be_encoded_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        replace(CHALLENGE, **wrong)


def test_input_seed_depends_on_every_part_of_the_challenge() -> None:
    windows = [
        WINDOW,
        replace(WINDOW, chain_id=1),
        replace(WINDOW, beacon=MALLORY),
        replace(WINDOW, window_id=WindowId(2)),
        replace(WINDOW, window_seed=ROOT),
    ]
    seeds = [seed_x(window, CHALLENGE.node, 0) for window in windows]
    seeds += [seed_x(WINDOW, MALLORY, 0), seed_x(WINDOW, CHALLENGE.node, 1)]

    assert len(set(seeds)) == len(seeds)
    assert len({seed_w(window, 64) for window in windows} | {seed_w(WINDOW, 128)}) == len(windows) + 1


def test_draw_of_all_rows_is_a_permutation() -> None:
    assert sorted(draw_rows(DRAW_SEED, CHALLENGE, ROOT, 64)) == list(range(64))


def test_draw_depends_on_seed_node_device_and_root() -> None:
    draws = [
        draw_rows(DRAW_SEED, CHALLENGE, ROOT, 8),
        draw_rows(ROOT, CHALLENGE, ROOT, 8),
        draw_rows(DRAW_SEED, replace(CHALLENGE, node=MALLORY), ROOT, 8),
        draw_rows(DRAW_SEED, replace(CHALLENGE, device=1), ROOT, 8),
        draw_rows(DRAW_SEED, CHALLENGE, DRAW_SEED, 8),
    ]

    assert len(set(draws)) == len(draws)


@pytest.mark.parametrize("count", [0, -1, 65])
def test_draw_of_an_impossible_number_of_rows_is_refused(count: int) -> None:
    with pytest.raises(InvalidInputError, match="drawn rows"):
        draw_rows(DRAW_SEED, CHALLENGE, ROOT, count)


def test_mtops_rounds_down() -> None:
    cpu = ComputeShape(m=4096, n=1024, steps=64)

    assert mtops(cpu, 1300) == 2 * 4096 * 1024 * 1024 * 64 // 1_300_000_000 == 422
    assert mtops(ComputeShape(m=64, n=64, steps=1), 1000) == 0


def test_mtops_of_no_time_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="elapsed_ms"):
        mtops(ComputeShape(m=64, n=64, steps=1), 0)


@pytest.mark.parametrize("size", [0, 63, 65])
def test_digest_takes_exactly_one_head(size: int) -> None:
    with pytest.raises(InvalidInputError, match="head is"):
        digest(bytes(size))


def test_commitment_tree_commits_to_number_and_head_of_each_row() -> None:
    heads = bytes(range(64)) + bytes(64)
    leaves = [commitment_leaf(row, digest(heads[row * 64 : row * 64 + 64])) for row in (0, 1)]

    assert commitment_tree(heads)[32:] == leaves[1] + leaves[0]


def test_commitment_tree_of_half_a_head_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="whole heads"):
        commitment_tree(bytes(96))

"""Ids, trees and bad input of the dispute over one row; what a lie leads to is in tests/property/test_court_properties."""

from collections.abc import Callable

import pytest
from eth_abi.abi import encode

from swarm_chain.core.compute import draw_rows, seed_w
from swarm_chain.core.court import (
    accusation_id,
    draw_counter,
    false_column,
    first_false_step,
    offence_id,
    seal_hash,
    step_tree,
    trace_row,
    trace_rows,
    true_byte,
    word_tree,
)
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.rowchain import weights
from swarm_chain.core.units import WindowId
from tests.compute_world import ALICE, CHALLENGE, DRAW_SEED, MALLORY

N, T = CHALLENGE.shape.n, CHALLENGE.shape.steps
W = weights(seed_w(CHALLENGE.window, N), N)
TRACE = trace_row(CHALLENGE, 5, W)
ROOT, SALT = keccak(b"root"), keccak(b"salt")


def test_ids_are_abi_encoded_and_hashed() -> None:
    offence = offence_id(WindowId(7 << 16), ALICE, 2)

    zero = "0x" + "00" * 20
    assert offence == keccak(encode(["uint256", "address", "uint256", "address"], [7 << 16, ALICE, 2, zero]))
    accused = keccak(encode(["bytes32", "bytes32", "uint256", "address"], [offence, ROOT, 9, MALLORY]))
    assert accusation_id(offence, ROOT, 9, MALLORY) == accused
    assert seal_hash(ALICE, ROOT, SALT) == keccak(encode(["address", "bytes32", "bytes32"], [ALICE, ROOT, SALT]))


def test_member_and_accuser_are_part_of_the_ids() -> None:
    assert offence_id(WindowId(1), ALICE, 0) != offence_id(WindowId(1), ALICE, 0, MALLORY)
    assert accusation_id(ROOT, ROOT, 9, ALICE) != accusation_id(ROOT, ROOT, 9, MALLORY)
    assert seal_hash(ALICE, ROOT, SALT) != seal_hash(MALLORY, ROOT, SALT)


def test_several_rows_share_one_walk() -> None:
    assert trace_rows(CHALLENGE, (5, 0, 63), W) == tuple(trace_row(CHALLENGE, row, W) for row in (5, 0, 63))


def test_counter_of_a_drawn_row_draws_it_and_others_have_none() -> None:
    rows = draw_rows(DRAW_SEED, CHALLENGE, ROOT, 8)

    counters = [draw_counter(DRAW_SEED, CHALLENGE, ROOT, row, 64) for row in rows]

    assert counters == sorted(counters, key=lambda counter: -1 if counter is None else counter)
    assert draw_counter(DRAW_SEED, CHALLENGE, ROOT, rows[0], 1) == 0
    assert draw_counter(DRAW_SEED, CHALLENGE, ROOT, rows[-1], 1) is None


@pytest.mark.parametrize(
    "call",
    [
        lambda: trace_row(CHALLENGE, 64, W),
        lambda: trace_row(CHALLENGE, -1, W),
        lambda: trace_row(CHALLENGE, 0, W[:, :8]),
        lambda: true_byte(CHALLENGE, 0, T + 1, TRACE.states[0], 0),
        lambda: true_byte(CHALLENGE, 0, 1, TRACE.states[0], N),
        lambda: true_byte(CHALLENGE, 0, 1, TRACE.states[0][1:], 0),
        lambda: first_false_step(TRACE, TRACE.hashes[1:], TRACE.head),
        lambda: false_column(TRACE, 1, TRACE.states[1] + b"\0"),
        lambda: step_tree(TRACE.hashes[:1]),
        lambda: step_tree((ROOT,) * 1026),
        lambda: word_tree(bytes(32)),
        lambda: word_tree(bytes(65)),
    ],
)
def test_bad_input_is_refused_with_a_fix(call: Callable[[], object]) -> None:
    with pytest.raises(InvalidInputError) as refused:
        call()

    assert refused.value.fix

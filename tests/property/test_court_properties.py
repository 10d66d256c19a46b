"""Whatever an accused answers, a true row cannot be proven false and a false one cannot be defended."""

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarm_chain.core.compute import ComputeChallenge, ComputeShape, seed_w
from swarm_chain.core.court import (
    RowTrace,
    false_column,
    first_false_step,
    opens_row,
    step_tree,
    trace_row,
    true_byte,
    word_of,
    word_tree,
)
from swarm_chain.core.encoding import double_hash, keccak, words
from swarm_chain.core.merkle import path, path_length, root, verify
from swarm_chain.core.rowchain import weights
from swarm_chain.core.units import Hash32
from tests.compute_world import CHALLENGE, honest_run
from tests.court_world import lying_trace, true_trace, with_byte

N, T = 128, 5
ASKED = replace(CHALLENGE, shape=ComputeShape(m=64, n=N, steps=T))
ROW = 17

steps = st.integers(0, T)
columns = st.integers(0, N - 1)
masks = st.integers(1, 255)


@cache
def honest_row() -> RowTrace:
    """The row as it must be."""
    return true_trace(ASKED, ROW)


def proves(challenge: ComputeChallenge, at: int, rows: tuple[bytes, bytes], column: int) -> bool:
    """What the court decides over a byte: `rows` are the one before and the revealed one, both known by their hashes."""
    before, revealed = rows
    claimed = revealed[column] - 256 if revealed[column] > 127 else revealed[column]
    return true_byte(challenge, ROW, at, before, column) != claimed


@given(at=steps, column=columns, mask=masks)
def test_one_false_byte_of_any_state_ends_in_a_provable_column(at: int, column: int, mask: int) -> None:
    liar, honest = lying_trace(ASKED, ROW, at, column, mask), honest_row()

    picked = first_false_step(honest, liar.hashes, liar.head)
    assert picked == at
    found = false_column(honest, picked, liar.states[picked])

    assert found is not None
    assert found.column == column
    # The accuser shows its own row before; the court takes it because the answer's hash of it is true.
    before = honest.states[picked - 1] if picked else b""
    assert picked == 0 or keccak(before) == liar.hashes[picked - 1]
    assert found.computed == true_byte(ASKED, ROW, picked, before, found.column)
    assert proves(ASKED, picked, (before, liar.states[picked]), found.column)


@given(at=steps, mask=masks, byte=st.integers(0, 31))
def test_a_changed_hash_ends_in_a_reveal_nobody_can_give(at: int, mask: int, byte: int) -> None:
    honest = honest_row()
    hashes = list(honest.hashes)
    hashes[at] = Hash32(with_byte(hashes[at], byte, mask))

    picked = first_false_step(honest, hashes, honest.head)

    assert picked == at
    assert keccak(honest.states[picked]) != hashes[picked]


@given(column=st.integers(0, 63), mask=masks)
def test_true_hashes_with_a_false_head_end_in_a_reveal_nobody_can_give(column: int, mask: int) -> None:
    honest = honest_row()
    head = with_byte(honest.head, column, mask)

    picked = first_false_step(honest, honest.hashes, head)

    # The row behind the true hash of step T is the true one, and that does not start with the answered head.
    assert picked == T
    assert not honest.states[T].startswith(head)


@given(at=steps, column=columns)
def test_nothing_can_be_proven_against_an_honest_answer(at: int, column: int) -> None:
    honest = honest_row()
    before = honest.states[at - 1] if at else b""

    assert first_false_step(honest, honest.hashes, honest.head) is None
    assert false_column(honest, at, honest.states[at]) is None
    assert not proves(ASKED, at, (before, honest.states[at]), column)


@given(at=st.integers(1, T), column=columns, mask=masks, other=columns)
def test_an_accuser_cannot_use_a_false_row_before(at: int, column: int, mask: int, other: int) -> None:
    honest = honest_row()
    forged = with_byte(honest.states[at - 1], other, mask)

    # It might give another byte, but it does not hash to what the honest answer says.
    assert keccak(forged) != honest.hashes[at - 1]
    assert not proves(ASKED, at, (honest.states[at - 1], honest.states[at]), column)


@given(count=st.integers(2, 40), data=st.data())
def test_every_hash_has_a_path_in_the_step_tree(count: int, data: st.DataObject) -> None:
    hashes = [keccak(bytes([at])) for at in range(count)]
    at = data.draw(st.integers(0, count - 1))
    tree = step_tree(hashes)

    siblings = path(tree, at)

    assert verify(root(tree), double_hash(words(at, hashes[at])), siblings)
    assert len(siblings) == path_length(count, at)
    assert not verify(root(tree), double_hash(words(at + 1, hashes[at])), siblings)


@given(column=columns, mask=masks)
def test_every_byte_has_a_word_with_a_path(column: int, mask: int) -> None:
    row = honest_row().states[2]
    tree, word = word_tree(row), word_of(row, column)
    siblings = path(tree, column // 32)

    assert word[column % 32] == row[column]
    assert verify(root(tree), double_hash(words(column // 32, word)), siblings)
    other = Hash32(with_byte(word, column % 32, mask))
    assert not verify(root(tree), double_hash(words(column // 32, other)), siblings)


@pytest.mark.parametrize("row", [0, 31, 63])
def test_traces_end_in_what_the_prover_commits_to(row: int) -> None:
    run = honest_run(ASKED)
    trace = trace_row(ASKED, row, weights(seed_w(ASKED.window, N), N))

    assert trace.head == run.heads[row * 64 : row * 64 + 64]
    assert opens_row(root(run.tree), ASKED.shape, row, trace.head, path(run.tree, row))
    assert not opens_row(root(run.tree), ASKED.shape, row ^ 1, trace.head, path(run.tree, row))
    assert not opens_row(root(run.tree), ASKED.shape, row, trace.head, path(run.tree, row)[:-1])

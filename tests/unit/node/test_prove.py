"""The prover commits to all rows, opens the drawn ones, and hands out nothing its own check denies."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from node.prove import ComputeRun, checked_heads, commitment_of, final_heads, prove, prove_rows, restore_run
from swarm_chain.core.compute import ComputeChallenge, ComputeShape, commitment_leaf, digest, seed_w, seed_x
from swarm_chain.core.errors import InconsistentError, InvalidInputError
from swarm_chain.core.known_answers import KNOWN_ANSWERS
from swarm_chain.core.merkle import root, verify
from swarm_chain.core.rowchain import Indices, Int8Matrix, NumpyCompute, input_rows, run_rows, weights
from tests.compute_world import CHALLENGE, SHAPE, honest_run


@dataclass(slots=True)
class SmallChunks(NumpyCompute):
    """The reference given a few rows at a time; remembers how many."""

    chunk_bytes: int = 64 * 10
    calls: list[int] = field(default_factory=list)

    def rows(self, seed: int, indices: Indices, n: int) -> Int8Matrix:
        self.calls.append(len(indices))
        return input_rows(seed, indices, n)


class OneWrongRow(NumpyCompute):
    """A device with one bad row, as a broken memory cell gives."""

    def run_chain(self, x: Int8Matrix, w: Int8Matrix, steps: int) -> Int8Matrix:
        heads = super().run_chain(x, w, steps)
        heads[17, 63] ^= 1
        return heads


def test_heads_are_those_of_the_plain_chain() -> None:
    x = input_rows(seed_x(CHALLENGE.window, CHALLENGE.node, CHALLENGE.device), np.arange(SHAPE.m), SHAPE.n)
    w = weights(seed_w(CHALLENGE.window, SHAPE.n), SHAPE.n)

    assert final_heads(CHALLENGE, NumpyCompute()) == run_rows(x, w, SHAPE.steps)[:, :64].tobytes()


def test_chunks_change_nothing_but_memory() -> None:
    chunked = SmallChunks()

    assert final_heads(CHALLENGE, chunked) == final_heads(CHALLENGE, NumpyCompute())
    assert chunked.calls == [10, 10, 10, 10, 10, 10, 4]


def test_chunk_smaller_than_a_row_still_makes_progress() -> None:
    assert final_heads(CHALLENGE, SmallChunks(chunk_bytes=1)) == final_heads(CHALLENGE, NumpyCompute())


def test_commitment_repeats_the_challenge_and_the_root() -> None:
    run = prove(CHALLENGE, NumpyCompute(), (0, 63))
    commitment = commitment_of(run)

    assert (commitment.window_id, commitment.node, commitment.device) == (
        CHALLENGE.window.window_id,
        CHALLENGE.node,
        CHALLENGE.device,
    )
    assert (commitment.m, commitment.n, commitment.steps) == (SHAPE.m, SHAPE.n, SHAPE.steps)
    assert commitment.root == root(run.tree)


def test_openings_come_in_draw_order_and_open_the_root() -> None:
    run = honest_run()
    proof = prove_rows(run, (5, 63, 0))

    assert [opening.row for opening in proof.openings] == [5, 63, 0]
    for opening in proof.openings:
        assert opening.head == run.heads[opening.row * 64 : opening.row * 64 + 64]
        assert len(opening.path) == SHAPE.path_length
        assert verify(proof.root, commitment_leaf(opening.row, digest(opening.head)), opening.path)


@pytest.mark.parametrize("row", [-1, 64])
def test_opening_of_a_row_that_does_not_exist_is_refused(row: int) -> None:
    with pytest.raises(InvalidInputError, match="no leaf"):
        prove_rows(honest_run(), (row,))


def test_wrong_row_is_not_committed_when_the_self_check_meets_it() -> None:
    with pytest.raises(InconsistentError, match="row 17") as stopped:
        prove(CHALLENGE, OneWrongRow(), (3, 17))

    assert stopped.value.code == "self_check_failed"


def test_self_check_passes_when_the_drawn_rows_are_right() -> None:
    assert checked_heads(CHALLENGE, NumpyCompute(), (0, 31)) == honest_run().heads


def test_run_restored_from_its_heads_is_the_same_run() -> None:
    run = honest_run()

    assert restore_run(CHALLENGE, run.heads) == run


def test_heads_of_another_shape_are_refused() -> None:
    larger = replace(CHALLENGE, shape=ComputeShape(m=128, n=64, steps=3))

    with pytest.raises(InvalidInputError, match="heads of 128 rows"):
        restore_run(larger, honest_run().heads)


@pytest.mark.parametrize(
    "other", [replace(CHALLENGE, device=1), replace(CHALLENGE, shape=ComputeShape(m=64, n=64, steps=4))]
)
def test_another_challenge_has_another_root(other: ComputeChallenge) -> None:
    assert root(honest_run(other).tree) != root(honest_run().tree)


def test_run_is_a_value() -> None:
    run = honest_run()

    assert isinstance(run, ComputeRun)
    assert hash(run) == hash(honest_run())
    assert KNOWN_ANSWERS[0].root != root(run.tree)

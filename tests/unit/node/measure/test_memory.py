"""The honest prover: one buffer, a self-check before anything is committed, and only its own questions."""

from dataclasses import replace

import numpy as np
import pytest

from node.measure.memory import answer, commitment_of, hold, open_lanes
from swarm_chain.core.errors import InconsistentError, InvalidInputError
from swarm_chain.core.memory import lane_leaf, seed_items
from swarm_chain.core.memoryset import computed, stored
from swarm_chain.core.merkle import verify
from tests.memory_world import CHALLENGE, EPOCH, MALLORY, NODE, SHAPE, asked, cache_of, dataset_of, honest_run


def test_dataset_when_it_takes_several_chunks_holds_the_items_of_the_definition() -> None:
    shape = replace(SHAPE, items=5000)
    items = hold(cache_of(), EPOCH, NODE, 0, shape).items
    some = np.array([0, 4095, 4096, 4999])

    assert items.shape == (5000, 16)
    assert np.array_equal(
        items[some], computed(stored(cache_of().rows), 64, SHAPE.mixes, seed_items(EPOCH, NODE, 0))(some)
    )


def test_answer_when_asked_twice_is_the_same_and_another_nonce_gives_another() -> None:
    again = honest_run()

    assert again == honest_run()
    assert commitment_of(honest_run(asked(CHALLENGE.nonce))).root != commitment_of(again).root


def test_answer_when_lanes_take_several_chunks_is_in_lane_order() -> None:
    shape = replace(SHAPE, lanes=8192, least_reads=1)
    challenge = replace(CHALLENGE, shape=shape)
    run = answer(challenge, dataset_of(challenge), (0, 4095, 4096, 8191))

    assert len(run.lane_results) == 8192 * 32


def test_openings_lead_to_the_committed_root() -> None:
    run = honest_run()
    proof = open_lanes(run, (31, 0, 7))

    assert [opening.lane for opening in proof.openings] == [31, 0, 7]
    assert proof.root == commitment_of(run).root
    for opening in proof.openings:
        assert verify(proof.root, lane_leaf(opening.lane, opening.result), opening.path)


def test_answer_when_a_byte_of_memory_flipped_commits_to_nothing() -> None:
    dataset = dataset_of()
    broken = dataset.items.copy()
    broken[:, 0] ^= np.uint64(1)

    with pytest.raises(InconsistentError) as caught:
        answer(CHALLENGE, replace(dataset, items=broken), (3, 9))

    assert caught.value.code == "memory_differs"


@pytest.mark.parametrize(
    "other",
    [
        replace(CHALLENGE, node=MALLORY),
        replace(CHALLENGE, device=1),
        replace(CHALLENGE, shape=replace(SHAPE, items=299)),
        replace(CHALLENGE, epoch=replace(EPOCH, chain_id=1)),
    ],
)
def test_question_about_another_dataset_is_refused(other: object) -> None:
    with pytest.raises(InvalidInputError, match="not about this dataset"):
        answer(other, dataset_of(), ())  # type: ignore[arg-type]

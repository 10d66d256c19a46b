"""Openings over HTTP: attacks 1, 4, 13, 15 and 16 of compute-proof.md as far as the desk decides them."""

from dataclasses import replace

import pytest

from node.wire import commitment_body, proof_body
from oracle.pipeline.observe import judge_window
from oracle.store import evidence
from swarm_chain.core.model import Commitment, SignedProof
from swarm_chain.core.units import Hash32
from tests.member_world import ALICE, BOB, COMPUTE, HEADS, MemberWorld


def post(world: MemberWorld, signed: SignedProof) -> tuple[int, dict[str, object]]:
    """Status and document of the answer."""
    answer = world.client.post("/v1/proofs", json=proof_body(signed))
    return answer.status_code, answer.json()


@pytest.fixture
def committed(world: MemberWorld) -> Commitment:
    """Alice's commitment in a window that is closed, but not drawn."""
    commitment = world.commitment(world.open())
    answer = world.client.post("/v1/commitments", json=commitment_body(world.commit(commitment)))
    assert answer.status_code == 202
    world.close(commitment.window_id)
    return commitment


@pytest.fixture
def drawn(world: MemberWorld, committed: Commitment) -> Hash32:
    """The draw seed of that window."""
    return world.draw(committed.window_id)


def test_proof_when_the_rows_are_drawn_then_kept_and_a_repeat_is_a_duplicate(
    world: MemberWorld, committed: Commitment, drawn: Hash32
) -> None:
    signed = world.show(world.proof(committed, drawn))
    assert post(world, signed) == (202, {"duplicate": False})
    assert post(world, signed) == (202, {"duplicate": True})
    assert evidence.proven_devices(world.engine, committed.window_id) == {(ALICE.address, 0)}


def test_proof_when_made_up_then_kept_and_the_judge_fails_it(
    world: MemberWorld, committed: Commitment, drawn: Hash32
) -> None:
    post(world, world.show(world.proof(committed, drawn)))
    verdicts = judge_window(world.member, world.member.follower.sight, committed.window_id)
    found = {v.node: (v.outcome.value, v.reason) for v in verdicts}
    assert found[ALICE.address] == ("failed", "false_row")
    assert found[BOB.address] == ("missing", "no_commitment")


def test_proof_when_sent_before_the_draw_then_not_yet(world: MemberWorld, committed: Commitment) -> None:
    guessed = world.proof(committed, Hash32(bytes(32)))
    status, document = post(world, world.show(guessed))
    assert (status, document["error"]) == (503, "unavailable")


def test_attack_1_when_no_row_is_opened_then_refused_before_any_work(
    world: MemberWorld, committed: Commitment, drawn: Hash32
) -> None:
    empty = replace(world.proof(committed, drawn), openings=())
    status, document = post(world, world.show(empty))
    assert (status, document["error"]) == (422, "malformed")


def test_attack_4_when_another_nodes_proof_is_shown_then_refused(
    world: MemberWorld, committed: Commitment, drawn: Hash32
) -> None:
    proof = world.proof(committed, drawn)
    assert post(world, world.show(proof, key=BOB))[1]["error"] == "wrong_signer"
    stolen = replace(proof, node=BOB.address)
    status, document = post(world, world.show(stolen, key=BOB))
    assert (status, document["error"]) == (422, "no_commitment")


def test_attack_4_when_the_proof_is_of_another_device_then_refused(
    world: MemberWorld, committed: Commitment, drawn: Hash32
) -> None:
    other = replace(world.proof(committed, drawn), device=1)
    assert post(world, world.show(other))[1]["error"] == "no_commitment"


def test_attack_15_when_the_root_is_another_one_than_committed_then_refused(
    world: MemberWorld, committed: Commitment, drawn: Hash32
) -> None:
    heads = HEADS[::-1]
    changed = world.proof(world.commitment(committed.window_id, heads=heads), drawn, heads)
    status, document = post(world, world.show(changed))
    assert (status, document["error"]) == (422, "wrong_root")


def test_attack_16_when_many_roots_are_ground_then_only_the_first_can_be_opened(
    world: MemberWorld,
) -> None:
    window = world.open()
    tries = [(heads, world.commitment(window, heads=heads)) for heads in (bytes([i]) * len(HEADS) for i in range(5))]
    answers = [
        world.client.post("/v1/commitments", json=commitment_body(world.commit(commitment))).status_code
        for _, commitment in tries
    ]
    assert answers == [202, 409, 409, 409, 409]
    world.close(window)
    seed = world.draw(window)
    opened = [post(world, world.show(world.proof(commitment, seed, heads)))[0] for heads, commitment in tries]
    assert opened == [202, 422, 422, 422, 422]


def test_attack_16_when_the_first_proof_was_taken_then_a_better_one_does_not_replace_it(
    world: MemberWorld, committed: Commitment, drawn: Hash32
) -> None:
    proof = world.proof(committed, drawn)
    worse = replace(proof, openings=proof.openings[::-1])
    post(world, world.show(worse))
    assert post(world, world.show(proof)) == (202, {"duplicate": True})
    (kept,) = evidence.proof_documents(world.engine, [committed.window_id])
    assert kept.count(b'"row"') == COMPUTE.draws
    assert post(world, world.show(worse)) == (202, {"duplicate": True})


def test_attack_13_when_the_proof_comes_as_its_time_is_over_then_refused(
    world: MemberWorld, committed: Commitment, drawn: Hash32
) -> None:
    signed = world.show(world.proof(committed, drawn))
    closed_at = next(w.closed_at for w in world.member.follower.sight.state.windows)
    world.chain.mine(seconds=closed_at + COMPUTE.open_for - world.now - 1)
    world.follow()
    status, document = post(world, signed)
    assert (status, document["error"]) == (422, "wrong_window_state")
    assert evidence.proven_devices(world.engine, committed.window_id) == frozenset()


def test_attack_13_when_the_proof_comes_in_the_last_second_then_taken(
    world: MemberWorld, committed: Commitment, drawn: Hash32
) -> None:
    closed_at = next(w.closed_at for w in world.member.follower.sight.state.windows)
    world.chain.mine(seconds=closed_at + COMPUTE.open_for - world.now - 2)
    world.follow()
    assert post(world, world.show(world.proof(committed, drawn)))[0] == 202

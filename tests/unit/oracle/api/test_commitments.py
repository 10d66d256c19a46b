"""Commitments over HTTP: attacks 4, 13 to 15 and 22 of compute-proof.md, and honest repeats."""

from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from node.wire import commitment_body
from oracle.judge.windows import find_equivocations
from oracle.pipeline.holding import pool_of
from oracle.store import evidence
from swarm_chain.core.encoding import keccak
from swarm_chain.core.model import SignedCommitment
from swarm_chain.core.units import Signature, WindowId, window_id
from tests.member_world import ALICE, BOB, HEADS, STRANGER, MemberWorld, other_domain

N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
OTHER_HEADS = HEADS[::-1]


def post(client: TestClient, signed: SignedCommitment) -> tuple[int, dict[str, object]]:
    """Status and document of the answer."""
    answer = client.post("/v1/commitments", json=commitment_body(signed))
    return answer.status_code, answer.json()


def twin(signature: Signature) -> Signature:
    """The other signature a key could have made: n - s and the other v."""
    s = int.from_bytes(signature[32:64], "big")
    return Signature(signature[:32] + (N - s).to_bytes(32, "big") + bytes([55 - signature[64]]))


def test_commitment_when_the_window_is_open_then_the_time_since_its_first_sight_is_measured(world: MemberWorld) -> None:
    window = world.open()
    world.clock.sleep(1.5)
    assert post(world.client, world.commit(world.commitment(window))) == (202, {"elapsedMs": 1500, "duplicate": False})


def test_commitment_when_repeated_then_it_is_answered_as_the_first_one(world: MemberWorld) -> None:
    window = world.open()
    signed = world.commit(world.commitment(window))
    world.clock.sleep(1)
    post(world.client, signed)
    world.clock.sleep(5)
    assert post(world.client, signed) == (202, {"elapsedMs": 1000, "duplicate": True})


def test_commitment_when_repeated_after_the_close_then_it_is_answered_as_the_first_one(world: MemberWorld) -> None:
    window = world.open()
    signed = world.commit(world.commitment(window))
    world.clock.sleep(1)
    post(world.client, signed)
    world.close(window)
    assert post(world.client, signed) == (202, {"elapsedMs": 1000, "duplicate": True})


def test_attack_4_when_signed_for_another_chain_or_contract_then_refused(world: MemberWorld) -> None:
    commitment = world.commitment(world.open())
    for domain in (other_domain(world, chain_id=1), other_domain(world, contract="EpochOracle")):
        status, document = post(world.client, world.commit(commitment, domain=domain))
        assert (status, document["error"]) == (422, "wrong_signer")
    assert evidence.arrivals(world.engine, [world.record(commitment.window_id)]) == ()


def test_attack_4_when_another_node_is_named_then_refused(world: MemberWorld) -> None:
    commitment = world.commitment(world.open(), node=BOB)
    assert post(world.client, world.commit(commitment, key=ALICE))[1]["error"] == "wrong_signer"


def test_attack_4_when_the_node_is_nobodys_then_refused(world: MemberWorld) -> None:
    commitment = world.commitment(world.open(), node=STRANGER)
    assert post(world.client, world.commit(commitment, key=STRANGER))[1]["error"] == "unknown_node"


def test_commitment_when_the_provider_is_suspended_or_retired_then_refused(world: MemberWorld) -> None:
    window = world.open()
    world.log("ProviderRegistry", "ProviderSuspended", providerId=1, suspendedUntil=world.now + 100)
    status, document = post(world.client, world.commit(world.commitment(window)))
    assert (status, document["error"]) == (422, "provider_suspended")
    world.log("ProviderRegistry", "ProviderRetired", providerId=2)
    status, document = post(world.client, world.commit(world.commitment(window, node=BOB), key=BOB))
    assert (status, document["error"]) == (422, "unknown_node")


@pytest.mark.parametrize("change", [{"m": 128}, {"n": 128}, {"steps": 3}, {"device": 1}])
def test_commitment_when_the_shape_is_not_the_planned_one_then_refused(
    world: MemberWorld, change: dict[str, int]
) -> None:
    commitment = replace(world.commitment(world.open()), **change)  # type: ignore[arg-type]  # fields of a commitment
    status, document = post(world.client, world.commit(commitment))
    assert (status, document["error"]) == (422, "wrong_shape")


def test_commitment_when_the_window_is_not_open_yet_then_the_sender_may_come_again(world: MemberWorld) -> None:
    window = window_id(world.epoch, 0)
    assert post(world.client, world.commit(world.commitment(window)))[0] == 404
    world.log("ChallengeBeacon", "SecretCommitted", windowId=window, secretHash=keccak(b"secret"))
    answer = world.client.post("/v1/commitments", json=commitment_body(world.commit(world.commitment(window))))
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")


def test_attack_13_when_the_commitment_comes_one_block_after_the_close_then_refused(world: MemberWorld) -> None:
    window = world.open()
    world.close(window)
    status, document = post(world.client, world.commit(world.commitment(window)))
    assert (status, document["error"]) == (422, "wrong_window_state")
    assert evidence.arrivals(world.engine, [world.record(window)]) == ()


def test_attack_13_when_the_commitment_comes_after_the_root_was_made_then_it_cannot_void_the_window(
    world: MemberWorld,
) -> None:
    window = world.open()
    post(world.client, world.commit(world.commitment(window)))
    sealed = evidence.seal(world.engine, world.record(window))
    status, document = post(world.client, world.commit(world.commitment(window, node=BOB), key=BOB))
    assert (status, document["error"]) == (422, "wrong_window_state")
    assert evidence.seal(world.engine, world.record(window)) == sealed


def test_attack_14_when_an_old_commitment_is_replayed_for_a_new_window_then_refused(world: MemberWorld) -> None:
    old = world.commit(world.commitment(world.open(0)))
    post(world.client, old)
    fresh = replace(old, commitment=replace(old.commitment, window_id=world.open(1)))
    assert post(world.client, fresh)[1]["error"] == "wrong_signer"


def test_commitment_when_it_names_another_seed_than_the_chain_then_refused(world: MemberWorld) -> None:
    window = world.open()
    foreign = replace(world.commitment(window), window_seed=keccak(b"another branch"))
    status, document = post(world.client, world.commit(foreign))
    assert (status, document["error"]) == (422, "wrong_seed")
    assert "windows/current" in str(document["fix"])
    assert evidence.arrivals(world.engine, [world.record(window)]) == ()


def test_commitment_when_the_seed_is_changed_after_signing_then_refused(world: MemberWorld) -> None:
    window = world.open()
    signed = world.commit(world.commitment(window))
    seed = world.reopen(window)
    changed = replace(signed, commitment=replace(signed.commitment, window_seed=seed))
    assert post(world.client, changed)[1]["error"] == "wrong_signer"


def test_commitment_when_a_reorganisation_opens_the_window_anew_then_the_node_is_no_liar(world: MemberWorld) -> None:
    window = world.open()
    left = world.commit(world.commitment(window))
    assert post(world.client, left)[0] == 202
    seed = world.reopen(window)
    new = world.commit(replace(world.commitment(window, heads=OTHER_HEADS), window_seed=seed))

    assert post(world.client, new) == (202, {"elapsedMs": 1, "duplicate": False})
    assert post(world.client, left)[1]["error"] == "wrong_seed"

    assert [r.signed for r in evidence.seal(world.engine, world.record(window))] == [new]
    pool = pool_of(world.member.desk, world.member.follower.sight.state, world.epoch)
    assert (pool.commitments, pool.doubles) == ((new,), ())
    assert find_equivocations([left, new]) == ()


def test_attack_15_when_another_root_follows_then_409_and_both_are_evidence(world: MemberWorld) -> None:
    window = world.open()
    first, second = (world.commit(world.commitment(window, heads=heads)) for heads in (HEADS, OTHER_HEADS))
    post(world.client, first)
    status, document = post(world.client, second)
    assert (status, document["error"]) == (409, "equivocation")
    _assert_proven(world, window, first, second)


def test_attack_15_when_the_root_is_changed_after_the_draw_then_409_and_both_are_evidence(world: MemberWorld) -> None:
    window = world.open()
    first, second = (world.commit(world.commitment(window, heads=heads)) for heads in (HEADS, OTHER_HEADS))
    post(world.client, first)
    world.close(window)
    world.draw(window)
    status, document = post(world.client, second)
    assert (status, document["error"]) == (409, "equivocation")
    _assert_proven(world, window, first, second)
    assert [r.signed for r in evidence.seal(world.engine, world.record(window))] == [first], (
        "what counts did not change"
    )


def test_attack_15_when_a_third_root_follows_then_the_store_does_not_grow(world: MemberWorld) -> None:
    window = world.open()
    for number in range(4):
        heads = bytes([number]) * len(HEADS)
        post(world.client, world.commit(world.commitment(window, heads=heads)))
    assert len(evidence.arrivals(world.engine, [world.record(window)])) == 2


def test_attack_22_when_the_signature_has_a_high_s_then_refused(world: MemberWorld) -> None:
    signed = world.commit(world.commitment(world.open()))
    status, document = post(world.client, replace(signed, signature=twin(signed.signature)))
    assert (status, document["error"]) == (422, "bad_signature")


@pytest.mark.parametrize("v", [0, 1, 26, 29, 255])
def test_attack_22_when_v_is_not_27_or_28_then_refused(world: MemberWorld, v: int) -> None:
    signed = world.commit(world.commitment(world.open()))
    forged = replace(signed, signature=Signature(signed.signature[:64] + bytes([v])))
    assert post(world.client, forged)[1]["error"] == "bad_signature"


def test_attack_22_when_any_byte_of_the_signature_changes_then_refused(world: MemberWorld) -> None:
    signed = world.commit(world.commitment(world.open()))
    for at in (0, 17, 31, 40, 63):
        changed = bytearray(signed.signature)
        changed[at] ^= 1
        assert post(world.client, replace(signed, signature=Signature(bytes(changed))))[0] == 422
        world.clock.advance(1)
    assert evidence.arrivals(world.engine, [world.record(signed.commitment.window_id)]) == ()


def test_commitment_when_the_chain_is_looked_at_again_then_the_first_sight_of_the_window_still_counts(
    world: MemberWorld,
) -> None:
    window = world.open()
    world.clock.sleep(2)
    world.follow()
    world.clock.sleep(1)
    assert post(world.client, world.commit(world.commitment(window)))[1]["elapsedMs"] == 3000


def _assert_proven(world: MemberWorld, window: WindowId, first: SignedCommitment, second: SignedCommitment) -> None:
    kept = [received.signed for received in evidence.arrivals(world.engine, [world.record(window)])]
    assert kept == [first, second]
    (pair,) = find_equivocations(kept)
    assert {pair.first, pair.second} == {first, second}

"""A bundle is refused unless every signature, every membership and the ground it stands on fit."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from oracle.consensus.bundle import EvidencePool, assemble_bundle, check_bundle
from oracle.model import Bundle, Equivocation, Observation, SignedObservation
from oracle.publish.bundle import bundle_bytes, parse_bundle
from swarm_chain.core.encoding import address_bytes
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import JobKind, JobState
from swarm_chain.core.model import JobRecord, SignedCommitment, SignedProof
from swarm_chain.core.signing import commitment_hash, receipt_digest
from swarm_chain.core.units import ZERO_HASH, EpochNumber, Hash32, JobId, Timestamp, Wei
from tests.oracle_world import DOMAIN, NETWORK, Device, address, commit, observe, provider, ref_block, scene
from tests.unit.oracle.judge.test_training import _signed

MEMBERS = tuple(address(f"member {number}") for number in (1, 2, 3))
PLAYED = scene((provider(1, "a"), provider(2, "b")), (Device(node="a"), Device(node="b")), epoch=1)
STATE = replace(PLAYED.state, members=MEMBERS, quorum=2)
OWN = PLAYED.pool.observations[0]
SECOND = observe("member 2", replace(OWN.observation, member=MEMBERS[1]))
POOL = replace(PLAYED.pool, observations=(SECOND, OWN))
BUNDLE = assemble_bundle(POOL, EpochNumber(1), STATE, ZERO_HASH, NETWORK)
FIRST = BUNDLE.commitments[0]
DOUBLE = commit("a", replace(PLAYED.pool.commitments[0].commitment, root=Hash32(b"\1" * 32)))


def _job(digest: Hash32) -> JobRecord:
    return JobRecord(
        job_id=JobId(1),
        state=JobState.COMPLETED,
        kind=JobKind.TRAIN,
        customer=address("dave"),
        spec_hash=ZERO_HASH,
        budget_wei=Wei(1),
        posted_at=Timestamp(0),
        receipt_digest=digest,
    )


def test_bundle_when_sound_then_accepted_and_survives_the_wire() -> None:
    check_bundle(BUNDLE, STATE, ZERO_HASH, NETWORK, OWN)
    check_bundle(parse_bundle(bundle_bytes(BUNDLE)), STATE, ZERO_HASH, NETWORK)


def test_bundle_when_the_pool_is_shuffled_then_the_same_bytes() -> None:
    shuffled = EvidencePool(
        observations=POOL.observations[::-1], commitments=POOL.commitments[::-1], proofs=POOL.proofs[::-1]
    )

    again = assemble_bundle(shuffled, EpochNumber(1), STATE, ZERO_HASH, NETWORK)

    assert bundle_bytes(again) == bundle_bytes(BUNDLE)


def test_bundle_when_the_pool_holds_another_epoch_then_left_out() -> None:
    assert assemble_bundle(POOL, EpochNumber(2), STATE, ZERO_HASH, NETWORK).commitments == ()


CHEATS: dict[str, Callable[[Bundle], Bundle]] = {
    "another chain": lambda b: replace(b, chain_id=1),
    "another epoch": lambda b: replace(b, epoch=EpochNumber(2)),
    "an epoch that was over": lambda b: replace(b, epoch=EpochNumber(0)),
    "another block": lambda b: replace(b, ref_block=ref_block(7)),
    "other params": lambda b: replace(b, params_version=b.params_version ^ 1),
    "another predecessor": lambda b: replace(b, previous_manifest_hash=Hash32(b"\1" * 32)),
    "too few observations": lambda b: replace(b, observations=(OWN,)),
    "the same member twice": lambda b: replace(b, observations=(OWN, OWN)),
    "own observation left out": lambda b: replace(b, observations=_others(_third())),
    "own observation changed": lambda b: replace(b, observations=_others(_lied())),
    "a stranger's observation": lambda b: replace(b, observations=_pair(_stranger())),
    "an observation signed by another": lambda b: replace(
        b, observations=_pair(replace(SECOND, signature=OWN.signature))
    ),
    "an observation of another epoch": lambda b: replace(b, observations=_pair(_stale())),
    "a commitment signed by another": lambda b: replace(
        b, commitments=(replace(FIRST, signature=b.commitments[1].signature), *b.commitments[1:])
    ),
    "a commitment of nobody": lambda b: replace(b, commitments=(_foreign(),)),
    "a commitment of another epoch": lambda b: replace(b, commitments=(_old(),)),
    "a commitment of another branch": lambda b: replace(b, commitments=(_elsewhere(FIRST), *b.commitments[1:])),
    "an equivocation of another branch": lambda b: replace(
        b, equivocations=(_pair_of(_elsewhere(FIRST), _elsewhere(DOUBLE)),)
    ),
    "an equivocation of two branches": lambda b: replace(b, equivocations=(_pair_of(FIRST, _elsewhere(DOUBLE)),)),
    "commitments out of order": lambda b: replace(b, commitments=b.commitments[::-1]),
    "a proof signed by another": lambda b: replace(
        b, proofs=(replace(b.proofs[0], signature=b.proofs[1].signature), *b.proofs[1:])
    ),
    "a changed opening": lambda b: replace(b, proofs=(_reopened(b), *b.proofs[1:])),
    "an equivocation of one commitment": lambda b: replace(b, equivocations=(Equivocation(first=FIRST, second=FIRST),)),
    "an equivocation of two devices": lambda b: replace(
        b, equivocations=(Equivocation(first=FIRST, second=b.commitments[1]),)
    ),
    "an equivocation nobody signed": lambda b: replace(
        b, equivocations=(Equivocation(first=FIRST, second=replace(DOUBLE, signature=FIRST.signature)),)
    ),
    "a receipt the chain does not know": lambda b: replace(b, receipts=(_signed(),)),
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_bundle_when_the_leader_cheats_then_refused(cheat: str) -> None:
    with pytest.raises(InvalidInputError):
        check_bundle(CHEATS[cheat](BUNDLE), STATE, ZERO_HASH, NETWORK, OWN)


def test_bundle_when_a_device_signed_twice_then_the_pair_is_evidence() -> None:
    pool = replace(POOL, doubles=(DOUBLE,))

    bundle = assemble_bundle(pool, EpochNumber(1), STATE, ZERO_HASH, NETWORK)

    assert len(bundle.equivocations) == 1
    assert bundle.commitments == BUNDLE.commitments
    check_bundle(bundle, STATE, ZERO_HASH, NETWORK, OWN)


def test_bundle_when_a_device_signed_for_two_branches_then_nothing_is_evidence() -> None:
    pool = replace(POOL, doubles=(_elsewhere(DOUBLE),))

    assert assemble_bundle(pool, EpochNumber(1), STATE, ZERO_HASH, NETWORK) == BUNDLE


def test_bundle_when_a_node_was_removed_meanwhile_then_its_messages_still_count() -> None:
    left = tuple(replace(one, nodes=(), past_nodes=one.nodes) for one in STATE.providers)

    check_bundle(BUNDLE, replace(STATE, providers=left), ZERO_HASH, NETWORK, OWN)


def test_bundle_when_the_pool_holds_several_receipts_then_only_the_one_on_chain() -> None:
    right, wrong = _signed(), _signed(device_seconds=99)
    state = replace(STATE, jobs=(_job(receipt_digest(DOMAIN, right.receipt)),))

    bundle = assemble_bundle(replace(POOL, receipts=(wrong, right)), EpochNumber(1), state, ZERO_HASH, NETWORK)

    assert bundle.receipts == (right,)
    check_bundle(bundle, state, ZERO_HASH, NETWORK, OWN)


def test_bundle_when_a_receipt_is_unsigned_then_refused() -> None:
    forged = _signed("mallory")
    state = replace(STATE, jobs=(_job(receipt_digest(DOMAIN, forged.receipt)),))

    with pytest.raises(InvalidInputError):
        check_bundle(replace(BUNDLE, receipts=(forged,)), state, ZERO_HASH, NETWORK, OWN)


def _others(changed: SignedObservation) -> tuple[SignedObservation, ...]:
    return tuple(sorted((SECOND, changed), key=lambda signed: address_bytes(signed.observation.member)))


def _pair(other: SignedObservation) -> tuple[SignedObservation, ...]:
    return tuple(sorted((OWN, other), key=lambda signed: address_bytes(signed.observation.member)))


def _third() -> SignedObservation:
    return observe("member 3", replace(OWN.observation, member=MEMBERS[2]))


def _lied() -> SignedObservation:
    return observe("member 1", replace(OWN.observation, arrivals=()))  # even signed by the member itself


def _stranger() -> SignedObservation:
    return observe("mallory", replace(OWN.observation, member=address("mallory")))


def _stale() -> SignedObservation:
    return observe("member 2", Observation(epoch=EpochNumber(0), member=MEMBERS[1]))


def _foreign() -> SignedCommitment:
    return commit("nobody", replace(FIRST.commitment, node=address("nobody")))


def _elsewhere(signed: SignedCommitment) -> SignedCommitment:
    return commit("a", replace(signed.commitment, window_seed=Hash32(b"\2" * 32)))


def _pair_of(one: SignedCommitment, other: SignedCommitment) -> Equivocation:
    first, second = sorted((one, other), key=lambda signed: commitment_hash(signed.commitment))
    return Equivocation(first=first, second=second)


def _old() -> SignedCommitment:
    return scene((provider(1, "a"),), (Device(node="a"),), epoch=0).pool.commitments[0]


def _reopened(bundle: Bundle) -> SignedProof:
    signed = bundle.proofs[0]
    opening = replace(signed.proof.openings[0], head=bytes(64))
    return replace(signed, proof=replace(signed.proof, openings=(opening, *signed.proof.openings[1:])))

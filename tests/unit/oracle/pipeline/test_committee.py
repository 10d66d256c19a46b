"""A committee reports together: evidence is shared, leaders are checked and passed over, votes gather on one report."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import delete

from oracle.consensus.leading import leader_at
from oracle.consensus.views import (
    AdoptReport,
    AssembleBundle,
    BuildReport,
    CastVote,
    Observe,
    Publish,
    SubmitReport,
    TakeBundle,
)
from oracle.model import Bundle, SignedObservation
from oracle.pipeline.actions import perform
from oracle.pipeline.holding import kept_observations
from oracle.pipeline.names import BUNDLE, MANIFEST, OBSERVATION, SECOND_OBSERVATION
from oracle.pipeline.ticks import catch_up
from oracle.publish.bundle import bundle_bytes, parse_bundle, signed_observation_bytes
from oracle.publish.observation import content_hash
from oracle.store import documents
from oracle.store.tables import documents as document_table
from oracle.store.tables import proofs
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.signing import observation_hash
from swarm_chain.core.units import EpochNumber
from tests.committee_world import AsgiPeer, CommitteeWorld
from tests.member_world import ALICE, BOB, MemberWorld

REPORT_FOR = 60
COUNT, QUORUM = 4, 3


@pytest.fixture
def committee(tmp_path: Path) -> Iterator[CommitteeWorld]:
    """Four members, three of them a quorum."""
    made = CommitteeWorld(tmp_path, count=COUNT, quorum=QUORUM)
    yield made
    made.close_down()


def _leader(committee: CommitteeWorld, epoch: EpochNumber) -> int:
    """Number of the member whose turn it is."""
    members = [world.signer.address for world in committee.worlds]
    elapsed_for = committee.first.now - committee.first.network.epoch_end(epoch)
    return members.index(leader_at(members, epoch, elapsed_for, REPORT_FOR))


def _bundle(world: MemberWorld, epoch: EpochNumber) -> Bundle:
    content = documents.document(world.engine, epoch, BUNDLE)
    assert content is not None
    return parse_bundle(content)


def _hashes(committee: CommitteeWorld, epoch: EpochNumber, *numbers: int) -> set[bytes | None]:
    return {committee.hash_of(number, epoch) for number in numbers or range(COUNT)}


def _observe(committee: CommitteeWorld) -> None:
    """Every member signs its observation, nobody has asked for it yet."""
    for number in range(COUNT):
        assert isinstance(committee.step(number), Observe)


def _lead(world: MemberWorld, epoch: EpochNumber) -> None:
    """A member makes a report of what it holds and publishes it, whether it is its turn or not."""
    sight = world.member.follower.sight
    perform(world.member, sight, AssembleBundle(epoch=epoch))
    _build(world, epoch)


def _build(world: MemberWorld, epoch: EpochNumber) -> None:
    sight = world.member.follower.sight
    perform(world.member, sight, BuildReport(epoch=epoch))
    built = world.member.archive.build(_bundle(world, epoch))
    perform(world.member, sight, Publish(epoch=epoch, report_hash=built.report_hash))


def test_committee_when_all_are_there_then_one_bundle_a_quorum_of_equal_votes_one_submission(
    committee: CommitteeWorld,
) -> None:
    epoch = committee.play_epoch()

    kinds = [type(action) for action in committee.settle()]

    assert kinds.count(Observe) == COUNT
    assert (kinds.count(AssembleBundle), kinds.count(TakeBundle)) == (1, COUNT - 1)
    assert (kinds.count(CastVote), kinds.count(SubmitReport), committee.submissions()) == (QUORUM, 1, 1)
    assert len(_hashes(committee, epoch)) == 1
    assert len(_bundle(committee.first, epoch).observations) == COUNT


def test_committee_when_the_leader_is_silent_then_the_next_one_leads_after_its_slot(committee: CommitteeWorld) -> None:
    epoch = committee.play_epoch()
    leader = _leader(committee, epoch)
    others = [number for number in range(COUNT) if number != leader]
    committee.peers[leader].down = True

    kinds = [type(action) for action in committee.settle(*others)]

    assert (kinds.count(AssembleBundle), committee.submissions()) == (1, 1)
    assert len(_hashes(committee, epoch, *others)) == 1
    committee.peers[leader].down = False
    committee.settle()
    assert committee.hash_of(leader, epoch) == committee.hash_of(others[0], epoch)  # fetched, not made


def test_committee_when_too_few_answer_then_nothing_is_voted_and_it_goes_on_when_they_are_back(
    committee: CommitteeWorld,
) -> None:
    committee.play_epoch()
    for peer in committee.peers[2:]:
        peer.down = True

    kinds = [type(action) for action in committee.settle(0, 1, rounds=6)]
    assert set(kinds) == {Observe}

    for peer in committee.peers[2:]:
        peer.down = False
    committee.settle()
    assert committee.submissions() == 1


def test_committee_when_a_node_reaches_one_member_only_then_all_judge_it_and_too_few_timed_it(
    committee: CommitteeWorld,
) -> None:
    epoch, window = committee.first.epoch, committee.open()
    mine, theirs = committee.commit(window, ALICE), committee.commit(window, BOB, to=(2,))
    committee.gossip()
    seed = committee.draw(window, (mine, theirs))
    committee.prove(mine, seed, ALICE, to=(1,))
    committee.prove(theirs, seed, BOB, to=(3,))
    committee.end_epoch()

    committee.settle()

    bundle = _bundle(committee.first, epoch)
    assert {p.proof.node for p in bundle.proofs} == {ALICE.address, BOB.address}
    timed = [a.node for signed in bundle.observations for a in signed.observation.arrivals]
    assert (timed.count(ALICE.address), timed.count(BOB.address)) == (COUNT, 1)
    verdicts = committee.first.member.archive.published(epoch).facts.verdicts
    assert {v.node for v in verdicts if v.outcome is Outcome.PASSED} == {ALICE.address}


def test_leader_when_it_hides_a_proof_then_nobody_follows_and_the_next_one_leads(committee: CommitteeWorld) -> None:
    """Invariant 49."""
    epoch = committee.play_epoch()
    _observe(committee)
    committee.gossip()
    leader = _leader(committee, epoch)
    cheat = committee.worlds[leader]
    with cheat.engine.begin() as connection:
        connection.execute(delete(proofs).where(proofs.c.node == BOB.address))
    _lead(cheat, epoch)
    assert {p.proof.node for p in _bundle(cheat, epoch).proofs} == {ALICE.address}

    committee.settle()

    honest = committee.worlds[(leader + 1) % COUNT]
    assert {p.proof.node for p in _bundle(honest, epoch).proofs} == {ALICE.address, BOB.address}
    assert committee.submissions() == 1
    assert len(_hashes(committee, epoch)) == 1


@pytest.mark.parametrize("cheat", ["left out", "changed"])
def test_leader_when_it_touches_an_observation_then_that_member_does_not_vote_for_it(
    committee: CommitteeWorld, cheat: str
) -> None:
    epoch = committee.play_epoch()
    _observe(committee)
    committee.gossip()
    leader = _leader(committee, epoch)
    victim = (leader + 1) % COUNT
    world = committee.worlds[leader]
    _lead(world, epoch)
    bundle = _bundle(world, epoch)
    address = committee.worlds[victim].signer.address
    kept = tuple(o for o in bundle.observations if o.observation.member != address)
    changed = next(o for o in bundle.observations if o.observation.member == address)
    lied = replace(changed, observation=replace(changed.observation, arrivals=()))
    forged = replace(bundle, observations=kept if cheat == "left out" else tuple(sorted((*kept, lied), key=_by_member)))
    peer = committee.peers[leader]
    _serve(peer, epoch, bundle_bytes(forged))

    committee.gossip(victim)
    action = committee._tolerant(victim)

    assert not isinstance(action, TakeBundle)
    assert documents.document(committee.worlds[victim].engine, epoch, BUNDLE) is None


def test_member_when_it_signs_two_observations_then_both_are_in_the_bundle_and_none_counts(
    committee: CommitteeWorld,
) -> None:
    epoch = committee.play_epoch()
    _observe(committee)
    liar = (_leader(committee, epoch) + 1) % COUNT
    world = committee.worlds[liar]
    told = kept_observations(world.member.desk, epoch)[0]
    other = replace(told.observation, arrivals=())
    second = SignedObservation(
        observation=other,
        signature=world.signer.sign_typed(world.domain, observation_hash(epoch, other.member, content_hash(other))),
    )
    # One half of the committee hears the first one, the other half the second one.
    committee.gossip(_leader(committee, epoch))
    with world.engine.begin() as connection:
        connection.execute(delete(document_table).where(document_table.c.name.startswith(OBSERVATION)))
    contents = {OBSERVATION + world.signer.address: signed_observation_bytes(second)}
    documents.save_documents(world.engine, epoch, contents)

    committee.settle()

    bundle = _bundle(committee.first, epoch)
    assert [pair.first.observation.member for pair in bundle.double_observations] == [world.signer.address]
    assert world.signer.address not in {o.observation.member for o in bundle.observations}
    assert SECOND_OBSERVATION + world.signer.address in documents.names(
        committee.worlds[(liar + 1) % COUNT].engine, epoch
    )
    assert committee.submissions() == 1


def test_votes_when_two_bundles_were_made_then_they_gather_on_one_report(committee: CommitteeWorld) -> None:
    epoch = committee.play_epoch()
    _observe(committee)
    committee.gossip()
    with committee.worlds[3].engine.begin() as connection:
        connection.execute(delete(document_table).where(document_table.c.name == OBSERVATION + _name(committee, 0)))
    for number in (2, 3):
        _lead(committee.worlds[number], epoch)
        committee.step(number)
    assert len(_hashes(committee, epoch, 2, 3)) == 2

    kinds = [type(action) for action in committee.settle()]

    assert AdoptReport in kinds
    assert committee.submissions() == 1
    assert len(_hashes(committee, epoch)) == 1


def test_member_when_its_database_is_lost_after_it_spoke_then_it_is_handed_its_words_and_votes_the_same(
    committee: CommitteeWorld,
) -> None:
    epoch = committee.play_epoch()
    _observe(committee)
    committee.gossip()
    lost = (_leader(committee, epoch) + 1) % COUNT
    told = documents.document(committee.worlds[lost].engine, epoch, OBSERVATION + _name(committee, lost))
    committee.forget(lost)

    kinds = [type(action) for action in committee.settle()]

    assert Observe not in kinds, "a second observation would be a violation"
    assert documents.document(committee.worlds[lost].engine, epoch, OBSERVATION + _name(committee, lost)) == told
    assert len(_bundle(committee.first, epoch).observations) == COUNT
    assert len(_hashes(committee, epoch)) == 1


def test_member_when_its_words_are_lost_and_the_leader_changed_them_then_it_does_not_vote_for_them(
    committee: CommitteeWorld,
) -> None:
    epoch = committee.play_epoch()
    _observe(committee)
    committee.gossip()
    leader = _leader(committee, epoch)
    lost = (leader + 1) % COUNT
    _lead(committee.worlds[leader], epoch)
    bundle = _bundle(committee.worlds[leader], epoch)
    others = tuple(o for o in bundle.observations if o.observation.member != _name(committee, lost))
    committee.forget(lost)
    for number in range(COUNT):
        committee.peers[number].down = number != leader
    _serve(committee.peers[leader], epoch, bundle_bytes(replace(bundle, observations=others)))
    committee.peers[leader].forged[f"/v1/epochs/{epoch}/evidence"] = (
        b'{"commitments":[],"observations":[],"proofs":[],"receipts":[]}'
    )

    committee.gossip(lost)
    committee._tolerant(lost)

    assert documents.document(committee.worlds[lost].engine, epoch, BUNDLE) is None


LIES = {
    "no JSON": b"\xff\x00",
    "a list": b"[]",
    "another form": b'{"commitments":[]}',
    "endless nesting": b"[" * 100_000,
    "unordered": b'{"receipts":[],"proofs":[],"observations":[],"commitments":[]}',
}


@pytest.mark.parametrize(
    "lie", ["unordered", *(pytest.param(lie, marks=pytest.mark.long) for lie in LIES if lie != "unordered")]
)
def test_peer_when_it_answers_garbage_then_the_others_report_without_it(committee: CommitteeWorld, lie: str) -> None:
    epoch = committee.play_epoch()
    liar = committee.peers[(_leader(committee, epoch) + 1) % COUNT]
    liar.forged |= {f"/v1/epochs/{epoch}/{name}": LIES[lie] for name in ("evidence", MANIFEST, BUNDLE)}

    committee.settle(rounds=25)

    assert committee.submissions() == 1


def test_documents_when_a_member_serves_others_than_the_chain_names_then_the_next_member_is_asked(
    committee: CommitteeWorld,
) -> None:
    epoch = committee.play_epoch()
    away = 3
    committee.peers[away].down = True
    committee.settle(0, 1, 2)
    assert committee.submissions() == 1
    for name in (MANIFEST, BUNDLE, "state", "shards/0"):
        committee.peers[0].forged[f"/v1/epochs/{epoch}/{name}"] = b"{}"

    committee.step(away)

    assert committee.hash_of(away, epoch) == committee.hash_of(1, epoch)
    assert committee.is_public(away, epoch)


def test_documents_when_every_member_lost_another_one_then_each_is_asked_for_what_it_has(
    committee: CommitteeWorld,
) -> None:
    epoch = committee.play_epoch()
    away = 3
    committee.peers[away].down = True
    committee.settle(0, 1, 2)
    for number, name in enumerate((BUNDLE, "state", "shards/0")):
        committee.peers[number].forged[f"/v1/epochs/{epoch}/{name}"] = b"{}"

    committee.step(away)

    assert committee.is_public(away, epoch)


def test_documents_when_nobody_has_the_newest_any_more_then_older_ones_are_fetched_all_the_same(
    committee: CommitteeWorld,
) -> None:
    away = 3
    committee.peers[away].down = True
    first = committee.play_epoch()
    committee.settle(0, 1, 2)
    committee.play_epoch()
    committee.settle(0, 1, 2)
    newest = committee.worlds[away].member.follower.sight.state.roots[-1].epoch
    for peer in committee.peers:
        peer.forged[f"/v1/epochs/{newest}/{MANIFEST}"] = b"{}"

    catch_up(committee.worlds[away].member)

    assert committee.is_public(away, first)
    assert not committee.is_public(away, newest)


def _by_member(signed: SignedObservation) -> bytes:
    return bytes.fromhex(signed.observation.member[2:])


def _name(committee: CommitteeWorld, number: int) -> str:
    return committee.worlds[number].signer.address


def _serve(peer: AsgiPeer, epoch: EpochNumber, bundle: bytes) -> None:
    """Lets a member serve another bundle, with a manifest that names it."""
    import json

    from swarm_chain.core.encoding import canonical_json, sha256_digest, to_hex

    manifest = documents.document(peer.world.engine, epoch, MANIFEST)
    assert manifest is not None
    changed = json.loads(manifest) | {"bundleHash": to_hex(sha256_digest(bundle))}
    peer.forged |= {
        f"/v1/epochs/{epoch}/{MANIFEST}": canonical_json(changed),
        f"/v1/epochs/{epoch}/{BUNDLE}": bundle,
    }

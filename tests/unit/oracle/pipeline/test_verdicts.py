"""A member signs its verdicts with its report, keeps them before anyone sees them, and never signs others."""

import json
from dataclasses import replace

import pytest

from node.prove import final_heads
from node.wire import commitment_body, proof_body
from oracle.consensus.views import AssembleBundle, BuildReport, Observe, Publish
from oracle.judge.windows import commitments_root
from oracle.pipeline.actions import perform
from oracle.pipeline.names import REPORT_HASH
from oracle.publish.verdicts import VERDICTS
from oracle.replay import replay_epoch
from oracle.store import documents
from swarm_chain.core.compute import ComputeChallenge, ComputeWindow
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.model import Commitment
from swarm_chain.core.rowchain import NumpyCompute
from swarm_chain.core.signing import commitment_hash
from swarm_chain.core.units import EpochNumber, Hash32, WindowId
from swarm_chain.core.verdicts import passed_root
from swarm_chain.court.documents import parse_verdicts
from tests.member_world import ALICE, BOB, COMPUTE, HEADS, SHAPE, MemberWorld, seed_of

FINAL_AFTER = 6


def true_heads(world: MemberWorld, window: WindowId) -> bytes:
    """What alice's device computes in a window."""
    asked = ComputeWindow(
        chain_id=world.network.chain_id, beacon=world.network.beacon, window_id=window, window_seed=seed_of(window)
    )
    challenge = ComputeChallenge(window=asked, node=ALICE.address, device=0, shape=SHAPE)
    return final_heads(challenge, NumpyCompute())


@pytest.fixture
def honest(world: MemberWorld) -> Commitment:
    """Alice's commitment of an epoch that is over and bundled: she computed, bob made his rows up."""
    world.log("EpochOracle", "MemberAdded", member=world.signer.address, members=1, quorum=1)
    window = world.open()
    mine, made_up = world.commitment(window, heads=true_heads(world, window)), world.commitment(window, node=BOB)
    for commitment, key in ((mine, ALICE), (made_up, BOB)):
        signed = world.commit(commitment, key=key)
        assert world.client.post("/v1/commitments", json=commitment_body(signed)).status_code == 202
    world.close(window, commitments_root((mine, made_up)))
    seed = world.draw(window)
    for commitment, key, heads in ((mine, ALICE, true_heads(world, window)), (made_up, BOB, HEADS)):
        shown = world.show(world.proof(commitment, seed, heads), key=key)
        assert world.client.post("/v1/proofs", json=proof_body(shown)).status_code == 202
    epoch = world.epoch
    world.chain.mine(seconds=world.network.params.epoch.epoch_for)
    world.chain.mine(blocks=FINAL_AFTER)
    world.follow()
    for action in (Observe(epoch=epoch), AssembleBundle(epoch=epoch)):
        perform(world.member, world.member.follower.sight, action)
    return mine


def build(world: MemberWorld) -> Hash32:
    """Builds the report of epoch 0; gives its hash."""
    perform(world.member, world.member.follower.sight, BuildReport(epoch=EpochNumber(0)))
    kept = documents.document(world.engine, EpochNumber(0), REPORT_HASH)
    assert kept is not None
    return Hash32(kept)


def publish(world: MemberWorld, report_hash: Hash32) -> None:
    """Makes the documents of epoch 0 public."""
    perform(world.member, world.member.follower.sight, Publish(epoch=EpochNumber(0), report_hash=report_hash))


def test_verdicts_when_the_report_is_built_then_kept_and_shown_only_once_it_is_public(
    world: MemberWorld, honest: Commitment
) -> None:
    report_hash = build(world)
    kept = documents.document(world.engine, EpochNumber(0), VERDICTS)
    assert world.client.get("/v1/epochs/0/verdicts").status_code == 404

    publish(world, report_hash)
    answer = world.client.get("/v1/epochs/0/verdicts")

    assert (answer.status_code, answer.content) == (200, kept)
    signed = parse_verdicts(answer.content, world.domain)
    assert signed.passed == (commitment_hash(honest),), "bob's rows are made up"
    assert (signed.verdicts.member, signed.verdicts.draws) == (world.signer.address, COMPUTE.draws)
    assert answer.json()["passedRoot"] == to_hex(passed_root(signed.passed))


def test_verdicts_when_the_report_is_built_again_then_the_same_bytes(world: MemberWorld, honest: Commitment) -> None:
    build(world)
    first = documents.document(world.engine, EpochNumber(0), VERDICTS)

    build(world)

    assert documents.document(world.engine, EpochNumber(0), VERDICTS) == first


def test_verdicts_when_others_were_kept_then_the_member_stops_and_publishes_nothing(
    world: MemberWorld, honest: Commitment
) -> None:
    documents.save_documents(world.engine, EpochNumber(0), {VERDICTS: b"{}"})

    with pytest.raises(InconsistentError, match="other bytes"):
        build(world)

    assert documents.document(world.engine, EpochNumber(0), REPORT_HASH) is None
    assert documents.document(world.engine, EpochNumber(0), VERDICTS) == b"{}"


def test_verdicts_when_there_is_no_key_then_the_report_stands_without(world: MemberWorld, honest: Commitment) -> None:
    dry = replace(world.member, signer=None, sender=None)
    perform(dry, dry.follower.sight, BuildReport(epoch=EpochNumber(0)))
    publish(world, Hash32(documents.document(world.engine, EpochNumber(0), REPORT_HASH) or b""))

    answer = world.client.get("/v1/epochs/0/verdicts")

    assert (answer.status_code, answer.json()["error"]) == (404, "unknown_document")
    assert world.client.get("/v1/epochs/0/manifest").status_code == 200


def test_verdicts_when_a_reader_without_a_key_replays_then_it_finds_the_same_root(
    world: MemberWorld, honest: Commitment
) -> None:
    report_hash = build(world)
    publish(world, report_hash)
    names = ("manifest", "bundle", "state", "shards/0")
    signed = world.client.get(f"/v1/epochs/0/{VERDICTS}").content
    public = {name: world.client.get(f"/v1/epochs/0/{name}").content for name in names}
    sight = world.member.follower.sight
    state = world.member.archive.state_at(world.member.archive.ref_block(EpochNumber(0), sight.finalized))

    found = replay_epoch(public, report_hash, state, None, world.network, [signed])

    assert (found.difference, found.passed_root) == ("", passed_root([commitment_hash(honest)]))
    lie = json.dumps(json.loads(signed) | {"passed": []}).encode()
    again = replay_epoch(public, report_hash, state, None, world.network, [lie])
    assert again.difference.startswith("verdicts are refused")

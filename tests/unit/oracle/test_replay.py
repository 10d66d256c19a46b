"""Replay: everything rebuilt from published bytes; every changed document is named."""

from dataclasses import replace

import pytest

from oracle.publish.bundle import bundle_bytes
from oracle.publish.report import build_report
from oracle.publish.verdicts import sign_verdicts
from oracle.replay import replay_epoch
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import Hash32, Wei
from swarm_chain.core.verdicts import passed_root
from swarm_chain.testing import FakeSigner
from tests.oracle_world import NETWORK, Device, previous_of, provider, scene

PROVIDERS = (provider(1, "alice"), provider(2, "mallory"))
DEVICES = (Device(node="alice"), Device(node="mallory", garbage_from=128))
FIRST = build_report((PLAYED := scene(PROVIDERS, DEVICES)).state, PLAYED.bundle(), None, NETWORK)
BEFORE = previous_of(FIRST)
NEXT = scene(PROVIDERS, DEVICES, epoch=1)
SECOND = build_report(NEXT.state, NEXT.bundle(BEFORE), BEFORE, NETWORK)


def test_replay_when_nothing_was_changed_then_matches() -> None:
    first = replay_epoch(FIRST.documents(), FIRST.report_hash, PLAYED.state, None, NETWORK)
    second = replay_epoch(SECOND.documents(), SECOND.report_hash, NEXT.state, BEFORE, NETWORK)

    assert first.matches
    assert second.matches
    assert second.replayed_hash == SECOND.report_hash


@pytest.mark.parametrize("name", ["state", "shards/0", "manifest"])
def test_replay_when_a_document_was_changed_then_named_with_its_first_byte(name: str) -> None:
    documents = SECOND.documents()
    documents[name] = documents[name][:7] + bytes([documents[name][7] ^ 1]) + documents[name][8:]

    replayed = replay_epoch(documents, SECOND.report_hash, NEXT.state, BEFORE, NETWORK)

    assert replayed.difference == f"{name} differs from byte 7"
    assert not replayed.matches


def test_replay_when_shard_and_manifest_were_changed_then_the_cause_is_named_first() -> None:
    documents = {**SECOND.documents(), "shards/0": b"\0" * 64, "manifest": b"{}"}

    replayed = replay_epoch(documents, SECOND.report_hash, NEXT.state, BEFORE, NETWORK)

    assert [one.document for one in replayed.differences] == ["shards/0", "manifest"]
    assert replayed.difference.startswith("shards/0 differs from byte")


def test_replay_when_a_document_is_missing_or_too_many_then_named() -> None:
    missing, extra = SECOND.documents(), {**SECOND.documents(), "shards/1": b"\0" * 32}
    del missing["state"]

    assert "was not published" in replay_epoch(missing, SECOND.report_hash, NEXT.state, BEFORE, NETWORK).difference
    assert "does not belong" in replay_epoch(extra, SECOND.report_hash, NEXT.state, BEFORE, NETWORK).difference


def test_replay_when_the_chain_holds_another_hash_then_says_so() -> None:
    replayed = replay_epoch(SECOND.documents(), Hash32(b"\1" * 32), NEXT.state, BEFORE, NETWORK)

    assert replayed.difference == "report hash differs from the one on chain"


def test_replay_when_verdicts_are_given_then_checked_against_what_the_replay_passes() -> None:
    member, epoch = FakeSigner("member 1"), SECOND.report.epoch
    honest = sign_verdicts(epoch, SECOND.passed, NETWORK, member)
    lenient = sign_verdicts(epoch, SECOND.passed[:1], NETWORK, member)

    right = replay_epoch(SECOND.documents(), SECOND.report_hash, NEXT.state, BEFORE, NETWORK, [honest])
    wrong = replay_epoch(SECOND.documents(), SECOND.report_hash, NEXT.state, BEFORE, NETWORK, [honest, lenient])

    assert (right.matches, right.passed_root) == (True, passed_root(SECOND.passed))
    assert wrong.difference == f"verdicts leave out commitment {to_hex(SECOND.passed[1])}, which passes"


def test_replay_when_the_report_was_built_on_other_leaves_then_found() -> None:
    richer = replace(BEFORE.leaves[0], cum_reward_wei=Wei(BEFORE.leaves[0].cum_reward_wei + 1))
    forged = replace(BEFORE, leaves=(richer, *BEFORE.leaves[1:]))
    lie = build_report(NEXT.state, NEXT.bundle(forged), forged, NETWORK)

    replayed = replay_epoch(lie.documents(), lie.report_hash, NEXT.state, BEFORE, NETWORK)

    assert replayed.difference.startswith("shards/0 differs from byte")


def test_replay_when_evidence_was_forged_then_refused() -> None:
    bundle = NEXT.bundle(BEFORE)
    commitment = bundle.commitments[0]
    forged = replace(bundle, commitments=(replace(commitment, signature=PLAYED.pool.commitments[0].signature),))

    with pytest.raises(InvalidInputError):
        replay_epoch({"bundle": bundle_bytes(forged)}, SECOND.report_hash, NEXT.state, BEFORE, NETWORK)


def test_replay_when_there_is_no_bundle_then_says_where_to_ask() -> None:
    with pytest.raises(InvalidInputError, match="not published"):
        replay_epoch({}, SECOND.report_hash, NEXT.state, BEFORE, NETWORK)

"""Audit of a range: one lie is found once and named, silence is told from a lie, and the rest is audited all the same."""

import json
from dataclasses import replace

import pytest

from oracle.audit import EpochAudit, Finding, audit_range, verdict_of
from oracle.mirror import Mirrors, Source
from oracle.publish.manifest import report_of
from swarm_chain.core.encoding import canonical_json, report_hash
from swarm_chain.core.errors import InconsistentError, InvalidInputError, UnavailableError
from swarm_chain.core.units import Hash32
from tests.audit_world import AuditWorld, Damage, Shelf, flip


@pytest.fixture(scope="module")
def world() -> AuditWorld:
    """Reports of epochs 0, 1, 3 and 4; epoch 2 has none, and provider 3 joins in epoch 3."""
    made = AuditWorld()
    made.settle()
    made.settle()
    made.pass_epoch()
    made.register(3)
    made.settle()
    made.settle()
    return made


def audited(world: AuditWorld, *sources: Source, first: int = 0, last: int = 4) -> list[EpochAudit]:
    """The audit of a range."""
    return list(audit_range(world.auditor(*sources), first, last))


def findings(found: list[EpochAudit]) -> list[str]:
    """What the audit says of each epoch."""
    return [one.finding.value for one in found]


def test_audit_when_everything_is_true_then_equal_and_the_epoch_without_a_report_is_named(world: AuditWorld) -> None:
    found = audited(world, world.shelf())

    assert findings(found) == ["equal", "equal", "no report", "equal", "equal"]
    assert [one.report_hash for one in found if one.evidence] == [p.report_hash for p in world.published.values()]
    assert not [fault for one in found for fault in (*one.faults, *one.notes)]
    assert verdict_of(found) is None


def test_audit_when_it_begins_in_the_middle_then_the_report_before_is_fetched_and_verified(world: AuditWorld) -> None:
    shelf = world.shelf()

    assert findings(audited(world, shelf, first=3)) == ["equal", "equal"]
    assert (1, "manifest") in shelf.asked
    assert (0, "manifest") not in shelf.asked


def test_audit_when_it_goes_on_then_every_document_is_fetched_once(world: AuditWorld) -> None:
    shelf = world.shelf()

    audited(world, shelf)

    assert len(shelf.asked) == len(set(shelf.asked))


def test_audit_when_one_byte_of_a_shard_is_false_then_epoch_shard_and_byte_are_named(world: AuditWorld) -> None:
    liar = world.shelf()
    liar.damaged[1, "shards/0"] = flip(17)

    found = audited(world, liar)

    assert findings(found) == ["equal", "different", "no report", "equal", "equal"]
    assert any("shards/0 has sha256" in fault and "the manifest names" in fault for fault in found[1].faults)
    assert "shards/0 differs from byte 17" in found[1].faults
    error = verdict_of(found)
    assert isinstance(error, InconsistentError)
    assert error.exit_code == 70
    assert "epoch 1: shards/0 differs from byte 17" in error.message


@pytest.mark.parametrize(
    ("name", "damage", "words"),
    [
        ("manifest", flip(40), "manifest"),
        ("manifest", lambda _: b"{}", "manifest is refused"),
        ("bundle", flip(9), "bundle has sha256"),
        ("bundle", lambda _: b"\xff" * 100, "bundle has sha256"),
        ("state", flip(30), "state differs from byte 30"),
        ("shards/0", lambda content: content[:-1], "shards/0 differs from byte 95"),
        ("shards/0", lambda _: b"", "shards/0 differs from byte 0"),
    ],
)
def test_audit_when_a_document_is_false_then_it_is_named_and_the_others_go_on(
    world: AuditWorld, name: str, damage: Damage, words: str
) -> None:
    liar = world.shelf()
    liar.damaged[3, name] = damage

    found = audited(world, liar)

    assert found[3].finding is Finding.DIFFERENT
    assert any(words in fault for fault in found[3].faults), found[3].faults
    assert findings(found)[:3] == ["equal", "equal", "no report"]


def test_audit_when_several_epochs_are_false_then_all_are_reported(world: AuditWorld) -> None:
    liar = world.shelf()
    liar.damaged[0, "state"] = flip(3)
    liar.damaged[4, "shards/0"] = flip(0)

    found = audited(world, liar)

    assert findings(found) == ["different", "equal", "no report", "equal", "different"]
    error = verdict_of(found)
    assert error is not None
    assert [one["finding"] for one in _epochs(error.values)] == findings(found)


def test_audit_when_the_first_member_lies_and_the_second_does_not_then_equal_and_the_lie_is_noted(
    world: AuditWorld,
) -> None:
    liar, honest = world.shelf("liar"), world.shelf("honest")
    liar.damaged[1, "shards/0"] = flip(17)
    liar.damaged[3, "manifest"] = flip(40)

    found = audited(world, liar, honest)

    assert findings(found) == ["equal", "equal", "no report", "equal", "equal"]
    assert [note.split(":")[0] for note in found[1].notes] == ["liar"]
    assert "shards/0" in found[1].notes[0]


def test_audit_when_the_first_member_is_away_then_the_second_is_asked_first_from_then_on(world: AuditWorld) -> None:
    away, honest = world.shelf("away"), world.shelf("honest")
    away.away = True

    found = audited(world, away, honest)

    assert findings(found) == ["equal", "equal", "no report", "equal", "equal"]
    assert away.asked == [(0, "manifest")]


def test_audit_when_nobody_gives_a_document_then_unavailable_and_exit_4(world: AuditWorld) -> None:
    for name in ("manifest", "bundle", "state", "shards/0"):
        forgetful = world.shelf()
        forgetful.lacks.add((1, name))

        found = audited(world, forgetful, last=1)

        assert findings(found) == ["equal", "unavailable"], name
        error = verdict_of(found)
        assert isinstance(error, UnavailableError)
        assert error.exit_code == 4
        assert f"{name} not given" in error.message


def test_audit_when_verdicts_leave_a_commitment_out_or_are_forged_then_different(world: AuditWorld) -> None:
    forger, thief = world.shelf(), world.shelf()
    forger.signed[1] = canonical_json(json.loads(forger.signed[1]) | {"signature": "0x" + "11" * 65})
    thief.signed[1] = thief.signed[0]

    assert any("verdicts" in fault for fault in audited(world, forger)[1].faults)
    assert any("verdicts are of epoch 0" in fault for fault in audited(world, thief)[1].faults)


def test_audit_when_a_member_signed_no_verdicts_then_equal(world: AuditWorld) -> None:
    reader = world.shelf()
    reader.signed.clear()

    assert findings(audited(world, reader, last=1)) == ["equal", "equal"]


def test_audit_when_the_chain_holds_another_report_then_different() -> None:
    world = AuditWorld()
    world.settle()
    world.chain.program.storage["processed", 0] = Hash32(b"\1" * 32)

    (found,) = audited(world, world.shelf(), last=0)

    assert found.finding is Finding.DIFFERENT
    assert "the chain holds 0x0101" in found.faults[0]


def test_audit_when_a_committee_took_an_earlier_block_then_different() -> None:
    world = AuditWorld()
    world.chain.mine(blocks=3)
    honest = world.settle()
    early = world.chain.block(honest.report.ref_block - 1)
    manifest = json.loads(honest.manifest)
    manifest["refBlock"] = {"number": early.number, "hash": "0x" + early.hash.hex(), "timestamp": early.timestamp}
    shelf = world.shelf()
    shelf.epochs[0]["manifest"] = canonical_json(manifest)
    world.chain.program.storage["processed", 0] = _hash_of(shelf)

    (found,) = audited(world, shelf, last=0)

    assert any("not the chain's last block before the end of epoch 0" in fault for fault in found.faults)


def test_audit_when_a_report_was_disabled_then_the_next_one_stands_on_the_one_before() -> None:
    world = AuditWorld()
    world.settle()
    kept = world.ground
    world.settle()
    world.chain.append("RewardSettlement", "RootDisabled", rootIndex=2)
    world.chain.mine()
    world.ground = kept
    world.settle()

    assert findings(audited(world, world.shelf(), last=2)) == ["equal", "equal", "equal"]


@pytest.mark.parametrize(("first", "last"), [(3, 2), (-1, 2)])
def test_audit_when_the_range_is_empty_then_refused(world: AuditWorld, first: int, last: int) -> None:
    with pytest.raises(InvalidInputError, match="no epoch lies"):
        audit_range(world.auditor(world.shelf()), first, last)


def test_audit_when_the_range_has_not_begun_then_refused_and_the_running_epoch_named(world: AuditWorld) -> None:
    with pytest.raises(InvalidInputError, match="has not begun") as refused:
        audit_range(world.auditor(world.shelf()), 0, 2**32)

    assert f"--to {world.epoch}" in refused.value.fix


def test_audit_when_the_chain_is_away_then_it_ends_there() -> None:
    world = AuditWorld()
    world.settle()
    auditor = world.auditor(world.shelf())
    world.chain.available = False

    with pytest.raises(UnavailableError):
        auditor.audit(0)


def test_mirrors_when_nobody_is_named_then_says_how_to_name_one() -> None:
    with pytest.raises(InvalidInputError) as refused:
        Mirrors(())

    assert refused.value.exit_code == 3
    assert "--from-folder" in refused.value.fix


def test_audit_when_asked_for_json_then_one_entry_an_epoch_without_evidence(world: AuditWorld) -> None:
    entries = [replace(one, evidence=None).as_dict() for one in audited(world, world.shelf())]

    assert [entry["epoch"] for entry in entries] == [0, 1, 2, 3, 4]
    assert entries[1]["reportHash"] == entries[1]["replayedHash"]
    assert entries[2] == {
        "epoch": 2,
        "finding": "no report",
        "reportHash": "0x" + "00" * 32,
        "replayedHash": None,
        "passedRoot": None,
        "differences": [],
        "notes": [],
    }
    assert json.loads(json.dumps(entries)) == entries


def _epochs(values: dict[str, object]) -> list[dict[str, object]]:
    epochs = values["epochs"]
    assert isinstance(epochs, list)
    return epochs


def _hash_of(shelf: Shelf) -> Hash32:
    return report_hash(report_of(shelf.epochs[0]["manifest"]))

"""Storage, from the member's blocks over its HTTP to the node's disk and back to the observation; and who tries to cheat."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from node.audits.exchange import run_audit
from node.audits.storage import HeldStorage
from node.measure.storage import VolumeFile
from node.model import AuditKey
from node.ports import Auditee, AuditQuestion
from oracle.pipeline.audits import audit_measurements, judge_audits
from oracle.pipeline.volume_secret import VolumeSecret
from oracle.pipeline.volumes import Volumes, retire_all
from oracle.store.volumes import newest_volume
from swarm_chain.core.encoding import hash_from_hex, keccak
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.kinds import Category, Outcome
from swarm_chain.core.storageset import BLOCK_BYTES, VolumeKey, block, blocks, key_hash, volume_key, walk
from swarm_chain.core.units import Hash32
from swarm_chain.testing import FakeSigner
from tests.boasts.storage import EmptyStorage
from tests.member_world import ALICE, BOB, MemberWorld
from tests.stored_world import (
    CLAIM_MB,
    HELD_BLOCKS,
    STORAGE,
    StoredWorld,
    answered,
    found,
    next_epoch,
    prepared,
    question_of,
    stored,
    with_root,
)
from tests.unit.oracle.pipeline.test_memory_audit import InProcess

TIMES = 100  # how often the honest node passes in a row, each time under another nonce


@pytest.fixture
def world(tmp_path: Path) -> Iterator[MemberWorld]:
    """A member with alice's and bob's nodes on its chain."""
    made = StoredWorld(tmp_path)
    yield made
    made.close_down()


@pytest.fixture
def node(world: MemberWorld, tmp_path: Path) -> HeldStorage:
    """Alice's node with its first megabytes."""
    auditee = stored(tmp_path / "storage", [world])
    prepared(auditee, world)
    return auditee


def blocks_file(tmp_path: Path) -> Path:
    """The one file of blocks on the node's disk."""
    (path,) = (tmp_path / "storage").glob("*/*/blocks.bin")
    return path


def play(world: MemberWorld, auditee: Auditee, key: FakeSigner = ALICE, slow_ms: int = 5) -> tuple[int, str]:
    """MB a member measures of a node in an epoch of one audited window, and what the judge said."""
    epoch = world.epoch
    world.close(world.open(0))
    window = world.open(1)
    world.close(window)
    audit = AuditKey(window_id=window, device=0, category=Category.STORAGE, member="this one")
    run_audit(audit, InProcess(world, slow_ms), auditee, key, world.domain)
    world.draw(window)
    ((_, finding),) = judge_audits(world.member.auditing)
    sight = world.member.follower.sight
    (measured,) = audit_measurements(world.network, sight.state, world.member.auditing, epoch)
    assert (measured.node, measured.category) == (key.address, Category.STORAGE)
    return measured.units or 0, finding.reason


@cache
def _blocks_of(key: VolumeKey) -> tuple[bytes, ...]:
    return tuple(block(key, index) for index in range(HELD_BLOCKS))


def kept_blocks(world: MemberWorld) -> tuple[bytes, ...]:
    """What an honest node has on its disk, without the disk's time."""
    current = world.member.volumes.current(ALICE.address)
    assert current is not None
    return _blocks_of(current[1])


def code_of(world: MemberWorld, auditee: Auditee) -> str:
    """Code of the member's refusal to audit a node."""
    with pytest.raises(InvalidInputError) as caught:
        play(world, auditee)
    return caught.value.code


def test_storage_when_held_then_what_is_held_is_measured(world: MemberWorld, node: HeldStorage) -> None:
    assert play(world, node) == (CLAIM_MB, "")


def test_storage_when_held_then_a_hundred_audits_in_a_row_pass(world: MemberWorld, node: HeldStorage) -> None:
    findings = [found(world, answered(world, node, number)) for number in range(TIMES)]

    assert {(one.outcome, one.units) for one in findings} == {(Outcome.PASSED, CLAIM_MB)}


def test_storage_when_grown_in_the_next_epoch_then_more_is_measured(world: MemberWorld, tmp_path: Path) -> None:
    auditee = stored(tmp_path / "storage", [world], claim_mb=3)
    prepared(auditee, world)
    next_epoch(world)
    prepared(auditee, world)

    assert play(world, auditee) == (3, "")


def test_storage_when_nothing_is_kept_then_nothing(world: MemberWorld, tmp_path: Path) -> None:
    liar = EmptyStorage(stored(tmp_path / "storage", [world]), tmp_path / "storage")
    prepared(liar, world)

    assert blocks_file(tmp_path).stat().st_blocks == 0
    assert play(world, liar) == (0, "wrong_digest")
    assert {found(world, answered(world, liar, number)).outcome for number in range(TIMES)} == {Outcome.FAILED}


def test_storage_when_late_then_nothing(world: MemberWorld, node: HeldStorage) -> None:
    assert play(world, node, slow_ms=STORAGE.limit_ms + 1) == (0, "late")


def test_storage_when_at_the_last_millisecond_then_in_time(world: MemberWorld, node: HeldStorage) -> None:
    assert play(world, node, slow_ms=STORAGE.limit_ms) == (CLAIM_MB, "")


def recomputed(world: MemberWorld, node: HeldStorage, question: AuditQuestion) -> Hash32:
    """Blocks from a generator with everything but the secret: any key a node could think of."""
    audit = node.audit_of(question)
    key = volume_key(keccak(b"public" + question.nonce), audit.volume)
    return walk(audit, lambda index: block(key, index))


def from_the_key_hash(world: MemberWorld, node: HeldStorage, question: AuditQuestion) -> Hash32:
    """Blocks from what the member publishes of its key."""
    audit = node.audit_of(question)
    kept = newest_volume(world.engine, world.signer.address, ALICE.address)
    assert kept is not None
    key = VolumeKey(volume=audit.volume, raw=kept.key_hash)
    return walk(audit, lambda index: block(key, index))


def without_a_part(world: MemberWorld, node: HeldStorage, question: AuditQuestion) -> Hash32:
    """Half of the blocks was dropped: 24 reads hit none of them once in 17 million."""
    audit, content = node.audit_of(question), kept_blocks(world)
    return walk(audit, lambda index: bytes(BLOCK_BYTES) if index % 2 else content[index])


def from_digests(world: MemberWorld, node: HeldStorage, question: AuditQuestion) -> Hash32:
    """Of each block 32 bytes were kept instead of 4096."""
    audit, content = node.audit_of(question), kept_blocks(world)
    return walk(audit, lambda index: keccak(content[index]) * 128)


@pytest.mark.parametrize("cheat", [recomputed, from_the_key_hash, without_a_part, from_digests])
def test_storage_when_blocks_are_made_up_then_never_passed_while_the_honest_node_always_is(
    world: MemberWorld, node: HeldStorage, cheat: Callable[[MemberWorld, HeldStorage, AuditQuestion], Hash32]
) -> None:
    for number in range(TIMES):
        audit = answered(world, node, number)
        false = with_root(audit, cheat(world, node, question_of(world, node, number)))

        assert found(world, audit).outcome is Outcome.PASSED
        assert (found(world, false).outcome, found(world, false).reason) == (Outcome.FAILED, "wrong_digest")


def test_storage_when_one_disk_serves_two_nodes_then_only_its_own_copy_counts(
    world: MemberWorld, node: HeldStorage, tmp_path: Path
) -> None:
    other = stored(tmp_path / "bob", [world], BOB)
    prepared(other, world)
    with VolumeFile(tmp_path / "check", node.audit_of(question_of(world, node)).volume, keep_free_bytes=0) as copy:
        copy.append(0, blocks_file(tmp_path).read_bytes())
        for number in range(TIMES):
            audit = answered(world, other, number, BOB)
            question = question_of(world, other, number)
            borrowed = walk(other.audit_of(question), copy.read)

            assert found(world, audit).outcome is Outcome.PASSED
            assert found(world, with_root(audit, borrowed)).reason == "wrong_digest"


def test_storage_when_an_old_answer_is_replayed_then_nothing(world: MemberWorld, node: HeldStorage) -> None:
    old = answered(world, node, TIMES)
    for number in range(TIMES):
        audit = answered(world, node, number)

        assert found(world, audit).outcome is Outcome.PASSED
        assert found(world, with_root(audit, old.root or audit.nonce)).reason == "wrong_digest"


@pytest.mark.parametrize("lie_mb", [-1, 1, 1000])
def test_claim_when_not_what_is_confirmed_then_refused_with_the_right_number(
    world: MemberWorld, node: HeldStorage, lie_mb: int
) -> None:
    class Boaster(EmptyStorage):
        """Claims another number than it confirmed."""

        def claim(self, _member: object) -> int:
            return CLAIM_MB + lie_mb

    with pytest.raises(InvalidInputError, match=f"{CLAIM_MB} MB are confirmed") as caught:
        play(world, Boaster(node, Path()))
    assert caught.value.code == "other_confirmed"


def test_claim_when_larger_than_any_volume_then_refused(world: MemberWorld, node: HeldStorage) -> None:
    class Boaster(EmptyStorage):
        """Claims a petabyte."""

        def claim(self, _member: object) -> int:
            return 10**9

    assert code_of(world, Boaster(node, Path())) == "bad_claim"


def test_storage_when_a_byte_rots_then_nothing_but_before_and_after_it_is_mended_all(
    world: MemberWorld, node: HeldStorage, tmp_path: Path
) -> None:
    def flip_all() -> None:
        path = blocks_file(tmp_path)
        content = bytearray(path.read_bytes())
        for place in range(0, len(content), BLOCK_BYTES):
            content[place + 17] ^= 1
        with path.open("r+b") as disk:  # in place: the node has the file open
            disk.write(content)
            disk.flush()
            os.fsync(disk.fileno())

    outcomes = []
    for number in range(3):
        outcomes.append(found(world, answered(world, node, number)).outcome)
        flip_all()

    assert outcomes == [Outcome.PASSED, Outcome.FAILED, Outcome.PASSED]


def test_storage_when_the_file_is_cut_then_the_node_says_so_itself(
    world: MemberWorld, node: HeldStorage, tmp_path: Path
) -> None:
    os.truncate(blocks_file(tmp_path), BLOCK_BYTES)

    with pytest.raises(Exception, match="fewer blocks") as caught:
        node.answer(question_of(world, node))

    assert getattr(caught.value, "code", "") == "lost_blocks"


def test_storage_when_the_member_gave_its_secret_away_then_its_audits_prove_nothing(
    world: MemberWorld, node: HeldStorage
) -> None:
    # Documented: what one member says must not count alone. The median over members is what bounds it.
    secret = world.member.volumes.secret
    assert secret is not None
    audit = answered(world, node)
    asked = node.audit_of(question_of(world, node))
    key = secret.key_of(asked.volume)

    assert found(world, with_root(audit, walk(asked, lambda index: block(key, index)))).outcome is Outcome.PASSED


def test_judge_when_the_secret_is_missing_then_nobody_has_failed(world: MemberWorld, node: HeldStorage) -> None:
    audit = answered(world, node)
    before = world.member.volumes
    gone = Volumes(desk=before.desk, member=before.member, secret=None)

    with pytest.raises(UnavailableError) as caught:
        gone.current(audit.node)

    assert caught.value.code == "storage_secret_missing"


def test_volumes_when_the_secret_changed_then_the_old_ones_count_no_more(world: MemberWorld, node: HeldStorage) -> None:
    audit = answered(world, node)
    before = world.member.volumes
    other = Volumes(desk=before.desk, member=before.member, secret=VolumeSecret(raw=keccak(b"another secret")))

    assert before.current(audit.node) is not None
    assert other.current(audit.node) is None


def test_volumes_when_retired_then_the_key_is_shown_and_anybody_can_repeat_the_audit(
    world: MemberWorld, node: HeldStorage, tmp_path: Path
) -> None:
    audit, asked = answered(world, node), node.audit_of(question_of(world, node))
    content = blocks_file(tmp_path).read_bytes()
    (before,) = world.client.get(f"/v1/volumes/{ALICE.address}").json()["volumes"]
    assert (before["key"], before["confirmed"], before["left"]) == (
        None,
        HELD_BLOCKS,
        STORAGE.grow_blocks - HELD_BLOCKS,
    )

    assert retire_all(world.member.volumes) == 1

    (shown,) = world.client.get(f"/v1/volumes/{ALICE.address}").json()["volumes"]
    key = VolumeKey(volume=asked.volume, raw=hash_from_hex(shown["key"]))
    assert key_hash(key) == hash_from_hex(before["keyHash"])
    assert walk(asked, lambda index: block(key, index)) == audit.root
    assert blocks(key, 0, HELD_BLOCKS) == content
    assert (found(world, audit).outcome, found(world, audit).reason) == (Outcome.MISSING, "no_volume")
    assert code_of(world, node) == "other_confirmed"


def test_audit_when_the_member_was_restarted_in_between_then_missing(world: MemberWorld, node: HeldStorage) -> None:
    audit = answered(world, node)

    assert found(world, replace(audit, elapsed_ms=None)).reason == "other_clock"
    assert found(world, replace(audit, root=None)).reason == "no_answer"

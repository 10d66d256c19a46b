"""What a node keeps for its members: confirmed, survived, begun anew where it is lost, one member apart from the other."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from node.audits.claims import ClaimGrounds, auditees
from node.audits.storage import HeldStorage
from node.config import load_settings
from node.ports import GivenVolume
from node.volume_client import HttpOracleVolumes
from swarm_chain.core.errors import SwarmError, UnavailableError
from swarm_chain.core.kinds import Category, Outcome
from swarm_chain.core.units import Address, Signature
from swarm_chain.core.volumes import BlocksConfirmed, BlocksRequest, VolumeRequest
from tests.member_world import ALICE
from tests.stored_world import (
    CLAIM_MB,
    HELD_BLOCKS,
    SEED,
    STORAGE,
    StoredWorld,
    answered,
    found,
    next_epoch,
    prepared,
    question_of,
    stored,
    volumes_client,
)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[StoredWorld]:
    """A member."""
    made = StoredWorld(tmp_path)
    yield made
    made.close_down()


@dataclass(slots=True)
class Flaky:
    """A member that is away, or gives out a number of answers with blocks and no more."""

    member: HttpOracleVolumes
    away: bool = False
    answers: int = 10**6
    deaf: bool = False

    def address(self) -> Address:
        self._require_here()
        return self.member.address()

    def open(self, request: VolumeRequest, signature: Signature) -> GivenVolume:
        self._require_here()
        return self.member.open(request, signature)

    def blocks(self, request: BlocksRequest, signature: Signature) -> bytes:
        self.answers -= 1
        if self.answers < 0:
            raise UnavailableError("broken off", code="oracle_unreachable")
        return self.member.blocks(request, signature)

    def confirm(self, confirmed: BlocksConfirmed, signature: Signature) -> int:
        if self.deaf:
            raise UnavailableError("broken off", code="oracle_unreachable")
        return self.member.confirm(confirmed, signature)

    def close(self) -> None:
        self.member.close()

    def _require_here(self) -> None:
        if self.away:
            raise UnavailableError("away", code="oracle_unreachable")


def with_members(folder: Path, world: StoredWorld, *members: Flaky, claim_mb: int = CLAIM_MB) -> HeldStorage:
    """What a node keeps for members that are not always there."""
    like = stored(folder, [world], claim_mb=claim_mb)
    return HeldStorage(like._claim, ALICE, members)


def test_volume_when_the_node_restarts_then_kept_and_not_fetched_again(world: StoredWorld, tmp_path: Path) -> None:
    first = stored(tmp_path / "storage", [world])
    prepared(first, world)
    first.release()
    again = with_members(tmp_path / "storage", world, Flaky(volumes_client(world), answers=0))

    prepared(again, world)

    assert again.claim(world.signer.address) == CLAIM_MB
    assert found(world, answered(world, again)).outcome is Outcome.PASSED


def test_volume_when_broken_off_before_it_was_confirmed_then_the_next_start_confirms_and_goes_on(
    world: StoredWorld, tmp_path: Path
) -> None:
    broken = with_members(tmp_path / "storage", world, Flaky(volumes_client(world), answers=1, deaf=True))
    with pytest.raises(SwarmError):  # as after a kill: blocks are on disk, nobody knows of them
        broken._prepare(broken._members[0])
    assert broken.claim(world.signer.address) == 0

    resumed = stored(tmp_path / "storage", [world])
    prepared(resumed, world)

    (kept,) = world.client.get(f"/v1/volumes/{ALICE.address}").json()["volumes"]
    assert (kept["sent"], kept["confirmed"]) == (HELD_BLOCKS, HELD_BLOCKS), "nothing was sent twice"
    assert kept["left"] == STORAGE.grow_blocks - HELD_BLOCKS
    assert found(world, answered(world, resumed)).outcome is Outcome.PASSED


def test_volume_when_it_takes_more_than_the_first_blocks_then_the_rest_is_confirmed_by_the_next_epoch(
    world: StoredWorld, tmp_path: Path
) -> None:
    auditee = stored(tmp_path / "storage", [world], first_blocks=300)
    prepared(auditee, world)
    assert auditee.claim(world.signer.address) == 1
    assert found(world, answered(world, auditee)).units == 1

    next_epoch(world)
    prepared(auditee, world)

    assert auditee.claim(world.signer.address) == CLAIM_MB
    assert found(world, answered(world, auditee)).units == CLAIM_MB


def test_volumes_when_one_member_is_away_then_the_others_are_grown_and_it_is_tried_again_with_the_audit(
    world: StoredWorld, tmp_path: Path
) -> None:
    folder = tmp_path / "second"
    folder.mkdir()
    other = StoredWorld(folder, world, "oracle 2")
    away = Flaky(volumes_client(world), away=True)
    auditee = with_members(tmp_path / "storage", world, away, Flaky(volumes_client(other)), claim_mb=2 * CLAIM_MB)

    prepared(auditee, world)

    assert auditee.claim(other.signer.address) == CLAIM_MB
    assert found(other, answered(other, auditee)).outcome is Outcome.PASSED
    away.away = False
    assert auditee.claim(world.signer.address) == 0
    prepared(auditee, world)
    assert auditee.claim(world.signer.address) == CLAIM_MB
    assert auditee.claim(ALICE.address) == 0, "no member of this node"
    other.close_down()


def test_volumes_when_all_members_are_away_then_it_is_to_be_prepared_again(world: StoredWorld, tmp_path: Path) -> None:
    auditee = with_members(tmp_path / "storage", world, Flaky(volumes_client(world), away=True))

    with pytest.raises(UnavailableError) as caught:
        auditee.prepare(world.epoch, SEED, 0)

    assert caught.value.code == "no_volume"


def test_volume_when_its_blocks_are_lost_then_a_new_one_and_the_old_folder_goes(
    world: StoredWorld, tmp_path: Path
) -> None:
    first = stored(tmp_path / "storage", [world])
    prepared(first, world)
    first.release()
    (path,) = (tmp_path / "storage").glob("*/*/blocks.bin")
    os.truncate(path, 4096)
    next_epoch(world)
    again = stored(tmp_path / "storage", [world])

    prepared(again, world)

    (folder,) = (tmp_path / "storage" / world.signer.address).iterdir()
    assert folder.name.startswith("1-")
    assert found(world, answered(world, again)).units == CLAIM_MB


def test_volume_when_the_disk_is_not_mounted_then_nothing_is_begun_anew(world: StoredWorld, tmp_path: Path) -> None:
    first = stored(tmp_path / "storage", [world])
    prepared(first, world)
    first.release()
    (tmp_path / "storage").rename(tmp_path / "elsewhere")
    next_epoch(world)

    with pytest.raises(UnavailableError, match="is not there"):
        prepared(stored(tmp_path / "storage", [world]), world)

    (tmp_path / "elsewhere").rename(tmp_path / "storage")
    back = stored(tmp_path / "storage", [world])
    prepared(back, world)
    assert found(world, answered(world, back)).units == CLAIM_MB


def test_volume_when_given_up_for_a_smaller_one_then_its_room_comes_back(world: StoredWorld, tmp_path: Path) -> None:
    first = stored(tmp_path / "storage", [world])
    prepared(first, world)
    first.release()
    member = tmp_path / "storage" / world.signer.address
    for volume in member.iterdir():
        shutil.rmtree(volume)
    next_epoch(world)
    smaller = stored(tmp_path / "storage", [world], claim_mb=1)

    prepared(smaller, world)

    assert smaller.claim(world.signer.address) == 1
    assert sum(path.stat().st_size for path in member.glob("*/blocks.bin")) == 245 * 4096


def test_answer_when_nothing_is_held_for_the_member_then_it_says_so(world: StoredWorld, tmp_path: Path) -> None:
    auditee = stored(tmp_path / "storage", [world])
    prepared(auditee, world)
    question = question_of(world, auditee)
    auditee.release()

    with pytest.raises(SwarmError) as caught:
        auditee.answer(question)

    assert caught.value.code == "not_prepared"
    assert auditee.openings(question, SEED) == []


@pytest.mark.parametrize(("megabytes", "claimed"), [(0, False), (5, True)])
def test_claims_when_storage_is_offered_then_it_is_audited(
    world: StoredWorld, tmp_path: Path, megabytes: int, claimed: bool
) -> None:
    settings = load_settings(
        {"node_folder": tmp_path, "storage_mb": megabytes, "oracle_url": "http://one.oracle,http://two.oracle"}
    )
    grounds = ClaimGrounds(
        settings=settings, signer=ALICE, deployment=world.chain.deployment, params=world.network.params
    )

    found_auditees = auditees(grounds)

    assert (Category.STORAGE in found_auditees) == claimed
    assert settings.volumes_folder == tmp_path / "storage"
    for one in found_auditees.values():
        one.release()

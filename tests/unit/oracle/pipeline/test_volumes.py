"""Volumes over the member's HTTP: who gets one, which blocks leave, what may be confirmed."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from oracle.pipeline.volumes import Volumes, retire_all
from oracle.store.volumes import newest_volume, volumes_of
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.messages import Json
from swarm_chain.core.storageset import BLOCK_BYTES, blocks
from swarm_chain.core.units import Hash32
from swarm_chain.core.volumes import (
    BlocksConfirmed,
    BlocksRequest,
    VolumeRequest,
    blocks_hash,
    confirmed_hash,
    request_hash,
)
from swarm_chain.testing import FakeSigner
from tests.member_world import ALICE, BOB, STRANGER, MemberWorld, other_domain
from tests.stored_world import STORAGE, StoredWorld, next_epoch


@pytest.fixture
def world(tmp_path: Path) -> Iterator[MemberWorld]:
    """A member with alice's and bob's nodes on its chain."""
    made = StoredWorld(tmp_path)
    yield made
    made.close_down()


def ask(
    world: MemberWorld, key: FakeSigner = ALICE, domain: Hash32 | None = None, **changes: object
) -> tuple[int, Json]:
    """Status and answer of POST /v1/volumes."""
    made = VolumeRequest(node=ALICE.address, member=world.signer.address, index=0)
    request = replace(made, **changes)  # type: ignore[arg-type]  # the changes of a test
    signature = key.sign_typed(domain or world.domain, request_hash(request))
    fields = {"node": request.node, "member": request.member, "index": request.index}
    response = world.client.post("/v1/volumes", json={"request": fields, "signature": to_hex(signature)})
    return response.status_code, response.json()


def fetch(world: MemberWorld, volume: str, first: int, count: int, key: FakeSigner = ALICE) -> tuple[int, bytes]:
    """Status and bytes of GET /v1/volumes/{id}/blocks."""
    request = BlocksRequest(volume_id=Hash32(bytes.fromhex(volume[2:])), first=first, count=count)
    signature = to_hex(key.sign_typed(world.domain, blocks_hash(request)))
    path = f"/v1/volumes/{volume}/blocks?first={first}&count={count}"
    response = world.client.get(path, headers={"swarm-signature": signature})
    return response.status_code, response.content


def confirm(world: MemberWorld, volume: str, count: int, key: FakeSigner = ALICE) -> tuple[int, Json]:
    """Status and answer of POST /v1/volumes/{id}/confirmations."""
    said = BlocksConfirmed(volume_id=Hash32(bytes.fromhex(volume[2:])), blocks=count)
    signature = to_hex(key.sign_typed(world.domain, confirmed_hash(said)))
    body = {"confirmation": {"volume": volume, "blocks": count}, "signature": signature}
    response = world.client.post(f"/v1/volumes/{volume}/confirmations", json=body)
    return response.status_code, response.json()


def test_volume_when_asked_again_then_the_same_one(world: MemberWorld) -> None:
    first, again = ask(world), ask(world)

    assert first == again
    assert (first[0], first[1]["index"], first[1]["left"]) == (200, 0, STORAGE.grow_blocks)
    assert first[1]["key"] is None


@pytest.mark.parametrize(
    ("key", "changes", "code"),
    [
        (STRANGER, {"node": STRANGER.address}, "unknown_node"),
        (BOB, {}, "wrong_signer"),
        (ALICE, {"member": BOB.address}, "other_member"),
        (ALICE, {"index": 1}, "bad_index"),
        (ALICE, {"index": 2**32 - 1}, "bad_index"),
    ],
)
def test_volume_when_wrongly_asked_for_then_refused_and_none_is_opened(
    world: MemberWorld, key: FakeSigner, changes: dict[str, object], code: str
) -> None:
    status, said = ask(world, key, None, **changes)

    assert (status, said["error"]) == (422, code)
    assert newest_volume(world.engine, world.signer.address, ALICE.address) is None


def test_volume_when_signed_for_another_chain_then_refused(world: MemberWorld) -> None:
    assert ask(world, domain=other_domain(world, chain_id=1))[1]["error"] == "wrong_signer"


def test_volume_when_begun_anew_then_in_another_epoch_and_the_old_key_is_shown(world: MemberWorld) -> None:
    old = ask(world)[1]
    assert (ask(world, index=1)[0], ask(world, index=1)[1]["error"]) == (503, "volume_young")
    next_epoch(world)

    status, new = ask(world, index=1)

    assert (status, new["index"]) == (200, 1)
    assert new["keyHash"] != old["keyHash"]
    assert ask(world, index=0)[1] == new, "an old request changes nothing"
    kept = world.client.get(f"/v1/volumes/{ALICE.address}").json()["volumes"]
    assert [(one["index"], one["retired"], one["key"] is not None) for one in kept] == [
        (1, False, False),
        (0, True, True),
    ]
    assert fetch(world, str(old["volumeId"]), 0, 1)[0] == 422


def test_blocks_when_asked_for_then_those_of_the_key(world: MemberWorld) -> None:
    volume = str(ask(world)[1]["volumeId"])
    found = world.member.volumes.current(ALICE.address)
    assert found is not None

    status, content = fetch(world, volume, 0, 3)

    assert (status, content) == (200, blocks(found[1], 0, 3))
    assert fetch(world, volume, 1, 1) == (200, content[BLOCK_BYTES : 2 * BLOCK_BYTES])


def test_blocks_when_confirmed_then_never_sent_again(world: MemberWorld) -> None:
    volume = str(ask(world)[1]["volumeId"])
    fetch(world, volume, 0, 4)
    confirm(world, volume, 3)

    status, said = fetch(world, volume, 2, 1)

    assert (status, b"not_next" in said) == (422, True)
    assert fetch(world, volume, 3, 1)[0] == 200


@pytest.mark.parametrize(("first", "count", "status"), [(5, 1, 422), (0, 257, 422), (0, 0, 422), (-1, 1, 422)])
def test_blocks_when_out_of_order_or_too_many_then_refused(
    world: MemberWorld, first: int, count: int, status: int
) -> None:
    volume = str(ask(world)[1]["volumeId"])
    words = f"/v1/volumes/{volume}/blocks?first={first}&count={count}"
    if first < 0:
        assert world.client.get(words, headers={"swarm-signature": "0x" + "11" * 65}).status_code == status
    else:
        assert fetch(world, volume, first, count)[0] == status


def test_blocks_when_the_epochs_share_is_sent_then_the_rest_comes_with_the_next(world: MemberWorld) -> None:
    volume = str(ask(world)[1]["volumeId"])
    for first in range(0, STORAGE.grow_blocks, 256):
        assert fetch(world, volume, first, 256)[0] == 200

    status, said = fetch(world, volume, 0, 1)
    assert (status, b"grown_enough" in said) == (503, True)
    assert ask(world)[1]["left"] == 0

    next_epoch(world)
    assert ask(world)[1]["left"] == STORAGE.grow_blocks
    assert fetch(world, volume, STORAGE.grow_blocks, 1)[0] == 200


def test_blocks_when_another_node_asks_then_refused_and_nothing_is_booked(world: MemberWorld) -> None:
    volume = str(ask(world)[1]["volumeId"])

    assert fetch(world, volume, 0, 1, BOB)[0] == 422
    assert world.client.get(f"/v1/volumes/{volume}/blocks?first=0&count=1").status_code == 422
    assert fetch(world, to_hex(keccak(b"no volume")), 0, 1)[0] == 404
    assert ask(world)[1]["sent"] == 0


def test_blocks_when_asked_for_without_end_then_the_rate_limit_answers(world: MemberWorld) -> None:
    path = f"/v1/volumes/{to_hex(keccak(b'no volume'))}/blocks?first=0&count=1"
    unsigned = {"swarm-signature": "0x" + "11" * 65}

    statuses = {world.client.get(path, headers=unsigned).status_code for _ in range(401)}

    assert statuses == {404, 429}


def test_confirmation_when_above_what_was_sent_then_refused_and_when_older_then_nothing_changes(
    world: MemberWorld,
) -> None:
    volume = str(ask(world)[1]["volumeId"])
    fetch(world, volume, 0, 4)

    for count in (5, 2**40):
        status, said = confirm(world, volume, count)
        assert (status, said["error"]) == (422, "not_sent")
    assert confirm(world, volume, 4)[1]["confirmed"] == 4
    assert confirm(world, volume, 2)[1]["confirmed"] == 4
    assert confirm(world, volume, 4, BOB)[1]["error"] == "wrong_signer"


@pytest.mark.parametrize("lost", [False, True], ids=["kept", "lost"])
def test_volumes_when_all_end_then_keys_are_shown_unless_the_secret_is_lost(world: MemberWorld, lost: bool) -> None:
    for node in (ALICE, BOB):
        assert ask(world, node, node=node.address)[0] == 200
    volumes = _no_secret(world.member.volumes) if lost else world.member.volumes

    assert retire_all(volumes) == 2
    assert retire_all(volumes) == 0, "what has ended does not end again"

    kept = [volumes_of(world.engine, node.address, 1)[0] for node in (ALICE, BOB)]
    assert [(one.retired, one.key is None) for one in kept] == [(True, lost)] * 2


def _no_secret(volumes: Volumes) -> Volumes:
    return replace(volumes, secret=None)


def _no_member(volumes: Volumes) -> Volumes:
    return replace(volumes, member=None)


@pytest.mark.parametrize(("change", "code"), [(_no_secret, "storage_secret_missing"), (_no_member, "dry_run")])
def test_volume_when_the_member_lacks_what_it_needs_then_unavailable_not_refused(
    world: MemberWorld, change: Callable[[Volumes], Volumes], code: str
) -> None:
    ask(world)

    with pytest.raises(UnavailableError) as caught:
        change(world.member.volumes).current(ALICE.address)

    assert caught.value.code == code


def test_volume_when_another_process_acts_then_no_blocks_leave_this_one(world: MemberWorld) -> None:
    volume = str(ask(world)[1]["volumeId"])
    world.successor("boot 2")

    status, said = fetch(world, volume, 0, 1)

    assert (status, b"standby" in said) == (503, True)

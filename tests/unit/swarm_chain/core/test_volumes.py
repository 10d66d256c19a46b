"""What may be sent and confirmed of a volume: in order, within the epoch's share, never what audits may ask for."""

from dataclasses import replace

import pytest

from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError, SwarmError
from swarm_chain.core.storageset import StorageParams
from swarm_chain.core.units import EpochNumber
from swarm_chain.core.volumes import (
    MAX_SENT_AT_ONCE,
    BlocksConfirmed,
    BlocksRequest,
    Ledger,
    VolumeRequest,
    blocks_hash,
    confirm,
    confirmed_hash,
    may_send,
    request_hash,
    send,
    volume_id,
)
from tests.storage_world import ALICE, MALLORY, MEMBER, PARAMS, VOLUME

EPOCH, NEXT = EpochNumber(7), EpochNumber(8)
GROWN = Ledger(confirmed=8, sent=12, sent_epoch=EPOCH, sent_now=12)


def asked(first: int, count: int) -> BlocksRequest:
    """A request for blocks of the volume."""
    return BlocksRequest(volume_id=volume_id(VOLUME), first=first, count=count)


def test_volume_when_fetched_epoch_by_epoch_then_it_grows_by_its_share_until_it_is_full() -> None:
    params = replace(PARAMS, grow_blocks=16, max_blocks=40)
    ledger, sizes = Ledger(), []
    for epoch in range(4):
        while count := min(5, may_send(ledger, EpochNumber(epoch), params)):
            ledger = confirm(send(ledger, asked(ledger.sent, count), EpochNumber(epoch), params), ledger.sent + count)
        sizes.append(ledger.confirmed)

    assert sizes == [16, 32, 40, 40]


def test_send_when_what_was_sent_is_lost_on_the_way_then_again_but_it_counts_again() -> None:
    again = send(GROWN, asked(8, 4), EPOCH, PARAMS)

    assert again == replace(GROWN, sent_now=16)
    with pytest.raises(SwarmError) as caught:
        send(again, asked(8, 1), EPOCH, PARAMS)
    assert caught.value.code == "grown_enough"
    assert send(again, asked(8, 16), NEXT, PARAMS) == Ledger(confirmed=8, sent=24, sent_epoch=NEXT, sent_now=16)


@pytest.mark.parametrize(
    ("first", "count", "code"),
    [
        (7, 1, "not_next"),  # confirmed: whoever could fetch it again would not have to keep it
        (0, 4, "not_next"),
        (13, 1, "not_next"),
        (8, 5, "grown_enough"),
        (8, 0, "bad_blocks"),
        (8, MAX_SENT_AT_ONCE + 1, "bad_blocks"),
        (8, -1, "bad_blocks"),
    ],
)
def test_send_when_not_the_next_blocks_or_too_many_then_refused(first: int, count: int, code: str) -> None:
    with pytest.raises(SwarmError) as caught:
        send(GROWN, asked(first, count), EPOCH, PARAMS)

    assert caught.value.code == code


def test_send_when_beyond_the_largest_volume_then_refused() -> None:
    params: StorageParams = replace(PARAMS, max_blocks=14)

    assert may_send(GROWN, NEXT, params) == 6
    assert send(GROWN, asked(12, 2), NEXT, params).sent == 14
    with pytest.raises(InvalidInputError):
        send(GROWN, asked(12, 3), NEXT, params)


def test_confirm_when_repeated_or_older_then_nothing_changes() -> None:
    assert confirm(GROWN, 12).confirmed == 12
    for blocks in (8, 3, 0):
        assert confirm(GROWN, blocks) == GROWN


@pytest.mark.parametrize("blocks", [13, 2**60, -1])
def test_confirm_when_more_than_was_sent_then_refused(blocks: int) -> None:
    with pytest.raises(InvalidInputError) as caught:
        confirm(GROWN, blocks)

    assert caught.value.code == "not_sent"


def test_messages_when_any_field_differs_then_another_hash() -> None:
    request = VolumeRequest(node=ALICE, member=MEMBER, index=0)
    said = BlocksConfirmed(volume_id=volume_id(VOLUME), blocks=1)
    hashes = [
        *map(request_hash, (request, replace(request, node=MALLORY), replace(request, member=MALLORY))),
        request_hash(replace(request, index=1)),
        *map(blocks_hash, (asked(0, 1), asked(1, 1), asked(0, 2), replace(asked(0, 1), volume_id=keccak(b"other")))),
        *map(confirmed_hash, (said, replace(said, blocks=2), replace(said, volume_id=keccak(b"other")))),
    ]

    assert len(set(hashes)) == len(hashes)


def test_volume_id_when_of_another_member_node_epoch_or_index_then_another() -> None:
    others = [replace(VOLUME, member=ALICE), replace(VOLUME, node=MALLORY), replace(VOLUME, index=1)]
    others.append(replace(VOLUME, epoch=NEXT))

    assert len({volume_id(one) for one in (VOLUME, *others)}) == 5

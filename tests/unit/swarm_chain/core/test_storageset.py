"""Blocks are private, random and addressable alone; the chain of reads depends on all of them and on the audit."""

import zlib
from collections import Counter
from dataclasses import replace
from hashlib import sha256, shake_128
from importlib.resources import files
from typing import Any

import pytest

from swarm_chain.core.encoding import keccak, words
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.params import parse_params
from swarm_chain.core.storageset import (
    VolumeKey,
    block,
    blocks,
    blocks_of_mb,
    key_hash,
    mean_read_us,
    proven_mb,
    reads_per_second,
    volume_key,
    walk,
)
from swarm_chain.core.units import Address, EpochNumber
from swarm_chain.params import load_params
from tests.storage_world import ALICE, KEY, MALLORY, MEMBER, PARAMS, SECRET, VOLUME, audit_of, held

PRESET_TEXT = "params/minimal.toml"


def test_block_is_what_the_specification_says() -> None:
    encoded = words(31337, VOLUME.beacon, MEMBER, ALICE, 7, 0)
    raw = keccak(keccak(b"swarm.storage.key.v1") + SECRET + encoded)

    assert KEY.raw == raw
    assert block(KEY, 5) == shake_128(keccak(b"swarm.storage.block.v1") + raw + bytes(7) + b"\x05").digest(4096)


def test_walk_is_what_the_specification_says() -> None:
    kept, audit = held(), audit_of(reads=3)
    state: bytes = keccak(
        keccak(b"swarm.storage.audit.v1") + VOLUME.encoded + words(audit.blocks) + audit.nonce + words(audit.reads)
    )
    for _ in range(3):
        state = sha256(state + kept[int.from_bytes(state[:8], "big") % audit.blocks]).digest()

    assert walk(audit, kept.__getitem__) == state


def test_known_answer_of_blocks_and_walk_stays_the_same() -> None:
    assert keccak(blocks(KEY, 0, 4)).hex() == "2821c772f221ebdde9e9bd7d0dca22c086977c0416604ff1823941de11fb6a6a"
    assert (
        walk(audit_of(), lambda index: block(KEY, index)).hex()
        == "4088d87c707fa8ac7ca5114fe1ad2e769b92bbf0b19af0aaaf829686be65962e"
    )


def test_stretch_of_blocks_is_its_blocks_one_after_the_other() -> None:
    assert blocks(KEY, 3, 4) == b"".join(block(KEY, index) for index in (3, 4, 5, 6))
    assert blocks(KEY, 3, 0) == b""


@pytest.mark.parametrize(
    "change",
    [
        {"chain_id": 1},
        {"beacon": MALLORY},
        {"member": ALICE},
        {"node": MALLORY},
        {"epoch": EpochNumber(8)},
        {"index": 1},
    ],
    ids=str,
)
def test_volume_that_differs_in_anything_has_other_blocks(change: dict[str, Any]) -> None:
    other = volume_key(SECRET, replace(VOLUME, **change))

    assert other.raw != KEY.raw
    assert not set(held().values()) & set(held(other).values())


def test_member_with_another_secret_makes_other_blocks() -> None:
    assert block(volume_key(keccak(b"next secret"), VOLUME), 0) != block(KEY, 0)


def test_blocks_cannot_be_compressed() -> None:
    content = blocks(KEY, 0, 256)

    assert len(zlib.compress(content, 9)) > len(content)
    assert len(set(held(count=256).values())) == 256


def test_bytes_of_blocks_are_evenly_distributed() -> None:
    counts = Counter(blocks(KEY, 0, 256))

    # 4096 of each are expected; chi square of 255 degrees stays below 347 in all but one of 10,000 cases.
    assert sum((counts[value] - 4096) ** 2 for value in range(256)) // 4096 < 347


def test_key_does_not_show_in_its_repr() -> None:
    assert KEY.raw.hex() not in repr(KEY)
    assert repr(KEY.raw) not in repr(KEY)


def test_published_hash_opens_to_its_key_and_volume_only() -> None:
    other = replace(VOLUME, index=1)
    hashes = {key_hash(KEY), key_hash(volume_key(SECRET, other)), key_hash(VolumeKey(volume=other, raw=KEY.raw))}

    assert len(hashes) == 3
    assert KEY.raw not in hashes


def test_walk_reads_everywhere_and_as_often_as_asked() -> None:
    kept, seen = held(), Counter[int]()

    def read(index: int) -> bytes:
        seen[index] += 1
        return kept[index]

    walk(audit_of(reads=1000), read)

    assert seen.total() == 1000
    assert set(seen) == set(kept)


@pytest.mark.parametrize("position", [0, 2047, 4095])
def test_one_changed_byte_in_any_read_changes_the_digest(position: int) -> None:
    kept = held()
    changed = {
        i: content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :] for i, content in kept.items()
    }

    assert walk(audit_of(reads=1), changed.__getitem__) != walk(audit_of(reads=1), kept.__getitem__)


@pytest.mark.parametrize("change", [{"nonce": keccak(b"x")}, {"blocks": 39}, {"reads": 33}], ids=str)
def test_walk_of_another_audit_ends_elsewhere(change: dict[str, Any]) -> None:
    kept = held()

    assert walk(replace(audit_of(), **change), kept.__getitem__) != walk(audit_of(), kept.__getitem__)


@pytest.mark.parametrize("content", [b"", bytes(4095), bytes(4097)], ids=len)
def test_walk_refuses_what_is_no_block(content: bytes) -> None:
    with pytest.raises(InvalidInputError):
        walk(audit_of(), lambda _: content)


def test_inner_states_in_place_of_blocks_would_answer_only_if_blocks_came_first() -> None:
    # SHA-256's inner state after a block, 32 bytes in place of 4096, goes on to hash whatever follows the block.
    kept = held()
    inner = {index: sha256(content) for index, content in kept.items()}
    audit = audit_of()
    start = keccak(keccak(b"swarm.storage.audit.v1") + VOLUME.encoded + words(audit.blocks, audit.nonce, audit.reads))
    honest = cheater = bytes(start)
    for _ in range(audit.reads):
        honest = sha256(kept[int.from_bytes(honest[:8], "big") % audit.blocks] + honest).digest()
        hashed = inner[int.from_bytes(cheater[:8], "big") % audit.blocks].copy()
        hashed.update(cheater)
        cheater = hashed.digest()

    assert cheater == honest, "the order block, state is broken"
    assert cheater != walk(audit, kept.__getitem__)


@pytest.mark.parametrize(
    "wrong",
    [{"blocks": 0}, {"blocks": 2**40 + 1}, {"reads": 0}, {"reads": 2**20 + 1}, {"nonce": bytes(31)}],
    ids=str,
)
def test_audit_out_of_range_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        replace(audit_of(), **wrong)


@pytest.mark.parametrize(
    "wrong",
    [{"chain_id": -1}, {"epoch": -1}, {"index": 2**256}, {"node": Address("0x1")}, {"member": Address("")}],
    ids=str,
)
def test_volume_out_of_range_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        replace(VOLUME, **wrong)


def test_short_secret_or_key_and_impossible_block_are_refused() -> None:
    with pytest.raises(InvalidInputError):
        volume_key(SECRET[:31], VOLUME)
    with pytest.raises(InvalidInputError):
        VolumeKey(volume=VOLUME, raw=bytes(33))
    for index in (-1, 2**40):
        with pytest.raises(InvalidInputError):
            block(KEY, index)


def test_audit_of_a_claim_reads_the_fewest_blocks_that_hold_it() -> None:
    for claim_mb in (1, 2, 4, 999, 1_000_000):
        blocks_read = blocks_of_mb(claim_mb)
        assert (proven_mb(blocks_read), proven_mb(blocks_read - 1)) == (claim_mb, claim_mb - 1)


def test_measured_integers_never_flatter() -> None:
    assert [proven_mb(count) for count in (0, 244, 245, 244_140_625)] == [0, 0, 1, 1_000_000]
    assert reads_per_second(10_000, 1001) == 9990
    assert mean_read_us(10_000, 1001) == 101
    assert replace(PARAMS, reads=3, read_us=100).limit_ms == 101
    for rate in (reads_per_second, mean_read_us):
        with pytest.raises(InvalidInputError):
            rate(1, 0)
    with pytest.raises(InvalidInputError):
        mean_read_us(0, 1)


@pytest.mark.parametrize("name", ["mainnet", "minimal"])
def test_preset_catches_a_hundredth_missing_and_counts_a_full_volume(name: str) -> None:
    params = load_params(name).storage

    # 99^r / 100^r, the chance to pass without a hundredth of the blocks, is below a tenth.
    assert 99**params.reads * 10 < 100**params.reads
    assert proven_mb(params.grow_blocks) >= 1


@pytest.mark.parametrize(
    ("line", "wrong", "complaint"),
    [
        ("reads = 256", "reads = 0", "read something"),
        ("reads = 256", "reads = 1048577", "read something"),
        ("read_us = 10000", "read_us = 0", "take time"),
        ("grow_blocks = 1024", "grow_blocks = 0", "largest size"),
        ("grow_blocks = 1024", "grow_blocks = 262145", "largest size"),
        ("max_blocks = 262144", "max_blocks = 1099511627777", "largest size"),
    ],
)
def test_params_that_make_no_sense_are_refused(line: str, wrong: str, complaint: str) -> None:
    head, section, tail = files("swarm_chain").joinpath(PRESET_TEXT).read_text().partition("[storage]\n")
    assert line in tail

    with pytest.raises(InvalidInputError, match=complaint):
        parse_params(head + section + tail.replace(line, wrong, 1))

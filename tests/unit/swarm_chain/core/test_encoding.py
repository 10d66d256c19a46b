"""Bytes the protocol hashes, judged by eth_abi and by published constants."""

import json
from dataclasses import fields
from typing import Any

import pytest
from eth_abi.abi import encode
from eth_utils.address import to_checksum_address
from hypothesis import given
from hypothesis import strategies as st

from swarm_chain.core.encoding import (
    address_bytes,
    canonical_json,
    case_id,
    checksum_address,
    double_hash,
    hash_from_hex,
    job_leaf,
    keccak,
    leaf_domain,
    openings_hash,
    report_hash,
    settlement_leaf,
    sha256_digest,
    to_hex,
    violation_leaf,
    word,
    words,
)
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Severity, ViolationClass
from swarm_chain.core.model import JobOutcome, Opening, Report, SettlementLeaf, Violation
from swarm_chain.core.units import Address, EpochNumber, Hash32, JobId, ProviderId, Timestamp, Wei

DOMAIN = Hash32(keccak(b"domain"))
BOB = Address("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")

uint256 = st.integers(0, 2**256 - 1)
uint128 = st.integers(0, 2**128 - 1)
bytes32 = st.binary(min_size=32, max_size=32).map(Hash32)


def test_keccak_and_sha256_are_the_published_ones() -> None:
    assert keccak(b"").hex() == "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
    assert sha256_digest(b"").hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@given(uint256, st.booleans(), bytes32, st.binary(min_size=20, max_size=20).map(checksum_address))
def test_words_are_what_abi_encode_gives(number: int, flag: bool, raw: Hash32, address: Address) -> None:
    want = encode(["uint256", "bool", "bytes32", "address"], [number, flag, raw, address])

    assert words(number, flag, raw, address) == want


@pytest.mark.parametrize(
    "value", [-1, 2**256, b"short", b"\0" * 33, "0x12", "70997970C51812dc3A010C7d01b50e0d17dc79C8"]
)
def test_value_without_a_word_is_refused(value: int | bytes | str) -> None:
    with pytest.raises(InvalidInputError):
        word(value)


@given(st.binary(min_size=20, max_size=20))
def test_checksum_is_eip55_and_round_trips(raw: bytes) -> None:
    address = checksum_address(raw)

    assert str(address) == to_checksum_address(raw)
    assert address_bytes(address) == raw


@pytest.mark.parametrize("text", ["", "0x", "0x" + "g" * 40, "0x" + "1" * 39, "0x" + "1" * 41, "1x" + "1" * 40])
def test_text_that_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        address_bytes(Address(text))


@pytest.mark.parametrize("text", ["", "0x", "0x" + "1" * 63, "0x" + "1" * 66, "0x" + "z" * 64, "11" * 32])
def test_text_that_is_no_hash_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        hash_from_hex(text)


@given(bytes32)
def test_hash_round_trips_through_hex(raw: Hash32) -> None:
    assert hash_from_hex(to_hex(raw)) == raw


@given(st.text("abc/v1", min_size=1, max_size=32), st.integers(0, 2**64))
def test_leaf_domain_is_abi_encode_of_tag_chain_and_contract(tag: str, chain_id: int) -> None:
    assert leaf_domain(tag, chain_id, BOB) == keccak(encode(["string", "uint256", "address"], [tag, chain_id, BOB]))


@pytest.mark.parametrize("tag", ["", "x" * 33])
def test_leaf_domain_of_a_tag_that_does_not_fit_one_word_is_refused(tag: str) -> None:
    with pytest.raises(InvalidInputError):
        leaf_domain(tag, 1, BOB)


@given(st.integers(0, 2**64), uint128, uint128)
def test_settlement_leaf_is_the_double_hash_of_its_fields(provider: int, reward: int, penalty: int) -> None:
    line = SettlementLeaf(provider_id=ProviderId(provider), cum_reward_wei=Wei(reward), cum_penalty_wei=Wei(penalty))

    want = encode(["bytes32", "uint256", "uint128", "uint128"], [DOMAIN, provider, reward, penalty])

    assert settlement_leaf(DOMAIN, line) == keccak(keccak(want)) == double_hash(want)


def test_violation_leaf_and_case_id_are_abi_encodings() -> None:
    violation = Violation(
        provider_id=ProviderId(3),
        violation_class=ViolationClass.PROTOCOL,
        severity=Severity.SEVERE,
        epoch=EpochNumber(9),
        offence_at=Timestamp(1_700_000_000),
        amount_wei=Wei(10**18),
        suspended_for=60,
        evidence_hash=keccak(b"evidence"),
    )
    types = ["bytes32", "uint256", "uint8", "uint8", "uint32", "uint64", "uint128", "uint64", "bytes32"]

    values = [DOMAIN, 3, 3, 3, 9, 1_700_000_000, 10**18, 60, keccak(b"evidence")]

    assert violation_leaf(DOMAIN, violation) == double_hash(encode(types, values))
    assert case_id(violation) == keccak(
        encode(["uint256", "uint8", "uint32", "bytes32"], [3, 3, 9, keccak(b"evidence")])
    )


def test_job_leaf_is_an_abi_encoding() -> None:
    outcome = JobOutcome(job_id=JobId(4), receipt_digest=keccak(b"receipt"), pay_wei=Wei(5))

    want = encode(["bytes32", "uint256", "bytes32", "uint128"], [DOMAIN, 4, keccak(b"receipt"), 5])

    assert job_leaf(DOMAIN, outcome) == double_hash(want)


def test_report_hash_changes_with_every_field() -> None:
    numbers = ("epoch", "ref_block", "params_version", "leaf_count", "total_reward_wei", "total_penalty_wei")
    values: dict[str, Any] = {field.name: 7 if field.name in numbers else DOMAIN for field in fields(Report)}
    others = {name: 8 if name in numbers else keccak(b"other") for name in values}
    report = Report(**values)
    changed = [Report(**values | {name: other}) for name, other in others.items()]

    assert len({report_hash(report), *map(report_hash, changed)}) == len(values) + 1


def test_openings_hash_depends_on_order_row_head_and_where_a_path_ends() -> None:
    left, right = keccak(b"left"), keccak(b"right")
    first = Opening(row=1, head=b"\1" * 64, path=(left, right))
    second = Opening(row=2, head=b"\2" * 64, path=(left,))
    variants = [
        (first, second),
        (second, first),
        (first,),
        (),
        (Opening(row=2, head=first.head, path=first.path), second),
        (Opening(row=1, head=second.head, path=first.path), second),
        (Opening(row=1, head=first.head, path=(left,)), second),
    ]

    assert len({openings_hash(openings) for openings in variants}) == len(variants)


def test_canonical_json_is_sorted_tight_and_utf8() -> None:
    assert canonical_json({"b": [1, "ü"], "a": None}) == '{"a":null,"b":[1,"ü"]}'.encode()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), json_values))
def test_canonical_json_is_one_text_for_one_document(document: dict[str, object]) -> None:
    text = canonical_json(document)

    assert json.loads(text) == document
    assert canonical_json(dict(reversed(document.items()))) == text


@pytest.mark.parametrize("value", [1.0, float("nan"), {"a": [1, 0.5]}, {1: "key"}, {"a": b"bytes"}, {"a": {1, 2}}])
def test_document_that_is_not_canonical_is_refused(value: object) -> None:
    with pytest.raises(InvalidInputError):
        canonical_json(value)

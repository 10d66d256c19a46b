"""Every document: bytes to value and back, and what a changed byte does to it."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from oracle.economy import Supply
from oracle.model import EpochState, PastViolation, Plan
from oracle.publish.bundle import bundle_bytes, parse_bundle
from oracle.publish.json_codec import (
    dump_signed_proof,
    dump_signed_receipt,
    parse_signed_proof,
    parse_signed_receipt,
)
from oracle.publish.manifest import manifest_bytes, parse_manifest, shard_entries
from oracle.publish.observation import observation_bytes, ordered_observation, parse_observation
from oracle.publish.report import build_report
from oracle.publish.shards import LEAVES_PER_SHARD, parse_shards, shard_bytes
from oracle.publish.state import parse_state, state_bytes
from swarm_chain.core.encoding import canonical_json
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Category, Severity, ViolationClass
from swarm_chain.core.messages import receipt_json
from swarm_chain.core.model import SettlementLeaf
from swarm_chain.core.units import UINT128_MAX, EpochNumber, JobId, ProviderId, Wei
from tests.oracle_world import NETWORK, Device, address, provider, scene
from tests.unit.oracle.judge.test_training import _signed

PLAYED = scene((provider(1, "a"), provider(2, "b")), (Device(node="a"), Device(node="b", garbage_from=9)))
PUBLISHED = build_report(PLAYED.state, PLAYED.bundle(), None, NETWORK)
OBSERVATION = PLAYED.pool.observations[0].observation
STATE = EpochState(
    epoch=EpochNumber(3),
    carry_wei=Wei(2**100),
    gross_wei=((ProviderId(1), Wei(5)), (ProviderId(4), Wei(UINT128_MAX))),
    clean_epochs=((ProviderId(1), 3), (ProviderId(4), 1)),
    supply=(
        Supply(category=Category.COMPUTE, region=b"eu-west\0", hardware_class=2, units=UINT128_MAX),
        Supply(category=Category.SERVING, region=b"eu-east\0", hardware_class=1, units=0),
    ),
    classes=((1, EpochNumber(0)), (2, EpochNumber(3))),
    violations=(
        PastViolation(
            provider_id=ProviderId(1),
            violation_class=ViolationClass.PROTOCOL,
            severity=Severity.SEVERE,
            epoch=EpochNumber(2),
        ),
    ),
    plans=(Plan(node=address("a"), device=0, m=64, n=64, steps=9),),
    jobs=(JobId(1), JobId(7)),
)


def test_bundle_when_written_and_read_then_the_same_value_and_bytes() -> None:
    bundle = PLAYED.bundle()

    assert parse_bundle(bundle_bytes(bundle)) == bundle
    assert bundle_bytes(parse_bundle(PUBLISHED.bundle)) == PUBLISHED.bundle


def test_state_when_written_and_read_then_the_same_value_and_bytes() -> None:
    assert parse_state(state_bytes(STATE)) == STATE
    assert state_bytes(parse_state(PUBLISHED.state)) == PUBLISHED.state


def test_manifest_when_written_and_read_then_the_same_bytes() -> None:
    assert manifest_bytes(parse_manifest(PUBLISHED.manifest)) == PUBLISHED.manifest


def test_observation_when_written_and_read_then_the_same_value() -> None:
    assert parse_observation(observation_bytes(OBSERVATION)) == OBSERVATION


def test_messages_when_written_and_read_then_the_same_value() -> None:
    proof, receipt = PLAYED.pool.proofs[0], _signed()

    assert parse_signed_proof(dump_signed_proof(proof)) == proof
    assert parse_signed_receipt(dump_signed_receipt(receipt)) == receipt
    assert receipt_json(receipt.receipt)["jobId"] == 1


@pytest.mark.parametrize("count", [0, 1, 2, LEAVES_PER_SHARD, LEAVES_PER_SHARD + 1])
def test_shards_when_cut_and_read_then_the_same_leaves(count: int) -> None:
    leaves = tuple(
        SettlementLeaf(provider_id=ProviderId(i), cum_reward_wei=Wei(UINT128_MAX - i), cum_penalty_wei=Wei(2**64 * i))
        for i in range(1, count + 1)
    )

    shards = shard_bytes(leaves)

    assert parse_shards(shards) == leaves
    assert [entry.first_id for entry in shard_entries(shards)] == [1, LEAVES_PER_SHARD + 1][: len(shards)]
    assert sum(map(len, shards)) == 32 * count


@pytest.mark.parametrize(
    "shards", [[b"\0" * 31], [b""], [b"\0" * 32, b"\0" * 32], [b"\0" * 32 * (LEAVES_PER_SHARD + 1)]]
)
def test_shards_when_cut_off_empty_or_short_then_refused(shards: list[bytes]) -> None:
    with pytest.raises(InvalidInputError):
        parse_shards(shards)


def _changed(document: bytes, change: Callable[[Any], object]) -> bytes:
    value = json.loads(document)
    change(value)
    return canonical_json(value)


@pytest.mark.parametrize(
    "change",
    [
        lambda b: b.update(domain="swarm/bundle/v2"),
        lambda b: b.pop("receipts"),
        lambda b: b.update(extra=1),
        lambda b: b["commitments"].reverse(),
        lambda b: b["commitments"].append(b["commitments"][-1]),
        lambda b: b["proofs"].reverse(),
        lambda b: b["observations"].append(b["observations"][0]),
        lambda b: b["observations"][0]["content"]["arrivals"].reverse(),
        lambda b: b["observations"][0]["content"]["rollCalls"][0].__setitem__(1, 31),
        lambda b: b["observations"][0]["content"]["jobs"].append([1, "perhaps", ""]),
        lambda b: b["observations"][0]["content"]["jobs"].append([1, [], ""]),
        lambda b: b["commitments"][0]["commitment"].update(device=64),
        lambda b: b["commitments"][0]["commitment"].update(m="256"),
        lambda b: b["proofs"][0]["proof"]["openings"][0].update(head="0x00"),
        lambda b: b["proofs"][0]["proof"].update(openings=[b["proofs"][0]["proof"]["openings"][0]] * 65),
        lambda b: b["refBlock"].update(number=-1),
        lambda b: b.update(chainId=2**64),
        lambda b: b["equivocations"].append([b["commitments"][0]]),
    ],
)
def test_bundle_when_changed_then_refused(change: Callable[[Any], object]) -> None:
    with pytest.raises(InvalidInputError):
        parse_bundle(_changed(PUBLISHED.bundle, change))


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s["grossWei"].reverse(),
        lambda s: s["grossWei"].append(s["grossWei"][-1]),
        lambda s: s["grossWei"][0].__setitem__(1, 5),
        lambda s: s["cleanEpochs"].reverse(),
        lambda s: s["cleanEpochs"][0].__setitem__(1, 0),
        lambda s: s["supply"].reverse(),
        lambda s: s["supply"][0].__setitem__(0, "mining"),
        lambda s: s["supply"][0].__setitem__(0, ["compute"]),
        lambda s: s["supply"][0].__setitem__(1, "0x00"),
        lambda s: s["supply"][0].__setitem__(3, 5),
        lambda s: s["classes"].reverse(),
        lambda s: s["classes"][0].__setitem__(0, 256),
        lambda s: s["violations"][0].__setitem__(1, 4),
        lambda s: s["violations"][0].__setitem__(2, 0),
        lambda s: s["plans"][0].__setitem__(4, 0),
        lambda s: s["plans"][0].__setitem__(4, 1025),
        lambda s: s["jobs"].reverse(),
        lambda s: s.update(carryWei="-1"),
        lambda s: s.update(epoch=2**32),
    ],
)
def test_state_when_changed_then_refused(change: Callable[[Any], object]) -> None:
    with pytest.raises(InvalidInputError):
        parse_state(_changed(state_bytes(STATE), change))


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.update(leafCount=3),
        lambda m: m["shards"][0].update(firstId=2),
        lambda m: m["shards"][0].update(index=1),
        lambda m: m["shards"][0].update(count=0),
        lambda m: m["shards"].insert(0, {**m["shards"][0], "count": 1}),
        lambda m: m.update(domain="swarm/manifest/v2"),
        lambda m: m["totals"].pop("penaltyWei"),
        lambda m: m.update(settlement=m["settlement"].lower()),
    ],
)
def test_manifest_when_changed_then_refused(change: Callable[[Any], object]) -> None:
    with pytest.raises(InvalidInputError):
        parse_manifest(_changed(PUBLISHED.manifest, change))


def test_observation_when_out_of_order_then_ordered_and_a_duplicate_is_refused() -> None:
    mixed = replace(OBSERVATION, arrivals=tuple(reversed(OBSERVATION.arrivals)))

    assert ordered_observation(mixed) == OBSERVATION
    with pytest.raises(InvalidInputError):
        ordered_observation(replace(OBSERVATION, arrivals=OBSERVATION.arrivals * 2))

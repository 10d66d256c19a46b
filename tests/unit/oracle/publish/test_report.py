"""The report, its trees and the documents made from it."""

import json
from dataclasses import replace

import pytest

from oracle.economy import Service
from oracle.model import Measurement
from oracle.publish.answers import (
    dump_document,
    explain_document,
    outcome_path,
    outcomes_document,
)
from oracle.publish.manifest import parse_manifest
from oracle.publish.previous import previous_root, read_previous
from oracle.publish.report import PublishedEpoch, build_report
from oracle.publish.trees import outcome_leaves, settlement_domain
from swarm_chain.core import merkle
from swarm_chain.core.encoding import (
    canonical_json,
    report_hash,
    settlement_leaf,
    sha256_digest,
    to_hex,
)
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Category
from swarm_chain.core.model import ChainState, ProviderRecord, RootRecord
from swarm_chain.core.units import ZERO_HASH, Bps, EpochNumber, Hash32, ProviderId, RootIndex, Timestamp, Wei
from tests.oracle_world import (
    MEMBERS,
    NETWORK,
    SHAPE,
    Device,
    Scene,
    address,
    observe,
    previous_of,
    provider,
    ref_block,
    scene,
)

PROVIDERS = (provider(1, "alice"), provider(2, "bob"), provider(3, "mallory", stake_swm=999))
DEVICES = (Device(node="alice"), Device(node="bob", elapsed_ms=2), Device(node="mallory", garbage_from=128))
PLAYED = scene(PROVIDERS, DEVICES)


def _publish(played: Scene) -> PublishedEpoch:
    return build_report(played.state, played.bundle(), None, NETWORK)


PUBLISHED = _publish(PLAYED)


def test_report_when_built_then_binds_every_document() -> None:
    report, manifest = PUBLISHED.report, parse_manifest(PUBLISHED.manifest)

    assert report.manifest_hash == sha256_digest(PUBLISHED.manifest)
    assert manifest.bundle_hash == sha256_digest(PUBLISHED.bundle)
    assert manifest.state_hash == sha256_digest(PUBLISHED.state)
    assert [s.sha256 for s in manifest.shards] == [sha256_digest(shard) for shard in PUBLISHED.shards]
    assert (manifest.root, manifest.outcomes_root) == (report.root, report.outcomes_root)
    assert (manifest.total_reward_wei, manifest.leaf_count) == (report.total_reward_wei, report.leaf_count)
    assert PUBLISHED.report_hash == report_hash(report)


def test_report_when_built_twice_then_the_same_bytes() -> None:
    again = _publish(scene(PROVIDERS, DEVICES))

    assert again.documents() == PUBLISHED.documents()
    assert again.report_hash == PUBLISHED.report_hash


def test_outcomes_when_listed_then_each_path_leads_to_their_root() -> None:
    result = PUBLISHED.settlement.result
    leaves = outcome_leaves(result.violations, result.jobs, NETWORK)
    document = outcomes_document(PUBLISHED)

    assert len(leaves) == 1  # the notice of mallory's low stake, alone and therefore padded
    assert merkle.verify(PUBLISHED.report.outcomes_root, leaves[0], outcome_path(PUBLISHED, 0))
    assert document["outcomesRoot"] == to_hex(PUBLISHED.report.outcomes_root)


def test_outcomes_when_there_are_none_then_the_root_is_zero() -> None:
    quiet = _publish(scene(PROVIDERS[:2], DEVICES[:2]))

    assert quiet.report.outcomes_root == ZERO_HASH
    assert outcomes_document(quiet) == {"outcomesRoot": to_hex(ZERO_HASH), "violations": [], "jobs": []}


@pytest.mark.parametrize("providers", [(), PROVIDERS[:1], PROVIDERS[:2]])
def test_tree_when_there_are_few_providers_then_padded_with_stones(providers: tuple[ProviderRecord, ...]) -> None:
    published = _publish(scene(providers, ()))

    assert merkle.leaf_count(published.settlement_tree) == 2
    assert published.report.leaf_count == len(providers)
    assert published.report.root != ZERO_HASH


def test_dump_when_written_then_values_and_tree_fit() -> None:
    document = dump_document(PUBLISHED, settlement_domain(NETWORK))
    tree, values = document["tree"], document["values"]

    assert isinstance(tree, list)
    assert isinstance(values, list)
    assert document["leafEncoding"] == ["bytes32", "uint256", "uint128", "uint128"]
    assert tree[0] == to_hex(PUBLISHED.report.root)
    for value, leaf in zip(values, PUBLISHED.settlement.result.leaves, strict=True):
        assert tree[value["treeIndex"]] == to_hex(settlement_leaf(settlement_domain(NETWORK), leaf))


def test_explain_when_asked_then_canonical_and_adds_up() -> None:
    document = explain_document(PUBLISHED, PLAYED.state, ProviderId(3))
    text = canonical_json(document)
    read = json.loads(text)

    assert read["line"]["rewardWei"] == read["leaf"]["cumRewardWei"] == "0"
    assert [verdict["reason"] for verdict in read["verdicts"]] == ["false_row", "false_row"]
    assert all(verdict["row"] >= 128 for verdict in read["verdicts"]), "the row to accuse is one she invented"
    assert json.loads(read["violations"][0]["evidence"])["providerId"] == 3


def test_explain_when_asked_then_every_measurement_of_every_member_is_there() -> None:
    second = replace(PLAYED.pool.observations[0].observation, member=address("member 2"))
    slower = replace(second, arrivals=tuple(replace(one, elapsed_ms=one.elapsed_ms + 4) for one in second.arrivals))
    calls = tuple(replace(one, present=one.present - 3) for one in second.roll_calls)
    other = observe("member 2", replace(slower, roll_calls=calls))
    committee = replace(PLAYED.state, members=(*PLAYED.state.members, other.observation.member))
    pool = replace(PLAYED.pool, observations=(*PLAYED.pool.observations, other))
    published = build_report(committee, Scene(state=committee, pool=pool, epoch=PLAYED.epoch).bundle(), None, NETWORK)

    told = json.loads(canonical_json(explain_document(published, committee, ProviderId(1))))

    assert [one["windowId"] for one in told["verdicts"]] == told["windows"]
    shape = {"m": SHAPE.m, "n": SHAPE.n, "steps": SHAPE.steps}
    for verdict in told["verdicts"]:
        arrivals = {one["member"]: one["elapsedMs"] for one in verdict["arrivals"]}
        assert arrivals == {MEMBERS[0]: 1, other.observation.member: 5}
        assert (verdict["elapsedMs"], verdict["plan"], verdict["outcome"]) == (1, shape, "passed")
    (node,) = told["availability"]
    assert {one["member"]: (one["present"], one["total"]) for one in node["rollCalls"]} == {
        MEMBERS[0]: (30, 30),
        other.observation.member: (27, 30),
    }
    assert (node["node"], node["availabilityBps"]) == (address("alice"), 10_000)
    assert told["capacities"] == [
        {"node": address("alice"), "device": 0, "mtops": min(one["mtops"] for one in told["verdicts"])}
    ]
    (weight,) = (one for one in told["line"]["weights"] if one["category"] == "compute")
    assert int(weight["units"]) == told["capacities"][0]["mtops"]
    assert {"covered", "qualityBps", "multiplierBps", "weight"} <= weight.keys()
    assert {"rewardWei", "penaltyWei", "shortfallBps"} <= told["line"].keys()


def test_explain_when_members_measured_memory_and_serving_then_each_of_them_the_medians_and_what_is_paid() -> None:
    alice, first = address("alice"), PLAYED.pool.observations[0].observation
    seen = [(4096, 100, 2000), (4096, 300, 3000), (10**9, 0, 9000)]
    observations = [
        observe(
            f"member {number}",
            replace(
                first,
                member=address(f"member {number}"),
                measurements=(
                    Measurement(node=alice, category=Category.MEMORY, units=mib),
                    Measurement(
                        node=alice, category=Category.SERVING, service=Service(error_bps=Bps(errors), response_us=us)
                    ),
                ),
            ),
        )
        for number, (mib, errors, us) in enumerate(seen, start=1)
    ]
    committee = replace(PLAYED.state, members=tuple(signed.observation.member for signed in observations))
    pool = replace(PLAYED.pool, observations=tuple(observations))
    published = build_report(committee, Scene(state=committee, pool=pool, epoch=PLAYED.epoch).bundle(), None, NETWORK)

    told = json.loads(canonical_json(explain_document(published, committee, ProviderId(1))))

    serving, memory = sorted(told["measurements"], key=lambda one: str(one["category"]), reverse=True)
    assert (memory["units"], memory["errorBps"]) == (4096, None)
    assert {one["member"]: one["units"] for one in memory["members"]} == {
        address(f"member {number}"): mib for number, (mib, _, _) in enumerate(seen, start=1)
    }
    assert (serving["units"], serving["errorBps"], serving["responseUs"]) == (0, 100, 3000)
    (service,) = told["services"]
    errors = {"figure": "errorBps", "measured": 100, "owed": 0, "judged": 10}
    assert service["figures"][0] == errors, "a CPU owes no serving; what it serves is graded as everybody's"
    assert (service["node"], service["category"]) == (alice, "serving")
    assert (service["factorBps"], service["missedBps"]) == (9000, None)
    weights = {weight["category"]: weight for weight in told["line"]["weights"]}
    assert set(weights) == {"compute", "memory"}
    assert weights["memory"]["units"] == "4096"


def test_explain_when_a_device_was_silent_then_its_windows_are_missing_and_nobody_heard_it() -> None:
    silent = scene(PROVIDERS[:1], (Device(node="alice", commits=False),))

    told = explain_document(_publish(silent), silent.state, ProviderId(1))

    verdicts = told["verdicts"]
    assert isinstance(verdicts, list)
    assert [(one["outcome"], one["arrivals"], one["plan"]) for one in verdicts] == [("missing", [], None)] * 2
    assert told["capacities"] == []


def test_previous_when_read_back_then_what_the_next_report_builds_on() -> None:
    read = read_previous(PUBLISHED.manifest, PUBLISHED.state, PUBLISHED.shards, PUBLISHED.report.manifest_hash)

    assert read == previous_of(PUBLISHED)


@pytest.mark.parametrize("name", ["manifest", "state", "shards/0"])
def test_previous_when_a_byte_changed_then_refused(name: str) -> None:
    documents = PUBLISHED.documents()
    documents[name] = documents[name][:-1] + b"\x01"

    with pytest.raises(InvalidInputError):
        read_previous(
            documents["manifest"], documents["state"], [documents["shards/0"]], PUBLISHED.report.manifest_hash
        )


def test_previous_when_a_shard_is_missing_then_refused() -> None:
    with pytest.raises(InvalidInputError, match="shards"):
        read_previous(PUBLISHED.manifest, PUBLISHED.state, [], PUBLISHED.report.manifest_hash)


def test_previous_root_when_the_guardian_disabled_the_last_one_then_the_one_before() -> None:
    def root(index: int, disabled: bool) -> RootRecord:
        return RootRecord(
            index=RootIndex(index),
            epoch=EpochNumber(index),
            root=Hash32(b"\1" * 32),
            outcomes_root=ZERO_HASH,
            manifest_hash=Hash32(bytes([index] * 32)),
            leaf_count=1,
            total_reward_wei=Wei(0),
            total_penalty_wei=Wei(0),
            activates_at=Timestamp(0),
            disabled=disabled,
        )

    state = ChainState(block=ref_block(0), roots=(root(0, False), root(1, True)))

    assert previous_root(state) == root(0, False)
    assert previous_root(replace(state, roots=())) is None

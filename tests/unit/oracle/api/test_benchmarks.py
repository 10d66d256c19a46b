"""Benchmark reports: a node's own word, signed, bounded, shown beside what was measured, and read by nothing that counts."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from node.suite.submit import benchmark_body
from oracle.pipeline.names import BUNDLE, MANIFEST, OBSERVATION, STATE
from oracle.store import documents
from oracle.store.tables import benchmarks
from oracle.store.tables import documents as document_table
from swarm_chain.core.benchmarks import MAX_FIGURES, MAX_NAME, BenchmarkReport, Figure, benchmark_hash
from swarm_chain.core.messages import Json
from swarm_chain.core.units import EpochNumber, Hash32, Timestamp
from swarm_chain.testing import FakeSigner
from tests.committee_world import CommitteeWorld
from tests.member_world import ALICE, BOB, STRANGER, MemberWorld, other_domain

BOAST = Figure(category="compute", name="int8 rate", unit="mtops", value=2**53 - 1)


def report_of(world: MemberWorld, node: FakeSigner = ALICE, *figures: Figure, lead: int = 0) -> BenchmarkReport:
    signed_at = Timestamp(world.now + lead)
    return BenchmarkReport(node=node.address, signed_at=signed_at, figures=figures or (BOAST,))


def body_of(world: MemberWorld, report: BenchmarkReport, key: FakeSigner = ALICE, domain: Hash32 | None = None) -> Json:
    return benchmark_body(report, key.sign_typed(domain or world.domain, benchmark_hash(report)))


def post(world: MemberWorld, body: Json) -> tuple[int, Json]:
    world.clock.sleep(1)
    answer = world.client.post("/v1/benchmarks", json=body)
    return answer.status_code, answer.json()


def shown(world: MemberWorld, node: FakeSigner = ALICE) -> tuple[int, Json]:
    world.clock.sleep(1)
    answer = world.client.get(f"/v1/benchmarks/{node.address}")
    return answer.status_code, answer.json()


def test_benchmark_when_a_node_submits_then_shown_as_its_word_with_its_signature(world: MemberWorld) -> None:
    body = body_of(world, report_of(world))

    assert post(world, body) == (202, {"duplicate": False})
    status, document = shown(world)

    assert status == 200
    assert (document["figures"], document["signature"]) == (body["report"]["figures"], body["signature"])  # type: ignore[index]  # as made above
    assert (document["measured"], document["problem"]) == (None, "no report was accepted yet")


def test_benchmark_when_newer_ones_come_a_hundred_times_then_one_row_the_newest(world: MemberWorld) -> None:
    for number in range(100):
        world.chain.mine(seconds=1)
        world.follow()
        assert post(world, body_of(world, report_of(world, ALICE, replace(BOAST, value=number)))) == (
            202,
            {"duplicate": False},
        )

    with world.engine.connect() as connection:
        assert len(connection.execute(select(benchmarks)).all()) == 1
    assert [one["value"] for one in shown(world)[1]["figures"]] == [99]  # type: ignore[attr-defined]  # a list of figures


def test_benchmark_when_an_older_one_comes_later_then_nothing_changes(world: MemberWorld) -> None:
    older, newer = report_of(world), report_of(world, ALICE, replace(BOAST, value=7), lead=1)
    assert post(world, body_of(world, newer)) == (202, {"duplicate": False})

    assert post(world, body_of(world, older)) == (202, {"duplicate": True})
    assert post(world, body_of(world, newer)) == (202, {"duplicate": True})
    assert shown(world)[1]["signedAt"] == newer.signed_at


def test_benchmark_when_a_node_sent_none_then_404(world: MemberWorld) -> None:
    status, document = shown(world, BOB)

    assert (status, document["error"]) == (404, "unknown_benchmark")


@pytest.mark.parametrize(
    ("node", "key", "lead", "error"),
    [
        (ALICE, BOB, 0, "wrong_signer"),
        (STRANGER, STRANGER, 0, "unknown_node"),
        (ALICE, ALICE, -61, "expired"),
        (ALICE, ALICE, 61, "expired"),
    ],
)
def test_attack_benchmark_when_forged_of_a_stranger_or_not_fresh_then_not_kept(
    world: MemberWorld, node: FakeSigner, key: FakeSigner, lead: int, error: str
) -> None:
    status, document = post(world, body_of(world, report_of(world, node, lead=lead), key))

    assert (status, document["error"]) == (422, error)
    assert shown(world, node)[0] == 404


def test_attack_benchmark_when_figures_change_after_signing_or_another_chain_was_meant_then_refused(
    world: MemberWorld,
) -> None:
    report = report_of(world)
    signature = str(body_of(world, report)["signature"])
    changed = body_of(world, report_of(world, ALICE, replace(BOAST, value=1))) | {"signature": signature}

    assert post(world, changed)[1]["error"] == "wrong_signer"
    assert post(world, body_of(world, report, domain=other_domain(world, chain_id=1)))[1]["error"] == "wrong_signer"


@pytest.mark.parametrize(
    "figures",
    [
        [BOAST] * (MAX_FIGURES + 1),
        [replace(BOAST, name="x" * (MAX_NAME + 1))],
        [replace(BOAST, name="\x1b[2J")],
        [replace(BOAST, unit="µs")],
        [replace(BOAST, category="")],
        [replace(BOAST, value=-1)],
        [replace(BOAST, value=2**53)],
    ],
    ids=["many", "long", "escape", "not-ascii", "empty", "negative", "large"],
)
def test_attack_benchmark_when_too_large_or_not_for_a_terminal_then_refused(
    world: MemberWorld, figures: list[Figure]
) -> None:
    assert post(world, body_of(world, report_of(world, ALICE, *figures)))[0] == 422
    assert shown(world)[0] == 404


def test_attack_benchmark_when_one_host_floods_then_limited_whatever_node_it_names(world: MemberWorld) -> None:
    bodies = [body_of(world, report_of(world, key), key) for key in (ALICE, BOB) for _ in range(4)]

    statuses = [world.client.post("/v1/benchmarks", json=body).status_code for body in bodies]

    assert statuses == [202] * 5 + [429] * 3


def _epoch(folder: Path, *boasts: int) -> tuple[CommitteeWorld, EpochNumber]:
    """A committee of one that settled an epoch; alice boasted before and after its window."""
    folder.mkdir()
    made = CommitteeWorld(folder, count=1, quorum=1)
    for value in boasts:
        answer = post(made.first, body_of(made.first, report_of(made.first, ALICE, replace(BOAST, value=value))))
        assert answer == (202, {"duplicate": False})
    epoch = made.play_epoch()
    for value in boasts:
        assert (
            post(made.first, body_of(made.first, report_of(made.first, ALICE, replace(BOAST, value=value))))[0] == 202
        )
    made.settle()
    return made, epoch


def _documents(world: MemberWorld) -> dict[tuple[int, str], bytes]:
    with world.engine.connect() as connection:
        return {(row.epoch, row.name): row.content for row in connection.execute(select(document_table))}


@pytest.fixture
def silent(tmp_path: Path) -> Iterator[tuple[CommitteeWorld, EpochNumber]]:
    """An epoch in which nobody submitted anything."""
    made = _epoch(tmp_path / "silent")
    yield made
    made[0].close_down()


@pytest.fixture
def boasted(tmp_path: Path) -> Iterator[tuple[CommitteeWorld, EpochNumber]]:
    """The same epoch with submissions."""
    made = _epoch(tmp_path / "boasted", 2**53 - 1)
    yield made
    made[0].close_down()


def test_attack_benchmark_when_a_node_boasts_then_no_byte_of_observation_bundle_or_report_changes(
    silent: tuple[CommitteeWorld, EpochNumber], boasted: tuple[CommitteeWorld, EpochNumber]
) -> None:
    without, with_boasts = _documents(silent[0].first), _documents(boasted[0].first)

    assert silent[1] == boasted[1]
    assert {OBSERVATION + silent[0].first.signer.address, BUNDLE, MANIFEST, STATE} <= {name for _, name in without}
    assert without == with_boasts
    assert silent[0].submissions() == boasted[0].submissions() == 1


def test_benchmark_when_an_epoch_was_reported_then_what_was_measured_stands_beside_the_boast(
    boasted: tuple[CommitteeWorld, EpochNumber],
) -> None:
    committee, epoch = boasted
    status, document = shown(committee.first)
    kept = documents.document(committee.first.engine, epoch, BUNDLE)

    assert (status, document["problem"]) == (200, "")
    measured = document["measured"]
    assert isinstance(measured, dict)
    assert measured["epoch"] == epoch
    assert 0 < measured["units"]["compute"] < BOAST.value
    assert kept is not None
    assert b"9007199254740991" not in kept

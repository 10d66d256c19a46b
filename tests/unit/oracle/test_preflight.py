"""Judgements of the preflight, at both sides of every limit."""

from dataclasses import replace

import pytest

from oracle import preflight as judge
from oracle.preflight import GAS_PER_EPOCH, Endpoint
from swarm_chain.core.checkup import Level, blocks, judge_clock
from swarm_chain.testing import FakeSigner

ALICE, BOB = FakeSigner("alice").address, FakeSigner("bob").address
SOUND = Endpoint(name="a", chain_id=1, latest=10, finalized=5, checkpoint_hash="00", has_archive=True)


def levels(*endpoints: Endpoint, agree: int = 1) -> list[str]:
    """Levels of each endpoint's line, and of their agreement."""
    return [line.level.value for line in judge.judge_endpoints(endpoints, 1, agree)]


@pytest.mark.parametrize(
    ("endpoint", "level"),
    [
        (SOUND, "ok"),
        (replace(SOUND, problem="no answer"), "fail"),
        (replace(SOUND, chain_id=2), "fail"),
        (replace(SOUND, finalized=None), "fail"),
        (replace(SOUND, has_archive=False), "warn"),
    ],
)
def test_endpoint_when_alone_then_its_fault_is_everybodys(endpoint: Endpoint, level: str) -> None:
    assert levels(endpoint) == [level, "fail" if level == "fail" else "ok"]


def test_endpoints_when_one_of_three_shows_another_block_then_two_still_agree() -> None:
    liar = replace(SOUND, checkpoint_hash="ff")

    assert levels(SOUND, liar, SOUND, agree=2)[-1] == "warn"
    assert levels(SOUND, liar, SOUND, agree=3)[-1] == "fail"
    assert levels(SOUND, SOUND, SOUND, agree=3)[-1] == "ok"


@pytest.mark.parametrize(
    ("epochs", "level"), [(0, Level.FAIL), (1, Level.WARN), (29, Level.WARN), (30, Level.OK), (10_000, Level.OK)]
)
def test_balance_when_it_pays_for_so_many_epochs_then(epochs: int, level: Level) -> None:
    price = 7

    assert judge.judge_balance(epochs * GAS_PER_EPOCH * price, price).level is level
    assert judge.epochs_of_gas(epochs * GAS_PER_EPOCH * price, price) == epochs


def test_balance_when_gas_is_free_then_nothing_is_divided_by_zero() -> None:
    assert judge.judge_balance(10**18, 0).level is Level.OK


@pytest.mark.parametrize(
    ("members", "quorum", "level"), [(7, 5, "ok"), (7, 4, "warn"), (7, 3, "fail"), (7, 8, "fail"), (1, 1, "warn")]
)
def test_committee_when_quorum_and_size_are(members: int, quorum: int, level: str) -> None:
    assert judge.judge_committee([ALICE] * members, quorum, (7, 5)).level.value == level


def test_seat_when_the_key_is_a_member_a_reporter_or_nobody() -> None:
    assert judge.judge_seat(ALICE, (ALICE,), True).found.endswith("is a member")
    assert judge.judge_seat(BOB, (ALICE,), True).found.endswith("reports for a member")
    assert judge.judge_seat(BOB, (ALICE,), False).level is Level.WARN


@pytest.mark.parametrize(
    ("mode", "level"), [(0o100600, "ok"), (0o100400, "ok"), (0o100640, "warn"), (0o100604, "warn")]
)
def test_file_when_its_mode_is(mode: int, level: str) -> None:
    assert judge.judge_file("keystore", "/k", mode).level.value == level


@pytest.mark.parametrize(("free", "level"), [(2**30 - 1, "fail"), (2**30, "warn"), (10 * 2**30, "ok")])
def test_disk_when_so_much_is_free(free: int, level: str) -> None:
    assert judge.judge_disk(free, "/").level.value == level


@pytest.mark.parametrize(("ahead", "level"), [(0, "ok"), (30, "ok"), (31, "warn"), (-600, "ok"), (-601, "warn")])
def test_clock_when_the_latest_block_is_ahead_by(ahead: int, level: str) -> None:
    assert judge_clock("clock", 10_000, 10_000 + ahead).level.value == level


@pytest.mark.parametrize(("limit", "level"), [(1_023, "fail"), (1_024, "warn"), (8_191, "warn"), (8_192, "ok")])
def test_files_when_so_many_may_be_open(limit: int, level: str) -> None:
    assert judge.judge_files(limit).level.value == level


@pytest.mark.parametrize(("have", "level"), [(None, "ok"), ("0002", "ok"), ("0001", "warn"), ("9999", "fail")])
def test_schema_when_its_revision_is(have: str | None, level: str) -> None:
    assert judge.judge_revision(have, "0002", ("0001", "0002")).level.value == level


def test_peer_when_silent_other_or_sound() -> None:
    want = {"chainId": 1, "paramsVersion": 2}

    assert judge.judge_peer("p", "no answer", {}, want).level is Level.WARN
    assert judge.judge_peer("p", "", {"chainId": 1, "paramsVersion": 3}, want).level is Level.FAIL
    assert judge.judge_peer("p", "", {**want, "epoch": 1}, want).level is Level.OK


def test_code_when_a_contract_is_foreign_then_named() -> None:
    assert "JobEscrow" in judge.judge_code(["JobEscrow"], 12).found
    assert judge.judge_code([], 12).level is Level.OK


def test_remedy_when_a_line_is_not_ok_then_there_is_one() -> None:
    lines = [
        *judge.judge_endpoints([replace(SOUND, problem="x"), replace(SOUND, has_archive=False)], 1, 2),
        judge.judge_balance(0, 1),
        judge.judge_disk(0, "/"),
        judge.judge_files(0),
        judge_clock("clock", 0, 10**6),
        judge.judge_revision("x", "y", ()),
        judge.judge_seat(BOB, (), False),
        judge.judge_code(["x"], 1),
    ]

    assert all(line.remedy for line in lines if line.level is not Level.OK)
    assert blocks(lines)
    assert not blocks([line for line in lines if line.level is Level.WARN])

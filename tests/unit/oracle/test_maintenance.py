"""Announced maintenance: notice, budget, and everything that would stretch it."""

from dataclasses import replace

from oracle.maintenance import maintenance_bps
from swarm_chain.core.model import Announcement
from swarm_chain.core.units import Address, Bps, EpochNumber, Timestamp
from swarm_chain.params import load_params
from tests.oracle_world import GENESIS_AT, NETWORK, PARAMS, address

LIMITS = PARAMS.maintenance  # 10 s ahead, 120 s in 30 epochs of 60 s
A, B = address("a"), address("b")


def _away(start: int, end: int, announced: int = -100, node: str = "a") -> Announcement:
    return Announcement(
        node=address(node),
        starts_at=Timestamp(GENESIS_AT + start),
        ends_at=Timestamp(GENESIS_AT + end),
        announced_at=Timestamp(GENESIS_AT + announced),
    )


def _excused(epoch: int, *announcements: Announcement) -> dict[Address, Bps]:
    return maintenance_bps(announcements, EpochNumber(epoch), NETWORK)


def test_maintenance_when_announced_in_time_then_its_part_of_the_epoch() -> None:
    assert _excused(1, _away(60, 90)) == {A: 5000}
    assert _excused(1, _away(60, 120)) == {A: 10_000}
    assert _excused(0, _away(60, 90)) == _excused(2, _away(60, 90)) == {}


def test_maintenance_when_seconds_do_not_divide_the_epoch_then_rounded_up() -> None:
    assert _excused(1, _away(60, 61)) == {A: 167}


def test_maintenance_when_it_spans_epochs_then_each_gets_its_seconds() -> None:
    across = _away(90, 150)

    assert (_excused(1, across), _excused(2, across)) == ({A: 5000}, {A: 5000})


def test_maintenance_when_announced_late_then_only_from_the_notice_on() -> None:
    assert _excused(1, _away(60, 120, announced=80)) == {A: 5000}
    assert _excused(1, _away(60, 120, announced=50)) == {A: 10_000}


def test_maintenance_when_announced_afterwards_then_nothing() -> None:
    assert _excused(1, _away(60, 120, announced=120)) == {}
    assert _excused(1, _away(60, 120, announced=110)) == {}


def test_maintenance_when_longer_than_the_budget_then_only_the_budget() -> None:
    long = _away(60, 60 + 10 * 60)

    assert [_excused(epoch, long).get(A, 0) for epoch in range(5)] == [0, 10_000, 10_000, 0, 0]
    assert _excused(35, _away(60, 60 + 40 * 60)) == {}, "nor does one announcement draw on the next budget"


def test_maintenance_when_announced_a_little_every_epoch_then_the_budget_ends_it() -> None:
    """The cheater: half of every epoch announced, so as never to be judged."""
    daily = [_away(60 * epoch, 60 * epoch + 30) for epoch in range(40)]

    granted = [_excused(epoch, *daily).get(A, 0) for epoch in range(40)]

    assert granted[:5] == [5000, 5000, 5000, 5000, 0]
    assert granted[5:30] == [0] * 25
    assert granted[30:] == [0] * 10, "nor does it return while more is announced than it holds"
    assert _excused(63, *daily, _away(63 * 60, 64 * 60)) == {}
    assert _excused(69, *daily, _away(69 * 60, 70 * 60)) == {A: 10_000}, (
        "it is back once the last epochs are free of them"
    )


def test_maintenance_when_announcements_overlap_or_repeat_then_counted_once() -> None:
    assert _excused(1, _away(60, 90), _away(60, 90), _away(80, 96)) == {A: 6000}
    assert _excused(1, _away(80, 96), _away(60, 90)) == {A: 6000}, "in any order"


def test_maintenance_when_another_node_announces_then_its_own_budget() -> None:
    spent = _away(0, 120)

    assert _excused(2, spent, _away(120, 180), _away(120, 150, node="b")) == {B: 5000}


def test_maintenance_when_it_ends_before_it_starts_or_lies_ahead_then_nothing() -> None:
    assert _excused(1, _away(90, 60), _away(600, 660)) == {}


def test_maintenance_when_the_end_is_absurd_then_bounded_work() -> None:
    assert _excused(1, _away(60, 2**63), _away(-(2**31), 2**63)) == {A: 10_000}


def test_maintenance_when_on_mainnet_numbers_then_eight_hours_of_a_day() -> None:
    day = replace(PARAMS, epoch=replace(PARAMS.epoch, epoch_for=86_400), maintenance=load_params("mainnet").maintenance)
    away = _away(86_400 + 3600, 86_400 + 20 * 3600, announced=86_400)

    assert maintenance_bps([away], EpochNumber(1), replace(NETWORK, params=day)) == {A: 3334}

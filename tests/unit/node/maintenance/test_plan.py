"""What may be announced and what of it is excused: told before it costs anything, and the same as settlement grants."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from node.maintenance.plan import (
    Calendar,
    announced_by,
    budget_left,
    check_announcement,
    excused_of,
    phase_of,
)
from node.maintenance.times import parse_length, parse_moment
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.maintenance import excused_seconds
from swarm_chain.core.model import Announcement, ChainEvent
from swarm_chain.core.units import ZERO_HASH, BlockNumber, Timestamp
from swarm_chain.params import load_params
from swarm_chain.testing import FakeSigner

NODE, OTHER = FakeSigner("node").address, FakeSigner("other").address
MINIMAL = load_params("minimal")  # 10 s ahead, 120 s in 30 epochs of 60 s
GENESIS, NOW = Timestamp(1_000), Timestamp(1_600)
CALENDAR = Calendar(now=NOW, genesis_at=GENESIS, params=MINIMAL)


def absence(starts_in: int, lasts: int, announced: int = 0) -> Announcement:
    """An absence from NOW on, seconds."""
    starts_at, ends_at = Timestamp(NOW + starts_in), Timestamp(NOW + starts_in + lasts)
    return Announcement(node=NODE, starts_at=starts_at, ends_at=ends_at, announced_at=Timestamp(NOW + announced))


def refused(wanted: Announcement, *before: Announcement) -> str:
    """Code of the refusal, which always says what to do."""
    with pytest.raises(InvalidInputError) as caught:
        check_announcement(wanted, replace(CALENDAR, announced=before))
    assert caught.value.fix
    return caught.value.code


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (absence(9, 60), "short_notice"),
        (absence(10, 121), "over_budget"),
        (absence(0, 60), "bad_times"),
        (absence(-5, 60), "bad_times"),
        (absence(31 * 86_400, 60), "bad_times"),
        (absence(10, 0), "bad_times"),
        (absence(10, 7 * 86_400 + 1), "bad_times"),
    ],
)
def test_check_when_not_all_of_it_would_be_excused_then_refused(wanted: Announcement, code: str) -> None:
    assert refused(wanted) == code


def test_check_when_in_time_and_within_budget_then_accepted() -> None:
    check_announcement(absence(10, 120), CALENDAR)


def test_check_when_another_stands_then_refused_until_it_is_over() -> None:
    assert refused(absence(100, 20), absence(-50, 51, -100)) == "maintenance_stands"
    check_announcement(absence(100, 20), replace(CALENDAR, announced=(absence(-50, 50, -100),)))


def test_check_when_the_budget_is_nearly_used_then_says_what_is_left() -> None:
    used = absence(-200, 90, -300)
    with pytest.raises(InvalidInputError) as caught:
        check_announcement(absence(20, 60), replace(CALENDAR, announced=(used,)))

    assert (caught.value.code, caught.value.values["excusedFor"]) == ("over_budget", 30)
    assert "--for 30s" in str(caught.value.fix)
    assert budget_left(replace(CALENDAR, announced=(used,)), NODE) == 30
    assert budget_left(CALENDAR, NODE) == 120


@given(
    st.lists(st.tuples(st.integers(1, 90), st.integers(1, 200)), max_size=6), st.integers(60, 900), st.integers(1, 200)
)
@settings(max_examples=100, deadline=None)
def test_plan_when_anything_was_announced_then_accepted_exactly_if_settlement_excuses_every_second(
    history: list[tuple[int, int]], starts_in: int, lasts: int
) -> None:
    said, at = [], -1_500
    for gap, length in history:  # one at a time, as the contract has it
        said.append(absence(at + gap, length, at - 60))
        at += gap + length
    before = tuple(one for one in said if one.ends_at <= NOW)
    wanted = absence(starts_in, lasts)
    calendar = replace(CALENDAR, announced=before)

    granted = [sum(excused_seconds(all_, range(60), GENESIS, MINIMAL)) for all_ in (before, (*before, wanted))]
    assert granted[1] - granted[0] == excused_of(wanted, calendar) <= lasts
    if excused_of(wanted, calendar) == lasts:
        check_announcement(wanted, calendar)
    else:
        assert refused(wanted, *before) == "over_budget"


def test_announced_by_when_events_are_mixed_then_this_nodes_alone_and_none_that_was_withdrawn() -> None:
    def event(name: str, node: str, block: int, **args: object) -> ChainEvent:
        return ChainEvent(
            contract="ProviderRegistry",
            name=name,
            args={"providerId": 1, "node": node, **args},
            block=BlockNumber(block),
            log_index=0,
            tx_hash=ZERO_HASH,
            timestamp=Timestamp(block),
        )

    events = [
        event("MaintenanceWithdrawn", NODE, 1),
        event("MaintenanceAnnounced", NODE, 2, startsAt=10, endsAt=20),
        event("MaintenanceAnnounced", OTHER, 3, startsAt=11, endsAt=21),
        event("NodeAdded", OTHER, 4),
        event("MaintenanceAnnounced", NODE, 30, startsAt=40, endsAt=50),
        event("MaintenanceWithdrawn", NODE, 31),
    ]

    (left,) = announced_by(events, NODE)
    assert (left.starts_at, left.ends_at, left.announced_at) == (10, 20, 2)
    assert [phase_of(left, Timestamp(at)) for at in (9, 10, 19, 20)] == ["ahead", "now", "now", "over"]


@pytest.mark.parametrize(("text", "seconds"), [("90m", 5400), ("2h30m", 9000), ("1d", 86_400), (" 45S ", 45)])
def test_length_when_well_written_then_seconds(text: str, seconds: int) -> None:
    assert parse_length(text) == seconds


@pytest.mark.parametrize("text", ["", "0s", "90", "-2h", "2 h", "h", "99999999d", "1.5h", "1h!"])
def test_length_when_anything_else_then_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        parse_length(text)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("+2h", NOW + 7200),
        ("1700000000", 1_700_000_000),
        ("2023-11-14T22:13:20Z", 1_700_000_000),
        ("2023-11-14T22:13:20", 1_700_000_000),
        ("2023-11-15T00:13:20+02:00", 1_700_000_000),
    ],
)
def test_moment_when_well_written_then_unix_seconds(text: str, at: int) -> None:
    assert parse_moment(text, NOW) == at


@pytest.mark.parametrize("text", ["", "soon", "+", "+2", "tomorrow", "123456789012345", "2023-13-01"])
def test_moment_when_anything_else_then_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        parse_moment(text, NOW)

"""Availability from roll calls."""

from dataclasses import replace

import pytest

from oracle.judge.liveness import availability_bps, is_measured, is_present
from swarm_chain.core.errors import InvalidInputError
from tests.oracle_world import PARAMS

LIVENESS = replace(PARAMS.liveness, grace_for=10, roll_call_for=2)


@pytest.mark.parametrize(("silent_ms", "expected"), [(0, True), (10_000, True), (10_001, False)])
def test_presence_when_the_last_heartbeat_is_fresh_enough(silent_ms: int, expected: bool) -> None:
    assert is_present(silent_ms, LIVENESS) is expected


@pytest.mark.parametrize(("present", "total", "expected"), [(0, 30, 0), (30, 30, 10_000), (1, 3, 3334), (2, 3, 6667)])
def test_availability_when_counted_then_rounded_up(present: int, total: int, expected: int) -> None:
    assert availability_bps(present, total) == expected


@pytest.mark.parametrize(("present", "total"), [(0, 0), (-1, 3), (4, 3)])
def test_availability_when_counts_make_no_sense_then_refused(present: int, total: int) -> None:
    with pytest.raises(InvalidInputError):
        availability_bps(present, total)


@pytest.mark.parametrize(("total", "expected"), [(0, False), (7, False), (8, True), (30, True)])
def test_measured_when_the_member_called_a_quarter_of_thirty_times(total: int, expected: bool) -> None:
    assert is_measured(total, PARAMS.epoch, LIVENESS) is expected

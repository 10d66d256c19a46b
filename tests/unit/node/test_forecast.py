"""Replicas for the load that is coming: a trend is seen before it arrives, and what is here is always served."""

from types import SimpleNamespace
from typing import Any

import pytest

from node.jobs.kinds.forecast import AHEAD, SAMPLE_S, Trend, after, ahead, replicas_ahead

TARGET = 4


def trend_of(*loads: float) -> Trend:
    """The trend after these samples."""
    trend = None
    for load in loads:
        trend = after(trend, load)
    assert trend is not None
    return trend


def wanted_over(loads: list[float], step_s: float = SAMPLE_S) -> list[float]:
    """What the policy wants as a load goes on, asked every `step_s`."""
    state: Any = {}
    wanted = []
    for number, load in enumerate(loads):
        context = SimpleNamespace(
            total_num_requests=load,
            current_time=1000.0 + number * step_s,
            policy_state=state,
            config=SimpleNamespace(target_ongoing_requests=TARGET),
        )
        replicas, state = replicas_ahead(context)
        wanted.append(replicas)
    return wanted


def test_load_when_steady_then_expected_as_it_is() -> None:
    assert ahead(trend_of(*[8.0] * 20), AHEAD) == pytest.approx(8.0)


def test_load_when_it_grows_then_more_is_expected_than_is_here() -> None:
    assert ahead(trend_of(*range(20)), AHEAD) > 19.0, "what is here"


def test_load_when_it_falls_to_nothing_then_never_below_zero() -> None:
    assert ahead(trend_of(30.0, 20.0, 10.0, 0.0, 0.0), 50) >= 0.0


def test_replicas_when_load_grows_then_wanted_before_it_is_here() -> None:
    loads = [float(number) for number in range(0, 40, 2)]
    wanted = wanted_over(loads)
    assert wanted[-1] > loads[-1] / TARGET
    assert wanted[-1] < 2 * loads[-1] / TARGET


def test_replicas_when_load_jumps_then_at_once_enough_for_what_is_here() -> None:
    assert wanted_over([0.0] * 10 + [40.0])[-1] >= 40.0 / TARGET


def test_replicas_when_load_ends_then_none_are_wanted_after_a_while() -> None:
    assert wanted_over([40.0] * 5 + [0.0] * 30)[-1] == pytest.approx(0.0, abs=0.05)


def test_replicas_when_asked_more_often_than_samples_come_then_the_trend_is_the_same() -> None:
    slow, fast = [float(number) for number in range(10)], [float(number // 10) for number in range(100)]
    assert wanted_over(fast, SAMPLE_S / 10)[90] == pytest.approx(wanted_over(slow)[9])

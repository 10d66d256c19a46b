"""Medians and majorities over members."""

from typing import Any

import pytest

from oracle.consensus.medians import agreed_jobs, median_availability, median_elapsed
from oracle.model import Arrival, JobFinding, Observation, RollCall
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.units import EpochNumber, JobId, WindowId
from tests.oracle_world import PARAMS, address

NODE = address("a")
Seen = dict[str, Any]


def _observations(*seen: Seen) -> list[Observation]:
    return [
        Observation(epoch=EpochNumber(0), member=address(f"member {number}"), **parts)
        for number, parts in enumerate(seen)
    ]


def _arrived(elapsed_ms: int | None) -> Seen:
    if elapsed_ms is None:
        return {}
    return {"arrivals": (Arrival(window_id=WindowId(0), node=NODE, device=0, elapsed_ms=elapsed_ms),)}


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([5], 5),
        ([1, 9, 5], 5),
        ([1, 9, 10**9], 9),  # one member's lie moves nothing
        ([3, 5], 3),
        ([5, None, 7], 7),
        ([5, None, None], None),  # most did not hear it
        ([5, None], 5),
        ([None], None),
    ],
)
def test_elapsed_when_members_differ_then_the_median(times: list[int | None], expected: int | None) -> None:
    found = median_elapsed(_observations(*map(_arrived, times)))

    assert found.get((WindowId(0), NODE, 0)) == expected


def _called(present: int, total: int) -> Seen:
    return {"roll_calls": (RollCall(node=NODE, present=present, total=total),)}


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([(30, 30)], 10_000),
        ([(0, 30), (15, 30), (30, 30)], 5000),
        ([(0, 30), (30, 30)], 10_000),
        ([(0, 7)], None),  # called too rarely to accuse
        ([(0, 7), (30, 30)], 10_000),
    ],
)
def test_availability_when_members_differ_then_the_median_of_those_who_measured(
    calls: list[tuple[int, int]], expected: int | None
) -> None:
    observations = _observations(*(_called(*call) for call in calls))

    assert median_availability(observations, PARAMS.epoch, PARAMS.liveness).get(NODE) == expected


def _judged(outcome: Outcome, reason: str = "") -> Seen:
    return {"jobs": (JobFinding(job_id=JobId(1), outcome=outcome, reason=reason),)}


@pytest.mark.parametrize(
    ("findings", "expected"),
    [
        ([_judged(Outcome.PASSED)], Outcome.PASSED),
        ([_judged(Outcome.PASSED), _judged(Outcome.FAILED)], None),
        ([_judged(Outcome.PASSED), {}], None),
        ([_judged(Outcome.PASSED), _judged(Outcome.PASSED), _judged(Outcome.FAILED)], Outcome.PASSED),
        ([_judged(Outcome.MISSING)], None),
        ([], None),
    ],
)
def test_jobs_when_more_than_half_agree_then_judged(findings: list[Seen], expected: Outcome | None) -> None:
    agreed = agreed_jobs(_observations(*findings)).get(JobId(1))

    assert (agreed.outcome if agreed else None) == expected


def test_jobs_when_reasons_differ_then_the_most_common_one() -> None:
    failed = [_judged(Outcome.FAILED, reason) for reason in ("b", "a", "b")]
    tied = [_judged(Outcome.FAILED, reason) for reason in ("b", "a")]

    assert agreed_jobs(_observations(*failed))[JobId(1)].reason == "b"
    assert agreed_jobs(_observations(*tied))[JobId(1)].reason == "a"

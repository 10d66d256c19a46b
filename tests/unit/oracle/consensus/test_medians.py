"""Medians and majorities over members."""

from typing import Any

import pytest

from oracle.consensus.medians import agreed_jobs, median_availability, median_elapsed, median_services, proven_units
from oracle.economy import Service
from oracle.model import Arrival, JobFinding, Measurement, Observation, RollCall
from swarm_chain.core.kinds import Category, Outcome
from swarm_chain.core.units import Bps, EpochNumber, JobId, WindowId
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


def _proved(units: int | None) -> Seen:
    if units is None:
        return {}
    return {"measurements": (Measurement(node=NODE, category=Category.MEMORY, units=units),)}


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        ([7], 7),
        ([3, 9, 5], 5),
        ([10**9, 5, 5], 5),  # one member cannot raise what a friend is paid for
        ([10**9, 10**9, None, None, None], 0),  # nor can two of five make it up
        ([0, 5, 5], 5),  # nor can one take it away
        ([None, 5, 5], 5),
        ([None, None, 5], 0),
        ([None, 5], 5),
        ([0, 0, 0], 0),
        ([None], 0),
    ],
)
def test_units_when_members_differ_then_the_median_with_silence_as_nothing(
    units: list[int | None], expected: int
) -> None:
    found = proven_units(_observations(*map(_proved, units)))

    assert found.get(Category.MEMORY, {}).get(NODE, 0) == expected
    assert all(units for nodes in found.values() for units in nodes.values()), "nobody has an entry of zero"


def test_units_when_of_several_categories_then_each_has_its_own_median() -> None:
    both = {
        "measurements": (
            Measurement(node=NODE, category=Category.STORAGE, units=11),
            Measurement(node=NODE, category=Category.MEMORY, units=22),
        )
    }

    assert proven_units(_observations(both, _proved(5), both)) == {
        Category.STORAGE: {NODE: 11},
        Category.MEMORY: {NODE: 22},
    }


def _served(error_bps: int | None, response_us: int | None = None, rating: int | None = None) -> Seen:
    service = Service(error_bps=None if error_bps is None else Bps(error_bps), response_us=response_us, rating=rating)
    return {"measurements": (Measurement(node=NODE, category=Category.SERVING, service=service),)}


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ([_served(4), _served(1), _served(9)], Service(error_bps=Bps(4))),
        ([_served(4), _served(9)], Service(error_bps=Bps(4))),  # in doubt for the node
        ([_served(None, 100, 4), _served(None, 300, 5)], Service(response_us=100, rating=5)),
        ([_served(10_000), {}, {}], None),  # one member alone cannot blacken a node
        ([_served(10_000), _served(None, 7), _served(None, 8)], Service(response_us=7)),  # each number by itself
        ([_served(None)], None),
    ],
)
def test_services_when_members_differ_then_medians_of_what_at_least_half_measured(
    seen: list[Seen], expected: Service | None
) -> None:
    assert median_services(_observations(*seen)).get((Category.SERVING, NODE)) == expected

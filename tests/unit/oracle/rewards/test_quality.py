"""Quality: errors, response and rating against level and median; what nobody measured is neutral."""

import pytest

from oracle.economy import Service
from oracle.rewards.quality import (
    judged_availability,
    median_rating,
    rating_medians,
    service_bps,
    service_factors,
    service_shortfalls,
)
from swarm_chain.core.economics import ServiceLevel
from swarm_chain.core.kinds import Category
from swarm_chain.core.units import Bps
from tests.oracle_world import PARAMS, address

SERVING = PARAMS.services.serving
A, B, C = address("a"), address("b"), address("c")


@pytest.mark.parametrize(
    ("service", "expected"),
    [
        (Service(), 10_000),
        (Service(error_bps=Bps(0), response_us=0), 10_000),
        (Service(error_bps=Bps(10)), 10_000),  # the level itself
        (Service(error_bps=Bps(100)), 9000),
        (Service(error_bps=Bps(500)), 5000),
        (Service(error_bps=Bps(1000)), 0),
        (Service(error_bps=Bps(10_000)), 0),
        (Service(response_us=100_000), 10_000),
        (Service(response_us=150_000), 9000),
        (Service(response_us=200_000), 8000),
        (Service(response_us=500_000), 0),
        (Service(rating=50), 10_000),
        (Service(rating=55), 11_000),
        (Service(rating=500), 11_000),
        (Service(rating=45), 9000),
        (Service(rating=0), 8000),
        (Service(error_bps=Bps(100), response_us=200_000, rating=55), 7920),
    ],
)
def test_service_when_measured_then_each_factor_by_its_table(service: Service, expected: int) -> None:
    assert service_bps(service, SERVING, 50, PARAMS.rewards) == expected


def test_service_when_there_is_no_level_and_no_median_then_neutral() -> None:
    measured = Service(error_bps=Bps(9999), response_us=10**9, rating=0)

    assert service_bps(measured, ServiceLevel(error_bps=Bps(0), response_us=0), 0, PARAMS.rewards) == 10_000


def test_median_when_even_then_the_lower_and_none_without_ratings() -> None:
    assert median_rating([9, 1, 5]) == 5
    assert median_rating([9, 1, 5, 4]) == 4
    assert median_rating([]) == 0


def test_medians_when_categories_differ_then_each_its_own_and_unrated_nodes_do_not_count() -> None:
    services = {
        (Category.SERVING, A): Service(rating=10),
        (Category.SERVING, B): Service(rating=30),
        (Category.SERVING, C): Service(),
        (Category.STORAGE, A): Service(rating=99),
    }

    assert rating_medians(services) == {Category.SERVING: 10, Category.STORAGE: 99}
    factors = service_factors(services, PARAMS.services, PARAMS.rewards)
    assert [factors[Category.SERVING, node] for node in (A, B, C)] == [10_000, 11_000, 10_000]


def test_shortfalls_when_levels_are_missed_then_errors_and_lateness_by_category() -> None:
    services = {
        (Category.SERVING, A): Service(error_bps=Bps(25), response_us=100_300),
        (Category.STORAGE, A): Service(error_bps=Bps(10), response_us=10**9),  # storage owes no response time
        (Category.SERVING, B): Service(),
    }

    assert service_shortfalls(services, PARAMS.services) == {A: (45, 0), B: (0,)}


def test_shortfalls_when_far_off_then_each_at_most_everything() -> None:
    services = {(Category.SERVING, A): Service(error_bps=Bps(10_000), response_us=10**12)}

    assert service_shortfalls(services, PARAMS.services) == {A: (9990 + 10_000,)}


def test_availability_when_absence_was_announced_then_forgiven_up_to_all_of_it() -> None:
    measured = {A: Bps(6667), B: Bps(9000)}

    assert judged_availability(measured, {A: Bps(3333), B: Bps(3333), C: Bps(1)}) == {A: 10_000, B: 10_000}
    assert judged_availability(measured, {A: Bps(3332)})[A] == 9999
    assert judged_availability(measured, {}) == measured

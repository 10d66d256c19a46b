"""Quality: errors, response and rating against level and median; what nobody measured is neutral."""

from dataclasses import replace

import pytest

from oracle.economy import Service
from oracle.rewards.quality import (
    by_node,
    classes_of,
    graded_services,
    judged_availability,
    median_rating,
    missed_bps,
    rating_medians,
    service_bps,
)
from swarm_chain.core.economics import ServiceLevel
from swarm_chain.core.kinds import Category, HardwareClass
from swarm_chain.core.units import Bps
from swarm_chain.params import load_params
from tests.oracle_world import PARAMS, address, provider

LEVELS = load_params("mainnet").services
SERVING, NETWORK_LEVEL = LEVELS.gpu.serving, LEVELS.gpu.network
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


@pytest.mark.parametrize(
    ("service", "expected"),
    [
        (Service(far_response_us=50_000, jitter_us=1000, rate=1000), 10_000),
        (Service(far_response_us=100_000), 8000),
        (Service(jitter_us=2000), 8000),
        (Service(rate=500), 7500),
        (Service(rate=0), 5000),
        (Service(rate=10**12), 10_000),
    ],
)
def test_service_when_the_network_was_measured_then_region_jitter_and_throughput_count(
    service: Service, expected: int
) -> None:
    assert service_bps(service, NETWORK_LEVEL, 0, PARAMS.rewards) == expected


def test_service_when_a_gpu_idles_in_paid_time_then_its_quality_falls() -> None:
    busy, idle = (Service(utilisation_bps=Bps(share)) for share in (9000, 4500))

    assert [service_bps(one, LEVELS.gpu.compute, 0, PARAMS.rewards) for one in (busy, idle)] == [10_000, 7500]


def test_service_when_there_is_no_level_and_no_median_then_neutral() -> None:
    measured = Service(error_bps=Bps(9999), response_us=10**9, rating=0, jitter_us=10**9, rate=0)

    assert service_bps(measured, ServiceLevel(), 0, PARAMS.rewards) == 10_000


def test_median_when_even_then_the_lower_and_none_without_ratings() -> None:
    assert median_rating([9, 1, 5]) == 5
    assert median_rating([9, 1, 5, 4]) == 4
    assert median_rating([]) == 0


CPU_AND_GPU = {A: HardwareClass.GPU, B: HardwareClass.GPU, C: HardwareClass.CPU}


def test_medians_when_classes_and_categories_differ_then_each_its_own_and_unrated_nodes_do_not_count() -> None:
    services = {
        (Category.SERVING, A): Service(rating=10),
        (Category.SERVING, B): Service(rating=30),
        (Category.SERVING, C): Service(rating=1),
        (Category.STORAGE, A): Service(rating=99),
        (Category.STORAGE, B): Service(),
        (Category.STORAGE, address("nobody's")): Service(rating=1),
    }

    assert rating_medians(services, CPU_AND_GPU) == {
        (HardwareClass.GPU, Category.SERVING): 10,
        (HardwareClass.CPU, Category.SERVING): 1,
        (HardwareClass.GPU, Category.STORAGE): 99,
    }
    graded = graded_services(services, CPU_AND_GPU, LEVELS, PARAMS.rewards)
    assert [graded[Category.SERVING, node].factor_bps for node in (A, B, C)] == [10_000, 11_000, 10_000]
    assert (Category.STORAGE, address("nobody's")) not in graded


def test_grades_when_a_class_does_not_owe_a_category_then_no_penalty_but_quality_as_everybody_in_that_pool() -> None:
    slow = Service(error_bps=Bps(25), response_us=200_000)
    graded = graded_services(
        {(Category.SERVING, A): slow, (Category.SERVING, C): slow}, CPU_AND_GPU, LEVELS, PARAMS.rewards
    )
    gpu, cpu = graded[Category.SERVING, A], graded[Category.SERVING, C]

    assert (gpu.missed_bps, cpu.missed_bps) == (15 + 10_000, None)
    assert gpu.factor_bps == cpu.factor_bps < 10_000, "calling oneself a CPU buys no better quality"
    assert cpu.owed == ServiceLevel() != cpu.judged == gpu.owed


def test_grades_when_a_node_lacks_what_its_class_does_not_have_then_nothing_is_held_against_it() -> None:
    graded = graded_services({(Category.MEMORY, C): Service(error_bps=Bps(0))}, CPU_AND_GPU, LEVELS, PARAMS.rewards)

    assert set(graded) == {(Category.MEMORY, C)}, "no serving, no entry, no penalty"
    assert (graded[Category.MEMORY, C].factor_bps, graded[Category.MEMORY, C].missed_bps) == (10_000, 0)


def test_classes_when_nodes_are_measured_then_their_providers_and_no_work_without_services() -> None:
    providers = (provider(1, "a", "b", hardware_class=2), provider(2, "c", hardware_class=1))

    assert classes_of({(Category.SERVING, A): Service(), (Category.MEMORY, C): Service()}, providers) == {A: 2, C: 1}
    assert classes_of({}, providers) == {}


def test_nodes_when_measured_in_several_categories_then_in_the_order_of_categories() -> None:
    services = {(category, A): Service(error_bps=Bps(0)) for category in reversed(Category)}
    graded = graded_services(services, CPU_AND_GPU, LEVELS, PARAMS.rewards)

    assert [one.category for one in by_node(graded)[A]] == list(Category)


@pytest.mark.parametrize(
    ("service", "expected"),
    [
        (Service(), 0),
        (Service(error_bps=Bps(25), response_us=100_300), 15 + 30),
        (Service(response_us=100_000, far_response_us=300_000), 5000),
        (Service(error_bps=Bps(10_000), response_us=10**12), 9990 + 10_000),
        (Service(jitter_us=10**9, rate=0, utilisation_bps=Bps(0)), 0),
    ],
)
def test_missed_when_levels_are_missed_then_errors_and_lateness_each_at_most_everything(
    service: Service, expected: int
) -> None:
    assert missed_bps(service, replace(SERVING, far_response_us=200_000, jitter_us=1, rate=1)) == expected


def test_missed_when_nothing_is_owed_then_not_judged() -> None:
    assert missed_bps(Service(error_bps=Bps(10_000), response_us=10**12), ServiceLevel()) is None
    assert missed_bps(Service(rate=0), ServiceLevel(rate=10)) is None


def test_availability_when_absence_was_announced_then_forgiven_up_to_all_of_it() -> None:
    measured = {A: Bps(6667), B: Bps(9000)}

    assert judged_availability(measured, {A: Bps(3333), B: Bps(3333), C: Bps(1)}) == {A: 10_000, B: 10_000}
    assert judged_availability(measured, {A: Bps(3332)})[A] == 9999
    assert judged_availability(measured, {}) == measured

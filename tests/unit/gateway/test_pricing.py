"""Prices: integers, rounded up."""

from gateway.model import Terms
from gateway.pricing import UNIT_MS, device_seconds, job_price, median
from swarm_chain.core.jobs import Resources
from swarm_chain.core.units import Wei

FREE = Terms(fee_bps=0, min_price_wei=Wei(0))


def test_unknown_program_is_estimated_by_units_and_devices() -> None:
    assert device_seconds(Resources(workers=2, gpus=3), 10, ()) == 10 * 6 * UNIT_MS // 1000


def test_known_program_is_estimated_by_the_median_of_what_it_took() -> None:
    assert device_seconds(Resources(), 10, (100, 1_000_000, 250)) == 3  # 2500 ms, rounded up


def test_estimate_is_never_nothing() -> None:
    assert device_seconds(Resources(), 0, ()) == 1
    assert device_seconds(Resources(), 5, (0,)) == 1


def test_price_has_the_fee_on_top_and_is_rounded_up() -> None:
    assert job_price(3, Wei(100), Terms(fee_bps=500, min_price_wei=Wei(0))) == 315
    assert job_price(1, Wei(1), Terms(fee_bps=1, min_price_wei=Wei(0))) == 2


def test_price_is_at_least_what_the_escrow_takes() -> None:
    assert job_price(1, Wei(1), Terms(fee_bps=0, min_price_wei=Wei(50))) == 50
    assert job_price(1, Wei(0), FREE) == 0


def test_price_of_huge_numbers_is_exact() -> None:
    assert job_price(10**9 + 7, Wei(10**30 + 1), FREE) == (10**9 + 7) * (10**30 + 1)


def test_median_of_two_is_the_larger() -> None:
    assert median((4, 9)) == 9

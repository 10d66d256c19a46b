"""Stake cover: prices by category, one stake for all of them."""

import pytest

from oracle.rewards.cover import best_first, covered_units, needed_wei, unit_price_wei
from swarm_chain.core.kinds import Category
from swarm_chain.core.units import WEI_PER_SWM, Wei
from tests.oracle_world import PARAMS

PRICES = {category: unit_price_wei(category, PARAMS.stake) for category in Category}


def _covered(units: dict[Category, int], active_wei: int) -> dict[Category, int]:
    needed = needed_wei(units.items(), PRICES)
    above = active_wei - PARAMS.stake.minimum_wei
    return {category: covered_units(proven, PRICES[category], needed, above) for category, proven in units.items()}


@pytest.mark.parametrize(
    ("category", "units", "swm"),
    [
        (Category.COMPUTE, 1000, 50),  # a TOPS
        (Category.MEMORY, 1024, 10),  # a GiB
        (Category.STORAGE, 1_000_000, 1),  # a TB
        (Category.SERVING, 10**9, 0),
        (Category.NETWORK, 10**9, 0),
    ],
)
def test_price_when_read_from_the_preset_then_the_design_number(category: Category, units: int, swm: int) -> None:
    assert units * PRICES[category] == swm * WEI_PER_SWM


@pytest.mark.parametrize(
    ("swm", "expected"),
    [(0, 0), (999, 0), (1000, 0), (1050, 1000), (1075, 1500), (1001, 20), (6000, 100_000)],
)
def test_cover_when_stake_lies_above_the_minimum_then_fifty_swm_a_tops(swm: int, expected: int) -> None:
    assert _covered({Category.COMPUTE: 100_000}, swm * WEI_PER_SWM) == {Category.COMPUTE: expected}


def test_cover_when_a_wei_short_then_rounded_down() -> None:
    assert _covered({Category.COMPUTE: 1000}, 1050 * WEI_PER_SWM - 1) == {Category.COMPUTE: 999}


def test_cover_when_stake_is_short_for_two_categories_then_both_lose_the_same_part() -> None:
    proven = {Category.COMPUTE: 2000, Category.MEMORY: 10_240}  # 100 SWM each

    assert _covered(proven, 1200 * WEI_PER_SWM) == proven
    assert _covered(proven, 1100 * WEI_PER_SWM) == {Category.COMPUTE: 1000, Category.MEMORY: 5120}


def test_cover_when_a_category_takes_no_stake_then_the_minimum_is_enough_and_less_is_not() -> None:
    proven = {Category.SERVING: 7, Category.COMPUTE: 1000}

    assert _covered(proven, 1000 * WEI_PER_SWM) == {Category.SERVING: 7, Category.COMPUTE: 0}
    assert _covered(proven, 1000 * WEI_PER_SWM - 1) == {Category.SERVING: 0, Category.COMPUTE: 0}


def test_needed_when_several_categories_then_their_sum() -> None:
    assert needed_wei([(Category.COMPUTE, 1000), (Category.STORAGE, 1_000_000)], PRICES) == Wei(51 * WEI_PER_SWM)


@pytest.mark.parametrize(("covered", "expected"), [(0, 0), (3, 30), (10, 100), (12, 116), (20, 180), (30, 230)])
def test_best_first_when_stake_is_short_then_the_better_units_count(covered: int, expected: int) -> None:
    assert best_first([(5, 10), (10, 10), (8, 10)], covered) == expected

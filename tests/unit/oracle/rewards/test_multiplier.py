"""Multipliers: scarcity, tenure, adoption, the cap, and who has none."""

from typing import Any

import pytest

from oracle.economy import Supply
from oracle.rewards.multiplier import Multipliers, Past, adoption_bps, multiplier_bps, scarcities, tenure_bps
from swarm_chain.core.kinds import Category
from swarm_chain.core.tables import step
from swarm_chain.core.units import Bps, EpochNumber, ProviderId
from tests.oracle_world import PARAMS

REWARDS = PARAMS.rewards
EU, US = b"eu-west\0", b"us-east\0"
CELL = (Category.COMPUTE, EU, 1)
OLD = {1: EpochNumber(0), 2: EpochNumber(0)}
FIRST = ProviderId(1)


def _supply(units: int, region: bytes = EU, hardware_class: int = 1) -> Supply:
    return Supply(category=Category.COMPUTE, region=region, hardware_class=hardware_class, units=units)


def _product(epoch: int = 200, cell: tuple[Category, bytes, int] = CELL, **past: Any) -> int:
    return Multipliers(Past(**{"classes": OLD, **past}), EpochNumber(epoch), REWARDS).of(FIRST, *cell).product_bps


def test_multiplier_when_factors_multiply_then_capped() -> None:
    assert multiplier_bps((), Bps(20_000)) == 10_000
    assert multiplier_bps((Bps(11_000), Bps(12_500)), Bps(20_000)) == 13_750
    assert multiplier_bps((Bps(15_000), Bps(15_000)), Bps(20_000)) == 20_000


@pytest.mark.parametrize(
    ("lock_for", "expected"),
    [(0, 10_000), (90 * 86_400 - 1, 10_000), (90 * 86_400, 11_000), (365 * 86_400, 12_500), (10**9, 15_000)],
)
def test_commitment_when_a_lock_is_chosen_then_the_step_it_reaches(lock_for: int, expected: int) -> None:
    assert step(REWARDS.commitment_table, lock_for) == expected


@pytest.mark.parametrize(
    ("clean", "expected"), [(0, 10_000), (29, 10_000), (30, 10_100), (299, 10_900), (300, 11_000), (10**6, 11_000)]
)
def test_tenure_when_epochs_are_clean_then_a_step_every_thirty_up_to_the_cap(clean: int, expected: int) -> None:
    assert tenure_bps(clean, REWARDS) == expected
    assert _product(clean_epochs={FIRST: clean}) == expected


@pytest.mark.parametrize(("epoch", "expected"), [(5, 11_000), (94, 11_000), (95, 10_000), (10**6, 10_000)])
def test_adoption_when_a_class_is_new_then_more_for_ninety_epochs(epoch: int, expected: int) -> None:
    assert adoption_bps(EpochNumber(5), EpochNumber(epoch), REWARDS) == expected
    assert _product(epoch, classes={1: EpochNumber(5)}) == expected


def test_adoption_when_nobody_was_paid_for_the_class_before_then_new() -> None:
    assert adoption_bps(None, EpochNumber(10**6), REWARDS) == 11_000


@pytest.mark.parametrize(("share", "expected"), [(0, 13_000), (25, 11_500), (50, 10_000), (100, 10_000)])
def test_scarcity_when_a_region_and_class_held_a_share_of_the_supply_then_by_the_table(
    share: int, expected: int
) -> None:
    cells, _ = scarcities([_supply(share), _supply(100 - share, US)], REWARDS)

    assert cells[CELL] == expected


def test_scarcity_when_a_region_or_class_supplied_nothing_then_the_most() -> None:
    assert _product(supply=(_supply(100, US),)) == 13_000
    assert _product(supply=(_supply(100, EU, 2),)) == 13_000


def test_scarcity_when_there_was_no_supply_of_the_category_then_neutral() -> None:
    assert _product() == 10_000
    assert _product(supply=(_supply(0),)) == 10_000
    assert _product(supply=(_supply(5, US),), cell=(Category.SERVING, EU, 1)) == 10_000


def test_multipliers_when_all_factors_apply_then_their_product() -> None:
    assert _product(clean_epochs={FIRST: 300}, supply=(_supply(1, US),), classes={}) == 10_000 * 13 * 11 * 11 // 1000


def test_multipliers_when_a_provider_is_not_restored_then_it_has_none() -> None:
    past: dict[str, Any] = {"clean_epochs": {FIRST: 300}, "supply": (_supply(1, US),)}

    assert _product(200, **past, unrestored=frozenset({FIRST})) == 10_000
    assert _product(200, **past, unrestored=frozenset({ProviderId(2)})) == 14_300

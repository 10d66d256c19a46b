"""Emission, demand and pools against their exact definitions."""

from fractions import Fraction
from itertools import pairwise

import pytest

from oracle.rewards.emission import (
    category_wei,
    cumulative_emission,
    emission_wei,
    pool_wei,
    rpow_ray,
    utilisation_bps,
)
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import BPS, RAY, Bps, Wei
from swarm_chain.params import load_params

REWARDS = load_params("mainnet").rewards
FIRST, DECAY = REWARDS.emission_first_wei, REWARDS.emission_decay_ray


@pytest.mark.parametrize("epochs", [0, 1, 2, 3, 30, 365, 5000])
def test_cumulative_emission_when_compared_with_the_exact_series_then_never_above_and_hardly_below(epochs: int) -> None:
    ratio = Fraction(DECAY, RAY)
    exact = FIRST * (1 - ratio**epochs) / (1 - ratio)

    allowed = cumulative_emission(FIRST, DECAY, epochs)

    assert allowed >= exact - FIRST  # rounding of rpow is far below one epoch's emission
    assert abs(allowed - exact) * 10**9 <= exact + 1


def test_cumulative_emission_when_one_epoch_then_exactly_the_first() -> None:
    assert cumulative_emission(FIRST, DECAY, 1) == FIRST


def test_cumulative_emission_when_no_decay_then_linear() -> None:
    assert cumulative_emission(Wei(7), RAY, 11) == 77


@pytest.mark.parametrize(("decay", "epochs"), [(RAY + 1, 1), (-1, 1), (DECAY, -1)])
def test_cumulative_emission_when_nonsense_then_refused(decay: int, epochs: int) -> None:
    with pytest.raises(InvalidInputError):
        cumulative_emission(FIRST, decay, epochs)


def test_emission_when_epochs_are_reported_one_by_one_or_together_then_the_same_sum() -> None:
    single = sum(emission_wei(REWARDS, epoch, epoch) for epoch in range(40))

    assert single == emission_wei(REWARDS, 0, 39) == cumulative_emission(FIRST, DECAY, 40)


def test_emission_when_epochs_pass_then_falls() -> None:
    emitted = [emission_wei(REWARDS, epoch, epoch) for epoch in range(100)]

    assert all(later < earlier for earlier, later in pairwise(emitted))


def test_rpow_when_squaring_then_rounds_down_each_step() -> None:
    # 3 = 0b11: power = 1·x, x = x²/RAY, power = x·x²/RAY, each floored
    base = DECAY
    assert rpow_ray(base, 3) == base * (base * base // RAY) // RAY
    assert rpow_ray(base, 0) == RAY


@pytest.mark.parametrize(
    ("paid", "offered", "expected"), [(0, 0, 0), (5, 0, 0), (0, 9, 0), (1, 3, 3333), (3, 3, BPS), (9, 3, BPS)]
)
def test_utilisation_when_given_seconds_then_bounded_bps(paid: int, offered: int, expected: int) -> None:
    assert utilisation_bps(paid, offered) == expected


@pytest.mark.parametrize(("utilisation", "expected"), [(0, 50_000), (10_000, 100_000), (5_000, 75_000), (1, 50_005)])
def test_pool_when_demand_grows_then_follows_the_formula_of_the_design(utilisation: int, expected: int) -> None:
    # E x (5000 + u/2) / 10000 with E = 100000
    assert pool_wei(Wei(100_000), Bps(utilisation), Bps(5000)) == expected


def test_categories_when_split_then_never_more_than_the_pool() -> None:
    shares = REWARDS.pools_bps
    parts = [category_wei(Wei(99_999), bps) for bps in (shares.compute, shares.serving, shares.storage)]

    assert parts == [29_999, 19_999, 14_999]

"""What an epoch leaves for the multipliers of the next one."""

from dataclasses import replace

from oracle.economy import CategoryWeight, Multiplier, Supply
from oracle.model import RewardLine
from oracle.rewards.memory import next_classes, next_clean_epochs, next_supply
from swarm_chain.core.kinds import Category
from swarm_chain.core.model import ProviderRecord
from swarm_chain.core.units import Bps, EpochNumber, ProviderId, Wei
from tests.oracle_world import provider

NEUTRAL = Multiplier(
    commitment_bps=Bps(10_000),
    scarcity_bps=Bps(10_000),
    tenure_bps=Bps(10_000),
    adoption_bps=Bps(10_000),
    product_bps=Bps(10_000),
)
ONE, TWO = ProviderId(1), ProviderId(2)


def _weight(covered: int, weight: int = 1, category: Category = Category.COMPUTE) -> CategoryWeight:
    return CategoryWeight(
        category=category, units=covered, covered=covered, quality_bps=Bps(10_000), multiplier=NEUTRAL, weight=weight
    )


def _line(number: int, reward: int = 1, excused: str = "", weights: tuple[CategoryWeight, ...] = ()) -> RewardLine:
    return RewardLine(
        provider_id=ProviderId(number),
        weights=weights,
        reward_wei=Wei(reward),
        availability_bps=None,
        excused=excused,
        shortfall_bps=Bps(0),
        base_wei=Wei(0),
        penalty_wei=Wei(0),
    )


def _clean(*lines: RewardLine, retired: bool = False, violated: frozenset[ProviderId] = frozenset()) -> object:
    providers: list[ProviderRecord] = [provider(line.provider_id, retired=retired) for line in lines]
    return next_clean_epochs({ONE: 6}, providers, lines, violated)


def test_clean_when_earned_then_one_more_and_the_first_one_counts() -> None:
    assert _clean(_line(1), _line(2)) == ((ONE, 7), (TWO, 1))


def test_clean_when_nothing_was_earned_then_neither_more_nor_less() -> None:
    assert _clean(_line(1, reward=0), _line(2, reward=0)) == ((ONE, 6),)
    assert _clean(_line(1, reward=0, excused="maintenance")) == ((ONE, 6),)


def test_clean_when_a_rule_was_broken_or_the_provider_suspended_or_gone_then_none_left() -> None:
    assert _clean(_line(1), violated=frozenset({ONE})) == ()
    assert _clean(_line(1, reward=0, excused="suspended")) == ()
    assert _clean(_line(1), retired=True) == ()


def test_supply_when_paid_for_then_summed_by_category_region_and_class() -> None:
    providers = (provider(1), provider(2), provider(3, region=b"us-east\0"), provider(4, hardware_class=2))
    lines = (
        _line(1, weights=(_weight(5), _weight(9, category=Category.MEMORY))),
        _line(2, weights=(_weight(6),)),
        _line(3, weights=(_weight(7),)),
        _line(4, weights=(_weight(8), _weight(4, weight=0, category=Category.SERVING))),
    )

    supply = next_supply(providers, lines)

    assert [(s.category, s.region, s.hardware_class, s.units) for s in supply] == [
        (Category.COMPUTE, b"eu-west\0", 1, 11),
        (Category.COMPUTE, b"eu-west\0", 2, 8),
        (Category.COMPUTE, b"us-east\0", 1, 7),
        (Category.MEMORY, b"eu-west\0", 1, 9),
    ]


def test_classes_when_seen_again_then_the_first_epoch_stays() -> None:
    first = Supply(category=Category.COMPUTE, region=b"eu-west\0", hardware_class=1, units=1)
    before = ((1, EpochNumber(3)),)

    assert next_classes(before, (replace(first, hardware_class=3), first), EpochNumber(9)) == (
        (1, EpochNumber(3)),
        (3, EpochNumber(9)),
    )

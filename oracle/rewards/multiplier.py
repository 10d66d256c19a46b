"""Who counts more than its units: commitment x scarcity x tenure x adoption, each at least neutral, the product capped."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from oracle.economy import Multiplier, Supply
from swarm_chain.core.economics import RewardParams
from swarm_chain.core.kinds import Category
from swarm_chain.core.tables import interpolate, step
from swarm_chain.core.units import BPS, Bps, EpochNumber, ProviderId

Cell = tuple[Category, bytes, int]
NO_LOCK = 0  # seconds; no contract takes a lock yet, so that everybody is flexible


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What earlier epochs say: clean epochs by provider, supply of the last one, first epoch by class, who is unrestored."""

    clean_epochs: Mapping[ProviderId, int] = field(default_factory=dict)
    supply: tuple[Supply, ...] = ()
    classes: Mapping[int, EpochNumber] = field(default_factory=dict)
    unrestored: frozenset[ProviderId] = frozenset()


def multiplier_bps(factors: Iterable[Bps], cap_bps: Bps) -> Bps:
    """Multiply factors (10000 is neutral), each product rounded down, and cap the result.

    Args:
        factors: commitment, scarcity, tenure, adoption.
        cap_bps: most the product may be.
    """
    product = BPS
    for factor in factors:
        product = product * factor // BPS
    return Bps(min(product, cap_bps))


def tenure_bps(clean_epochs: int, rewards: RewardParams) -> Bps:
    """Give the factor of clean epochs: a step for every `tenure_epochs`, up to the cap."""
    return Bps(min(BPS + clean_epochs // rewards.tenure_epochs * rewards.tenure_step_bps, rewards.tenure_cap_bps))


def adoption_bps(first: EpochNumber | None, epoch: EpochNumber, rewards: RewardParams) -> Bps:
    """Give the factor of a hardware class: for `adoption_epochs` from the first epoch that paid for it.

    Args:
        first: that epoch; None if it is this one.
        epoch: the one being settled.
        rewards: how long and how much.
    """
    return rewards.adoption_bps if first is None or epoch - first < rewards.adoption_epochs else Bps(BPS)


def scarcities(supply: Iterable[Supply], rewards: RewardParams) -> tuple[dict[Cell, Bps], dict[Category, Bps]]:
    """Give the factor of every region and class from what it supplied last epoch.

    Args:
        supply: last epoch's.
        rewards: table over the part of a category's supply that a region and class held, bps, rounded down.

    Returns:
        (factor by cell, factor of cells that supplied nothing by category); a category without supply is in neither:
        nothing is scarce where nothing was measured.
    """
    known = {(s.category, s.region, s.hardware_class): s.units for s in supply}
    total: dict[Category, int] = {}
    for (category, _, _), units in known.items():
        total[category] = total.get(category, 0) + units
    cells = {cell: _scarcity(units, total[cell[0]], rewards) for cell, units in known.items()}
    return cells, {category: _scarcity(0, units, rewards) for category, units in total.items()}


def _scarcity(units: int, total: int, rewards: RewardParams) -> Bps:
    return Bps(interpolate(rewards.scarcity_table, units * BPS // total) if total else BPS)


class Multipliers:
    """Multipliers of one epoch, one value for all providers that share cell and tenure."""

    def __init__(self, past: Past, epoch: EpochNumber, rewards: RewardParams) -> None:
        self._past, self._epoch, self._rewards = past, epoch, rewards
        self._cells, self._empty = scarcities(past.supply, rewards)
        self._commitment = Bps(step(rewards.commitment_table, NO_LOCK))
        self._known: dict[tuple[Category, bytes, int, int, bool], Multiplier] = {}

    def of(self, provider_id: ProviderId, category: Category, region: bytes, hardware_class: int) -> Multiplier:
        """Give a provider's multiplier in a category.

        Args:
            provider_id: whose clean epochs count; one that is not restored has no multiplier.
            category: what it proved.
            region: 8 bytes.
            hardware_class: as registered.
        """
        past = self._past
        steps = past.clean_epochs.get(provider_id, 0) // self._rewards.tenure_epochs
        key = category, region, hardware_class, steps, provider_id in past.unrestored
        found = self._known.get(key)
        if found is None:
            tenure = tenure_bps(steps * self._rewards.tenure_epochs, self._rewards)
            found = self._known[key] = self._multiplier((category, region, hardware_class), tenure, key[-1])
        return found

    def _multiplier(self, cell: Cell, tenure: Bps, unrestored: bool) -> Multiplier:
        category, _, hardware_class = cell
        scarcity = self._cells.get(cell, self._empty.get(category, Bps(BPS)))
        adoption = adoption_bps(self._past.classes.get(hardware_class), self._epoch, self._rewards)
        product = multiplier_bps((self._commitment, scarcity, tenure, adoption), self._rewards.multiplier_cap_bps)
        return Multiplier(
            commitment_bps=self._commitment,
            scarcity_bps=scarcity,
            tenure_bps=tenure,
            adoption_bps=adoption,
            product_bps=Bps(BPS) if unrestored else product,
        )

"""What an epoch's lines leave for the multipliers of the next one: clean epochs, supply, and classes already seen."""

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import chain

from oracle.economy import Supply
from oracle.model import RewardLine
from oracle.rewards.multiplier import Cell
from oracle.rewards.penalties import SUSPENDED
from swarm_chain.core.kinds import Category
from swarm_chain.core.model import ProviderRecord
from swarm_chain.core.units import EpochNumber, ProviderId


def next_clean_epochs(
    before: Mapping[ProviderId, int],
    providers: Sequence[ProviderRecord],
    lines: Sequence[RewardLine],
    violated: Set[ProviderId],
) -> tuple[tuple[ProviderId, int], ...]:
    """Count on: one more for a provider that earned, none for one that did not, none left after a violation.

    A report that covers missed epochs counts one, as its evidence is of one; a missed epoch takes nothing away.

    Args:
        before: clean epochs by provider.
        providers: in the order of the lines.
        lines: what each earned, and who is suspended.
        violated: who broke a rule in this epoch.

    Returns:
        (provider, count) in the order of the lines; no entry is none.
    """
    counted = (
        (line.provider_id, before.get(line.provider_id, 0) + (line.reward_wei > 0))
        for provider, line in zip(providers, lines, strict=True)
        if line.excused != SUSPENDED and not provider.retired
    )
    return tuple((number, count) for number, count in counted if count and number not in violated)


def next_supply(providers: Sequence[ProviderRecord], lines: Sequence[RewardLine]) -> tuple[Supply, ...]:
    """Add up what was paid for by category, region and hardware class; ordered by these."""
    supply: dict[Cell, int] = {}
    for provider, line in zip(providers, lines, strict=True):
        for weight in line.weights:
            if weight.weight:
                cell = (weight.category, provider.region, provider.hardware_class)
                supply[cell] = supply.get(cell, 0) + weight.covered
    order = {category: place for place, category in enumerate(Category)}
    return tuple(
        Supply(category=cell[0], region=cell[1], hardware_class=cell[2], units=supply[cell])
        for cell in sorted(supply, key=lambda cell: (order[cell[0]], cell[1], cell[2]))
    )


def next_classes(
    before: Iterable[tuple[int, EpochNumber]], supply: Iterable[Supply], epoch: EpochNumber
) -> tuple[tuple[int, EpochNumber], ...]:
    """Remember the first epoch each hardware class was paid in; ordered by class."""
    new = ((one.hardware_class, epoch) for one in supply)
    return tuple(sorted(dict(chain(new, before)).items()))

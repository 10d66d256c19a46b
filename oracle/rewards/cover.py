"""How much capacity a stake covers: what lies above the minimum pays for units of all categories together."""

from collections.abc import Mapping

from swarm_chain.core.economics import GB_PER_TB, MIB_PER_GIB, MTOPS_PER_TOPS, StakeParams
from swarm_chain.core.kinds import Category
from swarm_chain.core.units import Wei


def unit_price_wei(category: Category, stake: StakeParams) -> Wei:
    """Give the stake that one unit of a category takes: an mtops, a MiB of device memory, a GB of storage.

    Serving and network earn by traffic, not by capacity, and take the minimum alone.

    Args:
        category: what is proven.
        stake: prices per TOPS, GiB and TB, which divide into whole wei a unit.
    """
    prices = {
        Category.COMPUTE: stake.per_tops_wei // MTOPS_PER_TOPS,
        Category.MEMORY: stake.per_gib_wei // MIB_PER_GIB,
        Category.STORAGE: stake.per_tb_wei // GB_PER_TB,
    }
    return Wei(prices.get(category, 0))


def covered_units(
    units: Mapping[Category, int], active_stake_wei: Wei, prices: Mapping[Category, Wei], minimum_wei: Wei
) -> dict[Category, int]:
    """Truncate proven units to what the stake covers; the same part of every category that takes stake, rounded down.

    Args:
        units: proven units by category.
        active_stake_wei: stake that is not thawing: what may leave covers nothing.
        prices: stake a unit takes, by category; 0 takes none.
        minimum_wei: what every provider stakes first; below it nothing is covered.

    Returns:
        Units of each category, at most the proven ones.
    """
    above = active_stake_wei - minimum_wei
    if above < 0:
        return dict.fromkeys(units, 0)
    needed = sum(proven * prices[category] for category, proven in units.items())
    if needed <= above:
        return dict(units)
    return {category: proven * above // needed if prices[category] else proven for category, proven in units.items()}

"""How much capacity a stake covers: what lies above the minimum pays for units of all categories together."""

from collections.abc import Iterable, Mapping, Sequence

from swarm_chain.core.economics import MB_PER_TB, MIB_PER_GIB, MTOPS_PER_TOPS, StakeParams
from swarm_chain.core.kinds import Category
from swarm_chain.core.units import Wei


def unit_price_wei(category: Category, stake: StakeParams) -> Wei:
    """Give the stake that one unit of a category takes: an mtops, a MiB of device memory, a MB of storage.

    Serving and network earn by traffic, not by capacity, and take the minimum alone; so does training, which is done with
    the compute and memory that are covered already.

    Args:
        category: what is proven.
        stake: prices per TOPS, GiB and TB, which divide into whole wei a unit.
    """
    prices = {
        Category.COMPUTE: stake.per_tops_wei // MTOPS_PER_TOPS,
        Category.MEMORY: stake.per_gib_wei // MIB_PER_GIB,
        Category.STORAGE: stake.per_tb_wei // MB_PER_TB,
    }
    return Wei(prices.get(category, 0))


def needed_wei(units: Iterable[tuple[Category, int]], prices: Mapping[Category, Wei]) -> Wei:
    """Give the stake above the minimum that units of several categories take together."""
    return Wei(sum([proven * prices[category] for category, proven in units]))


def covered_units(units: int, price_wei: Wei, needed: Wei, above_wei: int) -> int:
    """Truncate proven units to what the stake covers: the same part of every category that takes stake, rounded down.

    Args:
        units: proven in one category.
        price_wei: stake a unit of it takes; 0 takes the minimum alone.
        needed: stake that the units of all categories take together, `needed_wei`.
        above_wei: stake above the minimum, without what is thawing: what may leave covers nothing. Negative: the minimum
            is not met, and nothing is covered.

    Returns:
        At most the proven units.
    """
    if above_wei < 0:
        return 0
    if needed <= above_wei or not price_wei:
        return units
    return units * above_wei // needed


def best_first(graded: Sequence[tuple[int, int]], covered: int) -> int:
    """Fill what a stake covers with the best units first, so that bringing more of them never counts for less.

    Args:
        graded: (quality bps, units) of each node.
        covered: units that count, at most their sum.

    Returns:
        Sum of counted units x quality.
    """
    counted = 0
    for quality, units in graded if len(graded) == 1 else sorted(graded, reverse=True):
        taken = min(units, covered)
        counted += taken * quality
        covered -= taken
    return counted

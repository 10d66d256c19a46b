"""How good a node's work was: availability x errors x response x rating, by tables; what nobody measured is neutral."""

from collections.abc import Iterable, Mapping

from oracle.economy import Service
from swarm_chain.core.economics import RewardParams, ServiceLevel, ServiceLevels
from swarm_chain.core.kinds import Category
from swarm_chain.core.tables import interpolate
from swarm_chain.core.units import BPS, Address, Bps

Services = Mapping[tuple[Category, Address], Service]


def judged_availability(availability: Mapping[Address, Bps], excused: Mapping[Address, Bps]) -> Mapping[Address, Bps]:
    """Forgive absence that was announced: add the excused part of the epoch to what was measured, up to all of it.

    Args:
        availability: bps by measured node.
        excused: bps of the epoch by node (`oracle.maintenance`); a node nobody measured stays unmeasured.
    """
    if not excused:
        return availability
    return {node: Bps(min(share + excused.get(node, 0), BPS)) for node, share in availability.items()}


def median_rating(ratings: Iterable[int]) -> int:
    """Give the lower median of ratings, 0 without any: a rating counts against its peers, not against a scale."""
    ordered = sorted(ratings)
    return ordered[(len(ordered) - 1) // 2] if ordered else 0


def rating_medians(services: Services) -> dict[Category, int]:
    """Give each category's median over the nodes that were rated in it."""
    ratings: dict[Category, list[int]] = {}
    for (category, _), service in services.items():
        if service.rating is not None:
            ratings.setdefault(category, []).append(service.rating)
    return {category: median_rating(rated) for category, rated in ratings.items()}


def service_bps(service: Service, level: ServiceLevel, median: int, rewards: RewardParams) -> Bps:
    """Multiply the factors of a measured service: errors and response against the level, rating against the median.

    Args:
        service: what was measured; None is neutral.
        level: of the category; 0 is no level, and neutral.
        median: rating of the category's median node; 0 is neutral.
        rewards: tables.

    Returns:
        0 to 11000, each product rounded down.
    """
    product = BPS
    for table, measured, norm in (
        (rewards.error_table, service.error_bps, level.error_bps),
        (rewards.response_table, service.response_us, level.response_us),
        (rewards.rating_table, service.rating, median),
    ):
        if measured is not None and norm:
            product = product * interpolate(table, measured * BPS // norm) // BPS
    return Bps(product)


def service_factors(
    services: Services, levels: ServiceLevels, rewards: RewardParams
) -> dict[tuple[Category, Address], Bps]:
    """Give the factor of every measured service; a node without an entry is neutral."""
    medians = rating_medians(services)
    return {
        (category, node): service_bps(service, levels.of(category), medians.get(category, 0), rewards)
        for (category, node), service in services.items()
    }


def service_shortfalls(services: Services, levels: ServiceLevels) -> dict[Address, tuple[Bps, ...]]:
    """Give by how much each measured service of a node misses its level, bps, one number a category.

    Errors count as they are, response by how far it exceeds the level, each at most all of it.

    Args:
        services: what was measured.
        levels: what is owed; 0 is nothing.

    Returns:
        By node; the order of its numbers means nothing.
    """
    missed: dict[Address, tuple[Bps, ...]] = {}
    for (category, node), service in services.items():
        level = levels.of(category)
        errors = max((service.error_bps or 0) - level.error_bps, 0) if level.error_bps else 0
        response = service.response_us or 0
        late = max(response * BPS // level.response_us - BPS, 0) if level.response_us else 0
        missed[node] = (*missed.get(node, ()), Bps(min(errors, BPS) + min(late, BPS)))
    return missed

"""How good a node's work was: availability x what its class owes x rating, by tables; what nobody measured is neutral."""

from collections.abc import Iterable, Mapping

from oracle.economy import GradedService, Service
from swarm_chain.core.economics import ClassLevels, RewardParams, ServiceLevel
from swarm_chain.core.kinds import Category
from swarm_chain.core.model import ProviderRecord
from swarm_chain.core.tables import interpolate
from swarm_chain.core.units import BPS, Address, Bps

Services = Mapping[tuple[Category, Address], Service]
Group = tuple[int, Category]  # hardware class and category


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


def classes_of(services: Services, providers: Iterable[ProviderRecord]) -> dict[Address, int]:
    """Give the hardware class of every measured node that a provider has; one without provider earns and owes nothing.

    Args:
        services: what was measured.
        providers: each names its nodes and its class.
    """
    if not services:
        return {}
    seen = {node for _, node in services}
    return {node: one.hardware_class for one in providers for node in one.nodes if node in seen}


def rating_medians(services: Services, classes: Mapping[Address, int]) -> dict[Group, int]:
    """Give the median over the nodes of a hardware class that were rated in a category, by class and category."""
    ratings: dict[Group, list[int]] = {}
    for (category, node), service in services.items():
        if service.rating is not None and node in classes:
            ratings.setdefault((classes[node], category), []).append(service.rating)
    return {group: median_rating(rated) for group, rated in ratings.items()}


def service_bps(service: Service, level: ServiceLevel, median: int, rewards: RewardParams) -> Bps:
    """Multiply the factors of a measured service: each figure against its level, the rating against the median.

    Args:
        service: what was measured; None is neutral.
        level: what it is judged against; 0 is no level, and neutral.
        median: rating of the median node of its class; 0 is neutral.
        rewards: tables.

    Returns:
        0 to 11000, each product rounded down.
    """
    product = BPS
    for table, measured, norm in (
        (rewards.error_table, service.error_bps, level.error_bps),
        (rewards.response_table, service.response_us, level.response_us),
        (rewards.response_table, service.far_response_us, level.far_response_us),
        (rewards.response_table, service.jitter_us, level.jitter_us),
        (rewards.delivery_table, service.rate, level.rate),
        (rewards.delivery_table, service.utilisation_bps, level.utilisation_bps),
        (rewards.rating_table, service.rating, median),
    ):
        if measured is not None and norm:
            product = product * interpolate(table, measured * BPS // norm) // BPS
    return Bps(product)


def missed_bps(service: Service, owed: ServiceLevel) -> Bps | None:
    """Give by how much a service misses what is owed: errors as they are, each response by how far it exceeds its level.

    Jitter, rate and utilisation cost quality alone: less delivered is less paid, but no broken promise of a time.

    Args:
        service: what was measured; None misses nothing.
        owed: by the class.

    Returns:
        Errors, response and far response together, each at most 10000; None if the class owes none of the three.
    """
    if not (owed.error_bps or owed.response_us or owed.far_response_us):
        return None
    errors = max((service.error_bps or 0) - owed.error_bps, 0) if owed.error_bps else 0
    late = (_late(service.response_us, owed.response_us), _late(service.far_response_us, owed.far_response_us))
    return Bps(min(errors, BPS) + sum(late))


def _late(measured: int | None, owed: int) -> int:
    return min(max((measured or 0) * BPS // owed - BPS, 0), BPS) if owed else 0


def graded_services(
    services: Services, classes: Mapping[Address, int], levels: ClassLevels, rewards: RewardParams
) -> dict[tuple[Category, Address], GradedService]:
    """Grade every measured service of a provider's node; a node without an entry is neutral.

    Args:
        services: what was measured.
        classes: hardware class by node, `classes_of`; what has none is not graded.
        levels: by class and category.
        rewards: tables.
    """
    medians = rating_medians(services, classes)
    groups = {(kind, category) for kind in set(classes.values()) for category in Category}
    owed = {group: levels.owed(*group) for group in groups}
    judged = {group: levels.judged(*group) for group in groups}
    graded: dict[tuple[Category, Address], GradedService] = {}
    for (category, node), service in services.items():
        if node in classes:
            group = classes[node], category
            median = medians.get(group, 0)
            graded[category, node] = GradedService(
                node=node,
                category=category,
                service=service,
                owed=owed[group],
                judged=judged[group],
                median_rating=median,
                factor_bps=service_bps(service, judged[group], median, rewards),
                missed_bps=missed_bps(service, owed[group]),
            )
    return graded


def by_node(graded: Mapping[tuple[Category, Address], GradedService]) -> dict[Address, tuple[GradedService, ...]]:
    """Give each node's graded services, in the order of the categories."""
    order = list(Category)
    nodes: dict[Address, list[GradedService]] = {}
    for one in graded.values():
        nodes.setdefault(one.node, []).append(one)
    return {node: tuple(sorted(ones, key=lambda one: order.index(one.category))) for node, ones in nodes.items()}

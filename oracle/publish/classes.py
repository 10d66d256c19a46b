"""What the nodes of a hardware class proved in an epoch, as deciles: with what a node that measures itself compares. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from oracle.model import EpochFacts
from oracle.publish.fields import Json
from oracle.rewards.weights import device_capacities, node_units
from swarm_chain.core.kinds import Category, HardwareClass
from swarm_chain.core.model import ProviderRecord
from swarm_chain.core.units import Address, EpochNumber

TENTHS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Units that so many nodes of a class proved in a category: least, nine deciles and most, in ascending order."""

    hardware_class: HardwareClass
    category: Category
    nodes: int
    deciles: tuple[int, ...]


def spreads(providers: Iterable[ProviderRecord], facts: EpochFacts) -> tuple[Spread, ...]:
    """Give the spread of every class and category in which a node proved something.

    One pass over providers and one sort a class and category: seconds for a million nodes.

    Args:
        providers: name class and nodes.
        facts: of the same epoch; units are medians over members, and of compute the least of all windows.
    """
    classes = {node: one.hardware_class for one in providers for node in one.nodes}
    compute: Mapping[Address, int] = node_units(device_capacities(facts.verdicts, len(facts.windows)))
    proven: dict[Category, Mapping[Address, int]] = {Category.COMPUTE: compute, **facts.proven}
    found: dict[tuple[HardwareClass, Category], list[int]] = {}
    for category in Category:
        for node, units in proven.get(category, {}).items():
            if units and node in classes:
                found.setdefault((HardwareClass(classes[node]), category), []).append(units)
    return tuple(
        Spread(hardware_class=kind, category=category, nodes=len(units), deciles=deciles(units))
        for (kind, category), units in found.items()
    )


def proven_of(node: Address, facts: EpochFacts) -> Mapping[Category, int]:
    """Give what one node proved, by category; what it did not prove is not there.

    Args:
        node: the node.
        facts: of an epoch.
    """
    own = (verdict for verdict in facts.verdicts if verdict.node == node)
    compute = node_units(device_capacities(own, len(facts.windows))).get(node, 0)
    found = {Category.COMPUTE: compute, **{category: units.get(node, 0) for category, units in facts.proven.items()}}
    return {category: units for category, units in found.items() if units}


def deciles(units: Iterable[int]) -> tuple[int, ...]:
    """Give the eleven numbers that cut sorted units into tenths: at rank floor((count - 1) * tenth / 10), so each was proven.

    Args:
        units: at least one number.
    """
    ordered = sorted(units)
    return tuple(ordered[(len(ordered) - 1) * tenth // TENTHS] for tenth in range(TENTHS + 1))


def class_document(epoch: EpochNumber, kind: HardwareClass, found: Sequence[Spread]) -> Json:
    """GET /v1/classes/{hardwareClass}.

    Args:
        epoch: the newest report's.
        kind: the class.
        found: of that epoch, all classes.
    """
    return {
        "epoch": epoch,
        "hardwareClass": kind.name.lower(),
        "categories": [
            {"category": one.category.value, "nodes": one.nodes, "deciles": list(one.deciles)}
            for one in found
            if one.hardware_class is kind
        ],
    }

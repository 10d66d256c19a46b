"""Where a measured figure stands among the nodes of its class: by the deciles that members publish of what was proven."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import TypeGuard

from node.suite.metrics import Metric
from swarm_chain.core.errors import SwarmError
from swarm_chain.core.kinds import Category, HardwareClass

LEAST_NODES = 10  # of fewer a percentile says more about them than about the class
TENTHS, HUNDREDTHS = 10, 100
# Metrics in the very unit that a category proves; the others have nothing they could be compared with.
PROVEN_AS: Mapping[tuple[str, str], Category] = MappingProxyType({("compute", "int8 rate"): Category.COMPUTE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Percentile of a figure in its class, 0 to 100; None, and then `problem` says why."""

    percentile: int | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassView:
    """Deciles of a class by category, or why there are none; a `problem` of a category where too few nodes proved it."""

    deciles: Mapping[Category, Sequence[int]] = field(default_factory=lambda: MappingProxyType({}))
    problem: str = ""


def ask_class(get: Callable[[str], Mapping[str, object]], kind: HardwareClass) -> ClassView:
    """Asks a member for the class's deciles of the newest report; a bench goes on without them.

    Args:
        get: JSON object at a path of a member; raises SwarmError.
        kind: class to compare with.
    """
    try:
        return read_class(get(f"/v1/classes/{kind.name.lower()}"))
    except SwarmError as error:
        return ClassView(problem=error.message)


def read_class(document: Mapping[str, object]) -> ClassView:
    """Read a member's document; it is only shown, but a broken one is not taken for numbers.

    Args:
        document: as `GET /v1/classes/{hardwareClass}` answers.
    """
    rows = document.get("categories")
    found = [_read_row(row) for row in (rows if isinstance(rows, list) else ()) if isinstance(row, dict)]
    return ClassView(deciles=dict(one for one in found if one is not None))


def _read_row(row: Mapping[str, object]) -> tuple[Category, Sequence[int]] | None:
    name, nodes, cuts = row.get("category"), row.get("nodes"), row.get("deciles")
    known = isinstance(name, str) and name in set(Category)
    if not known or not _is_count(nodes) or nodes < LEAST_NODES or not _are_deciles(cuts):
        return None
    return Category(str(name)), cuts


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _are_deciles(cuts: object) -> TypeGuard[list[int]]:
    if not isinstance(cuts, list) or len(cuts) != TENTHS + 1 or not all(map(_is_count, cuts)):
        return False
    return all(low <= high for low, high in pairwise(cuts))


def place_of(metric: Metric, view: ClassView) -> Place:
    """Give a metric's percentile, or why it has none.

    Args:
        metric: measured here.
        view: of this machine's class.
    """
    category = PROVEN_AS.get((metric.category, metric.name))
    if metric.value is None:
        return Place(problem="not measured")
    if category is None:
        return Place(problem="no class proves this figure")
    if view.problem:
        return Place(problem=view.problem)
    if category not in view.deciles:
        return Place(problem=f"fewer than {LEAST_NODES} nodes of the class proved it in the newest report")
    return Place(percentile=percentile(metric.value, view.deciles[category]))


def percentile(value: int, deciles: Sequence[int]) -> int:
    """Give where a value lies between deciles, rounded down; among equal ones the highest.

    Args:
        value: at least 0.
        deciles: eleven numbers that never fall.

    Returns:
        0 to 100; 0 below the least, 100 from the most on.
    """
    reached = sum(value >= cut for cut in deciles) - 1
    if reached < 0:
        return 0
    if reached >= TENTHS:
        return HUNDREDTHS
    low, high = deciles[reached], deciles[reached + 1]
    return reached * TENTHS + TENTHS * (value - low) // (high - low)

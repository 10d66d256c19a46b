"""Service levels of a provider as `explain` tells them: what was measured, what its class owes, and what came of it."""

from collections.abc import Iterable
from dataclasses import fields

from pydantic.alias_generators import to_camel

from oracle.economy import GradedService
from oracle.publish.fields import Json
from swarm_chain.core.economics import ServiceLevel


def services_json(services: Iterable[GradedService]) -> list[Json]:
    """Every measured service with its figures; `owed` 0 is no level of this class, `judged` 0 no level of any.

    Args:
        services: of a reward line.
    """
    return [
        {
            "node": one.node,
            "category": one.category.value,
            "figures": [
                _figure_json(one, figure.name) for figure in fields(ServiceLevel) if _measured(one, figure.name)
            ],
            "rating": one.service.rating,
            "medianRating": one.median_rating,
            "factorBps": one.factor_bps,
            "missedBps": one.missed_bps,
        }
        for one in services
    ]


def _measured(one: GradedService, name: str) -> bool:
    return getattr(one.service, name) is not None


def _figure_json(one: GradedService, name: str) -> Json:
    return {
        "figure": to_camel(name),
        "measured": getattr(one.service, name),
        "owed": getattr(one.owed, name),
        "judged": getattr(one.judged, name),
    }

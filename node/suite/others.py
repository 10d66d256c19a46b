"""Metrics no machine can measure of itself: they need time."""

from collections.abc import Iterator

from node.suite.metrics import MEMBERS, Metric

# category, name, unit, method, who measures, why not here
_ROWS = (
    ("availability", "uptime", "bps", "heartbeats and unannounced windows", MEMBERS, "see `swarm rewards explain`"),
)


def metrics_of_others(category: str) -> Iterator[Metric]:
    """Metrics of a category that others measure, each with the reason why it has no value here."""
    for of, name, unit, method, by, problem in _ROWS:
        if of == category:
            yield Metric(category=of, name=name, unit=unit, method=method, paid_by=by, problem=problem)

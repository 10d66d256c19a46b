"""Metrics no machine can measure of itself: they need customers' requests, peers or time."""

from collections.abc import Iterator

from node.suite.metrics import MEMBERS, PEERS, Metric

NEEDS_PEERS = "not built: needs drawn peers"
IN_AUDITS = "set SWARM_NETWORK_MBPS; see GET /v1/audits/{node} of a member"

# category, name, unit, method, who measures, why not here
_ROWS = (
    ("network", "bandwidth up", "Mbit/s", "audits: a payload down and back, the slower way counts", MEMBERS, IN_AUDITS),
    (
        "network",
        "bandwidth down",
        "Mbit/s",
        "audits: a payload down and back, the slower way counts",
        MEMBERS,
        IN_AUDITS,
    ),
    ("network", "latency", "us", "mesh pings between drawn peers", PEERS, NEEDS_PEERS),
    ("network", "jitter", "us", "mesh pings between drawn peers", PEERS, NEEDS_PEERS),
    ("network", "loss", "ppm", "mesh pings between drawn peers", PEERS, NEEDS_PEERS),
    ("availability", "uptime", "bps", "heartbeats and unannounced windows", MEMBERS, "see `swarm rewards explain`"),
)


def metrics_of_others(category: str) -> Iterator[Metric]:
    """Metrics of a category that others measure, each with the reason why it has no value here."""
    for of, name, unit, method, by, problem in _ROWS:
        if of == category:
            yield Metric(category=of, name=name, unit=unit, method=method, paid_by=by, problem=problem)

"""What people claim beside their rate, what of it the oracle measured, and why it was nothing."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from swarm_chain.core.kinds import Category
from tests.e2e.world import World

HONEST, LIAR, COMPUTE_LIAR = "alice", "carol", "mallory"
CLAIMANTS = (HONEST, LIAR)
CLAIMS: Mapping[str, str] = {  # settings of those who claim: small, since all of it shares two cores
    "SWARM_MEMORY_MIB": "8",
    "SWARM_TRAINING_RATE": "128",
    "SWARM_STORAGE_MB": "4",
    "SWARM_NETWORK_MBPS": "20",
    "SWARM_SERVING_RATE": "4",
}
CLAIMED = (Category.SERVING, Category.STORAGE, Category.NETWORK, Category.MEMORY, Category.TRAINING)
UNITS: Mapping[Category, str] = {
    Category.COMPUTE: "mtops",
    Category.SERVING: "requests/s",
    Category.STORAGE: "MB",
    Category.NETWORK: "Mbit/s",
    Category.MEMORY: "MiB",
    Category.TRAINING: "samples/s",
}


def claims_of(name: str) -> dict[str, str]:
    """Settings of somebody's node."""
    return dict(CLAIMS) if name in CLAIMANTS else {}


def is_judged(world: World, name: str, epoch: int) -> bool:
    """Whether everything somebody claims was asked and judged in an epoch."""
    audits = [one for one in _audits(world, name) if one["windowId"] >> 16 == epoch]
    probes = [one for one in _probes(world, name) if one["epoch"] == epoch]
    asked = {one["category"] for one in audits}
    audited = {category.value for category in CLAIMED if category is not Category.SERVING}
    return asked == audited and all(one["outcome"] for one in audits) and bool(probes)


def claims_facts(world: World, epoch: int, lie: int) -> dict[str, Any]:
    """By category and person: what was claimed and proven, whether it weighed, and why not.

    Args:
        world: the network.
        epoch: in which everybody claimed.
        lie: epoch of the invented rows.
    """
    facts: dict[str, Any] = {Category.COMPUTE: _compute_facts(world, lie)}
    for name in CLAIMANTS:
        told = _explained(world, name, epoch)
        for category in CLAIMED:
            facts.setdefault(category, {})[name] = _claim(world, name, category, epoch, told)
    return {category.value: facts[category] for category in (Category.COMPUTE, *CLAIMED)}


def claims_promises(claims: Mapping[str, Any]) -> dict[str, bool]:
    """What the story promises of them."""
    promises: dict[str, bool] = {}
    for category, people in claims.items():
        liar = COMPUTE_LIAR if category == Category.COMPUTE else LIAR
        honest, lying = people[HONEST], people[liar]
        promises |= {
            f"{HONEST} proved {category} and it weighed": honest["proven"] > 0 and honest["weighs"],
            f"{liar} lied about {category} and got nothing for it": lying["proven"] == 0 and not lying["weighs"],
            f"it is told why {liar} has no {category}": bool(lying["reason"]) and not honest["reason"],
        }
    return promises


def claims_table(claims: Mapping[str, Any]) -> Table:
    """One row a category and person."""
    shown = Table("category", "provider", "claimed", "proven", "unit", "weighs", "why not", title="what was claimed")
    for category, people in claims.items():
        for name, one in people.items():
            weighs = "yes" if one["weighs"] else "no"
            numbers = (str(one["claimed"]), str(one["proven"]))
            shown.add_row(category, name, *numbers, UNITS[Category(category)], weighs, one["reason"] or "-")
    return shown


def _claim(world: World, name: str, category: Category, epoch: int, told: Mapping[str, Any]) -> dict[str, Any]:
    measured = next((one for one in told["measurements"] if one["category"] == category), {"units": 0})
    asked = (
        [one for one in _probes(world, name) if one["epoch"] == epoch]
        if category is Category.SERVING
        else [one for one in _audits(world, name) if one["windowId"] >> 16 == epoch and one["category"] == category]
    )
    return {
        "claimed": max((one["claim"] for one in asked), default=0),
        "proven": measured["units"] or 0,
        "weighs": _weighs(told, category),
        "reason": ", ".join(sorted({one["reason"] for one in asked if one["reason"]})),
    }


def _compute_facts(world: World, epoch: int) -> dict[str, Any]:
    facts = {}
    for name in (HONEST, COMPUTE_LIAR):
        told = _explained(world, name, epoch)
        units = sum(int(one["units"]) for one in told["line"]["weights"] if one["category"] == Category.COMPUTE)
        facts[name] = {
            "claimed": max(_committed_mtops(one) for one in told["verdicts"]),
            "proven": units,
            "weighs": _weighs(told, Category.COMPUTE),
            "reason": ", ".join(sorted({one["reason"] for one in told["verdicts"] if one["reason"]})),
        }
    return facts


def _committed_mtops(verdict: Mapping[str, Any]) -> int:
    """Rate that a commitment claims: its products, two operations each, by the median time it took."""
    plan, elapsed_ms = verdict["plan"], verdict["elapsedMs"]
    if not plan or not elapsed_ms:
        return 0
    return int(2 * plan["m"] * plan["n"] ** 2 * plan["steps"] // (elapsed_ms * 10**6))


def _weighs(told: Mapping[str, Any], category: Category) -> bool:
    return any(one["category"] == category and int(one["weight"]) > 0 for one in told["line"]["weights"])


def _explained(world: World, name: str, epoch: int) -> dict[str, Any]:
    told: dict[str, Any] = world.oracle(f"/v1/epochs/{epoch}/explain/{world.provider_of(name)}")
    return told


def _audits(world: World, name: str) -> list[dict[str, Any]]:
    return list(world.oracle(f"/v1/audits/{_node(world, name)}")["audits"])


def _probes(world: World, name: str) -> list[dict[str, Any]]:
    return list(world.oracle(f"/v1/probes/{_node(world, name)}")["probes"])


def _node(world: World, name: str) -> str:
    return str(world.events("ProviderRegistry", "NodeAdded", providerId=world.provider_of(name))[0].args["node"])

"""Which Ray nodes a job's own workers run on: those of its provider, and of them the ones that are labelled fast enough.

nodes of the provider --labels say at least placement.measured, or it is this node--> fit --room for all workers--> selector

Ray compares labels for equality alone, so the nodes that fit are named. A label is the node's own word, and as old as its
Ray node: it chooses among nodes of one provider only, which cheats nobody but itself, and it holds up no job. Where the nodes
that fit have no room now, workers run on all of the provider's, as they do for a job that asks for nothing. This node always
fits: the gateway chose it by what members say today.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from node.cluster import NODE_LABEL, is_label_value, measured_label
from swarm_chain.core.jobs import JobSpec, Resources

_UNITS: Final = re.compile(r"[0-9]{1,16}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RayNode:
    """A Ray node: its labels, and what of each resource is free there, in Ray's units."""

    labels: Mapping[str, str]
    free: Mapping[str, float]


def selector_of(within: Mapping[str, str], spec: JobSpec) -> Mapping[str, str]:
    """What selects the Ray nodes of a job's workers in the cluster this process is connected to.

    Args:
        within: labels they have in any case; empty: any node.
        spec: the job.
    """
    if not within or not spec.placement.measured:
        return within
    import ray

    own = str(ray.get_runtime_context().get_node_labels().get(NODE_LABEL, ""))
    return worker_selector(within, spec, own, ray_nodes())


def worker_selector(within: Mapping[str, str], spec: JobSpec, own: str, nodes: Iterable[RayNode]) -> Mapping[str, str]:
    """What selects the Ray nodes of a job's workers. Pure.

    Args:
        within: labels they have in any case.
        spec: the job.
        own: address of this node.
        nodes: of the cluster.

    Returns:
        `within`, and the names of the nodes that fit where these have room for all workers.
    """
    among = [one for one in nodes if within.items() <= one.labels.items() and is_label_value(_name(one))]
    fit = [one for one in among if _name(one) == own or _is_fast_enough(one, spec.placement.measured)]
    if sum(_workers_on(one, spec.resources) for one in fit) < spec.resources.workers:
        return within
    return MappingProxyType({**within, NODE_LABEL: _any_of(map(_name, fit))})


def ray_nodes() -> Sequence[RayNode]:
    """Live Ray nodes of the cluster this process is connected to."""
    import ray
    from ray._private.state import available_resources_per_node

    free = available_resources_per_node()  # type: ignore[no-untyped-call]  # Ray has no types for either
    found = ray.nodes()  # type: ignore[no-untyped-call]
    return tuple(RayNode(labels=one["Labels"], free=free.get(one["NodeID"], {})) for one in found if one["Alive"])


def _is_fast_enough(node: RayNode, least: Mapping[str, int]) -> bool:
    return all(_units(node.labels.get(measured_label(category), "")) >= units for category, units in least.items())


def _units(label: str) -> int:
    # Labels are other machines' words: what is no number says nothing.
    return int(label) if _UNITS.fullmatch(label) else 0


def _name(node: RayNode) -> str:
    return node.labels.get(NODE_LABEL, "")


def _workers_on(node: RayNode, each: Resources) -> int:
    wanted = (("CPU", each.cpus), ("GPU", each.gpus), ("memory", each.memory_mb * 1_000_000))
    return min(int(node.free.get(name, 0) // amount) for name, amount in wanted if amount)


def _any_of(names: Iterable[str]) -> str:
    return f"in({','.join(sorted(set(names)))})"

"""Plans: how long a run every device owes next epoch, from what it proved in this one."""

from collections.abc import Iterable, Mapping
from operator import itemgetter

from oracle.model import Plan
from swarm_chain.core.params import ComputeParams
from swarm_chain.core.units import Address, Mtops

Device = tuple[Address, int]
OPS_PER_MTOPS_MS = 1_000_000  # 10^9 operations a second are 10^6 a millisecond


def planned_steps(mtops: Mtops, compute: ComputeParams) -> int:
    """Size a run so that it takes about the target time at a measured rate.

    Args:
        mtops: measured rate, 10^9 operations a second.
        compute: m, n, target and bounds.

    Returns:
        Steps in [steps, max_steps], rounded down before clamping.

    Source: compute-proof.md, Timeline of one window; inverse of `swarm_chain.core.compute.mtops`.
    """
    steps = mtops * OPS_PER_MTOPS_MS * compute.target_ms // (2 * compute.m * compute.n * compute.n)
    return max(compute.steps, min(steps, compute.max_steps))


def next_plans(
    previous: Iterable[Plan], capacities: Mapping[Device, Mtops], nodes: Iterable[Address], compute: ComputeParams
) -> tuple[Plan, ...]:
    """Fix what every device owes next epoch, before any seed is known.

    Args:
        previous: plans of this epoch; kept for a device that proved nothing, so that failing never shortens a run.
        capacities: mtops of the devices that passed every window.
        nodes: live nodes; plans of others are dropped.
        compute: shape and bounds; a plan of another shape is dropped, so its device starts afresh.

    Returns:
        Plans ordered by node bytes, then device.
    """
    steps = {(p.node, p.device): p.steps for p in previous if (p.m, p.n) == (compute.m, compute.n)}
    sizes = {mtops: planned_steps(mtops, compute) for mtops in set(capacities.values())}
    steps |= {device: sizes[mtops] for device, mtops in capacities.items()}
    live = set(nodes)
    owed = [(*device, count) for device, count in steps.items() if device[0] in live]
    owed.sort(key=itemgetter(1))
    owed.sort(key=lambda one: one[0].lower())  # lower-case hex stands in the order of the bytes
    return tuple(
        [Plan(node=node, device=device, m=compute.m, n=compute.n, steps=count) for node, device, count in owed]
    )

"""Plans: how long a run every device owes next epoch, from what it proved in this one."""

from collections.abc import Iterable, Mapping
from operator import itemgetter

from oracle.model import Plan
from swarm_chain.core.params import ComputeParams
from swarm_chain.core.units import Address, Mtops

Device = tuple[Address, int]
OPS_PER_MTOPS_MS = 1_000_000  # 10^9 operations a second are 10^6 a millisecond


def planned_run(mtops: Mtops, compute: ComputeParams) -> tuple[int, int]:
    """Size a run so that it takes about the target time at a measured rate, also on the fastest device.

    Where all steps a row may have are too few, there are more rows; where few would do, fewer rows of more steps. A run
    that ends early, or a plan that cannot shrink, leaves another identity on the same device something to be paid for.

    Args:
        mtops: measured rate, 10^9 operations a second.
        compute: n, target, bounds of m and of steps.

    Returns:
        (m, steps): the usual m doubled or halved as often as needed, in [min_m, max_m]; steps in [steps, max_steps],
        rounded down before clamping.

    Source: compute-proof.md, Timeline of one window; inverse of `swarm_chain.core.compute.mtops`.
    """
    products = mtops * OPS_PER_MTOPS_MS * compute.target_ms // (2 * compute.n * compute.n)
    m = compute.m
    while products > m * compute.max_steps and m < compute.max_m:
        m *= 2
    while products < m * compute.first_steps and m > compute.min_m:
        m //= 2
    return m, max(compute.steps, min(products // m, compute.max_steps))


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
    runs = {(p.node, p.device): (p.m, p.steps) for p in previous if _fits(p, compute)}
    sizes = {mtops: planned_run(mtops, compute) for mtops in set(capacities.values())}
    runs |= {device: sizes[mtops] for device, mtops in capacities.items()}
    live = set(nodes)
    owed = [(*device, *run) for device, run in runs.items() if device[0] in live]
    owed.sort(key=itemgetter(1))
    owed.sort(key=lambda one: one[0].lower())  # lower-case hex stands in the order of the bytes
    return tuple([Plan(node=node, device=device, m=m, n=compute.n, steps=steps) for node, device, m, steps in owed])


def _fits(plan: Plan, compute: ComputeParams) -> bool:
    return plan.n == compute.n and compute.min_m <= plan.m <= compute.max_m

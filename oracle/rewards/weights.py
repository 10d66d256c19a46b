"""Units that verdicts prove, and the shares of a pool.

verdicts --device_capacities--> mtops a device --node_units--> mtops a node --(lines.py)--> weights --shares--> wei, remainder
"""

from collections.abc import Iterable, Mapping, Sequence

from swarm_chain.core.kinds import Outcome
from swarm_chain.core.model import Verdict
from swarm_chain.core.units import Address, Mtops, Wei

Device = tuple[Address, int]


def device_capacities(verdicts: Iterable[Verdict], windows: int) -> dict[Device, Mtops]:
    """Give each device's capacity of an epoch: the least it proved in any window that counts.

    One failed or missing window makes it zero, which is what makes one card serving two identities expensive.

    Args:
        verdicts: all verdicts of the epoch, at most one per window and device.
        windows: number of windows that count.

    Returns:
        Devices that passed every window, with their minimum; no entry means zero.

    Source: compute-proof.md, confirmation windows.
    """
    passed: dict[Device, int] = {}
    least: dict[Device, Mtops] = {}
    for verdict in verdicts:
        if verdict.outcome is Outcome.PASSED:
            device = (verdict.node, verdict.device)
            passed[device] = passed.get(device, 0) + 1
            least[device] = min(least.get(device, verdict.mtops), verdict.mtops)
    return {device: least[device] for device, count in passed.items() if count == windows}


def node_units(capacities: Mapping[Device, Mtops]) -> dict[Address, Mtops]:
    """Add up the capacities of each node's devices."""
    units: dict[Address, Mtops] = {}
    for (node, _), capacity in capacities.items():
        units[node] = Mtops(units.get(node, 0) + capacity)
    return units


def shares(pool: Wei, weights: Sequence[int]) -> tuple[list[Wei], Wei]:
    """Split a pool by weight: floor(pool x w / Σw) each.

    Args:
        pool: wei to split.
        weights: >= 0, one per provider; their order does not matter to anyone's share.

    Returns:
        (wei by provider, remainder); the remainder is less than one wei a provider, or the whole pool if all weigh
        nothing. Both together are the pool, exactly.
    """
    total = sum(weights)
    if total == 0:
        return [Wei(0)] * len(weights), pool
    split = [Wei(pool * weight // total) for weight in weights]
    return split, Wei(pool - sum(split))

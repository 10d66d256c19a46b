"""What a provider weighs in the compute category, and its share of the pool.

verdicts --device_capacities--> mtops a device --weigh--> weight of a provider --shares--> wei, remainder carried
"""

from collections.abc import Iterable, Mapping, Sequence

from swarm_chain.core.kinds import Outcome
from swarm_chain.core.model import ProviderRecord, Verdict
from swarm_chain.core.params import RewardParams, StakeParams
from swarm_chain.core.units import BPS, Address, Bps, Mtops, Wei

MTOPS_PER_TOPS = 1000
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


def covered_mtops(active_stake_wei: Wei, stake: StakeParams) -> Mtops:
    """Give the capacity a stake covers: what lies above the minimum, per TOPS, rounded down; more earns nothing.

    Args:
        active_stake_wei: stake that is not thawing.
        stake: minimum and price per verified TOPS (1,000 mtops).
    """
    above = max(active_stake_wei - stake.minimum_wei, 0)
    return Mtops(above * MTOPS_PER_TOPS // stake.per_tops_wei)


def interpolate(table: Sequence[tuple[int, int]], value: int) -> int:
    """Read a piecewise-linear table, rounded down.

    Args:
        table: (input, output) pairs, inputs strictly ascending.
        value: at least the first input; above the last one the last output holds.
    """
    low_in, low_out = table[0]
    for high_in, high_out in table[1:]:
        if value < high_in:
            return low_out + (high_out - low_out) * (value - low_in) // (high_in - low_in)
        low_in, low_out = high_in, high_out
    return low_out


def multiplier_bps(factors: Iterable[Bps], cap_bps: Bps) -> Bps:
    """Multiply factors (10000 is neutral), each product rounded down, and cap the result.

    Args:
        factors: commitment, scarcity, tenure, adoption, as far as they apply.
        cap_bps: most the product may be.
    """
    product = BPS
    for factor in factors:
        product = product * factor // BPS
    return Bps(min(product, cap_bps))


def quality_units(
    provider: ProviderRecord, units: Mapping[Address, Mtops], availability: Mapping[Address, Bps], rewards: RewardParams
) -> tuple[Mtops, int]:
    """Add up a provider's units, plain and times quality.

    A node nobody called the roll for is not marked down: its proofs show that it was there.

    Args:
        provider: names the nodes.
        units: mtops by node.
        availability: bps by measured node.
        rewards: quality table.

    Returns:
        (mtops, mtops x bps).
    """
    plain = scaled = 0
    for node in provider.nodes:
        mtops = units.get(node, 0)
        if mtops:
            plain += mtops
            scaled += mtops * interpolate(rewards.availability_table, availability.get(node, BPS))
    return Mtops(plain), scaled


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

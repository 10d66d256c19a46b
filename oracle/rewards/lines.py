"""Rewards and penalties of all providers of an epoch, each with everything that led to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from oracle.model import EpochFacts, Network, Pools, RewardLine
from oracle.rewards import emission, penalties, weights
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.model import ProviderRecord
from swarm_chain.core.units import BPS, Address, Bps, Mtops, ProviderId, Wei


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardInputs:
    """What one epoch is paid from; `covered` epochs ended since the previous report, `gross_wei` is the last reward.

    `capacities` are what `weights.device_capacities` made of the verdicts.
    """

    network: Network
    providers: tuple[ProviderRecord, ...]
    facts: EpochFacts
    capacities: Mapping[weights.Device, Mtops]
    carry_wei: Wei
    gross_wei: Mapping[ProviderId, Wei]
    covered: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Weighed:
    """A provider before the pool is split: mtops, bps, why it is excused, and its weight."""

    units: Mtops
    covered: Mtops
    quality: Bps
    multiplier: Bps
    excused: str
    weight: int


def reward_epoch(inputs: RewardInputs) -> tuple[Pools, tuple[RewardLine, ...]]:
    """Weigh every provider, split the pool, and price missed service levels.

    Args:
        inputs: providers ordered by id, facts of the epoch, and what the previous epoch left.

    Returns:
        Pools and one line per provider, in the order of the providers.

    Source: economics.md, Epoch reward 1 to 6.
    """
    units = weights.node_units(inputs.capacities)
    weighed = [_weigh(provider, units, inputs) for provider in inputs.providers]
    total = sum(one.weight for one in weighed)
    pools = _pools(inputs, total)
    split, carry = weights.shares(_shared(pools), [one.weight for one in weighed])
    lines = [
        _line(one, reward, provider, inputs)
        for one, reward, provider in zip(weighed, split, inputs.providers, strict=True)
    ]
    return replace(pools, carry_out_wei=carry), _capped(lines, inputs)


def _weigh(provider: ProviderRecord, units: Mapping[Address, Mtops], inputs: RewardInputs) -> _Weighed:
    params, facts = inputs.network.params, inputs.facts
    excused = penalties.excuse(provider, inputs.network.epoch_start(facts.epoch), facts.maintenance)
    plain, scaled = weights.quality_units(provider, units, facts.availability, params.rewards)
    covered = Mtops(min(plain, weights.covered_mtops(provider.active_stake_wei, params.stake)))
    # No lock, scarcity, tenure or adoption is measured yet: every factor is neutral.
    multiplier = weights.multiplier_bps((), params.rewards.multiplier_cap_bps)
    earns = plain > 0 and penalties.may_earn(excused)
    return _Weighed(
        units=plain,
        covered=covered,
        quality=Bps(scaled // plain if plain else 0),
        multiplier=multiplier,
        excused=excused,
        weight=scaled * covered * multiplier // (plain * BPS) if earns else 0,
    )


def _pools(inputs: RewardInputs, total_weight: int) -> Pools:
    params, facts = inputs.network.params, inputs.facts
    emitted = emission.emission_wei(params.rewards, facts.epoch + 1 - inputs.covered, facts.epoch)
    paid = sum(job.device_seconds for job in facts.jobs if job.outcome is Outcome.PASSED)
    offered = len(inputs.capacities) * inputs.covered * params.epoch.epoch_for
    utilisation = emission.utilisation_bps(paid, offered)
    pool = emission.pool_wei(emitted, utilisation, params.rewards.base_bps)
    compute = emission.category_wei(pool, params.rewards.pools_bps.compute)
    return Pools(
        emission_wei=emitted,
        paid_seconds=paid,
        offered_seconds=offered,
        utilisation_bps=utilisation,
        pool_wei=pool,
        compute_wei=compute if total_weight else Wei(0),
        carried_in_wei=inputs.carry_wei,
        total_weight=total_weight,
        carry_out_wei=inputs.carry_wei,
    )


def _shared(pools: Pools) -> Wei:
    # What rounding left of the last pool opens this one; it was emitted then, so the schedule is never exceeded.
    return Wei(pools.compute_wei + pools.carried_in_wei)


def _line(weighed: _Weighed, reward: Wei, provider: ProviderRecord, inputs: RewardInputs) -> RewardLine:
    facts, params = inputs.facts, inputs.network.params.penalties
    availability = penalties.provider_availability(provider, facts.availability, facts.maintenance)
    shortfall = Bps(0) if weighed.excused else penalties.shortfall_bps(availability, params)
    # The evidence is that of one epoch, so a report that covers several prices the shortfall at the reward of one.
    base = Wei(max(reward // inputs.covered, inputs.gross_wei.get(provider.provider_id, 0)))
    return RewardLine(
        provider_id=provider.provider_id,
        units_mtops=weighed.units,
        covered_mtops=weighed.covered,
        quality_bps=weighed.quality,
        multiplier_bps=weighed.multiplier,
        weight=weighed.weight,
        reward_wei=reward,
        availability_bps=availability,
        excused=weighed.excused,
        shortfall_bps=shortfall,
        base_wei=base,
        penalty_wei=penalties.penalty_wei(base, shortfall, Wei(provider.stake_wei + reward), params),
    )


def _capped(lines: Sequence[RewardLine], inputs: RewardInputs) -> tuple[RewardLine, ...]:
    cap = Wei(inputs.network.params.rewards.max_penalty_per_epoch_wei * inputs.covered)
    amounts = penalties.cap_total([line.penalty_wei for line in lines], cap)
    return tuple(
        line if line.penalty_wei == amount else replace(line, penalty_wei=amount)
        for line, amount in zip(lines, amounts, strict=True)
    )

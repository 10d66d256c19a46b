"""Rewards and penalties of all providers of an epoch, each with everything that led to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from oracle.model import EpochFacts, Network, Pools, RewardLine
from oracle.rewards import emission, penalties, weights
from swarm_chain.core.model import Outcome, ProviderRecord
from swarm_chain.core.units import BPS, Address, Bps, Mtops, ProviderId, Wei


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardInputs:
    """What one epoch is paid from; `covered` epochs ended since the previous report, `gross_wei` is the last reward."""

    network: Network
    providers: tuple[ProviderRecord, ...]
    facts: EpochFacts
    carry_wei: Wei
    gross_wei: Mapping[ProviderId, Wei]
    covered: int


def reward_epoch(inputs: RewardInputs) -> tuple[Pools, tuple[RewardLine, ...]]:
    """Weigh every provider, split the pool, and price missed service levels.

    Args:
        inputs: providers ordered by id, facts of the epoch, and what the previous epoch left.

    Returns:
        Pools and one line per provider, in the order of the providers.

    Source: economics.md, Epoch reward 1 to 6.
    """
    facts = inputs.facts
    capacities = weights.device_capacities(facts.verdicts, len(facts.windows))
    units = weights.node_units(capacities)
    weighed = [_weigh(provider, units, inputs) for provider in inputs.providers]
    total = sum(line.weight for line in weighed)
    pools = _pools(inputs, len(capacities), total)
    split, carry = weights.shares(_shared(pools), [line.weight for line in weighed])
    charged = [
        _charge(line, reward, provider, inputs)
        for line, reward, provider in zip(weighed, split, inputs.providers, strict=True)
    ]
    return replace(pools, carry_out_wei=carry), _capped(charged, inputs)


def _weigh(provider: ProviderRecord, units: Mapping[Address, Mtops], inputs: RewardInputs) -> RewardLine:
    params, facts = inputs.network.params, inputs.facts
    excused = penalties.excuse(provider, inputs.network.epoch_start(facts.epoch), facts.maintenance)
    plain, scaled = weights.quality_units(provider, units, facts.availability, params.rewards)
    covered = min(plain, weights.covered_mtops(provider.active_stake_wei, params.stake))
    multiplier = weights.multiplier_bps((), params.rewards.multiplier_cap_bps)
    earning = plain > 0 and penalties.may_earn(excused)
    availability = penalties.provider_availability(provider, facts.availability, facts.maintenance)
    return RewardLine(
        provider_id=provider.provider_id,
        units_mtops=plain,
        covered_mtops=Mtops(covered),
        quality_bps=Bps(scaled // plain if plain else 0),
        multiplier_bps=multiplier,
        weight=scaled * covered * multiplier // (plain * BPS) if earning else 0,
        reward_wei=Wei(0),
        availability_bps=availability,
        excused=excused,
        shortfall_bps=Bps(0) if excused else penalties.shortfall_bps(availability, params.penalties),
        base_wei=Wei(0),
        penalty_wei=Wei(0),
    )


def _pools(inputs: RewardInputs, devices: int, total_weight: int) -> Pools:
    params, facts = inputs.network.params, inputs.facts
    emitted = emission.emission_wei(params.rewards, facts.epoch + 1 - inputs.covered, facts.epoch)
    paid = sum(job.device_seconds for job in facts.jobs if job.outcome is Outcome.PASSED)
    offered = devices * inputs.covered * params.epoch.epoch_for
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


def _charge(line: RewardLine, reward: Wei, provider: ProviderRecord, inputs: RewardInputs) -> RewardLine:
    # The evidence is that of one epoch, so a report that covers several prices the shortfall at the reward of one.
    base = Wei(max(reward // inputs.covered, inputs.gross_wei.get(line.provider_id, 0)))
    limit = Wei(provider.stake_wei + reward)
    penalty = penalties.penalty_wei(base, line.shortfall_bps, limit, inputs.network.params.penalties)
    if not (reward or penalty or base):
        return line
    return replace(line, reward_wei=reward, base_wei=base, penalty_wei=penalty)


def _capped(lines: Sequence[RewardLine], inputs: RewardInputs) -> tuple[RewardLine, ...]:
    cap = Wei(inputs.network.params.rewards.max_penalty_per_epoch_wei * inputs.covered)
    amounts = penalties.cap_total([line.penalty_wei for line in lines], cap)
    return tuple(
        line if line.penalty_wei == amount else replace(line, penalty_wei=amount)
        for line, amount in zip(lines, amounts, strict=True)
    )

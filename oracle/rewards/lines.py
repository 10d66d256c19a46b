"""Rewards and penalties of all providers of an epoch, each with everything that led to it.

proven units x quality x multiplier --> weights by category --> shares of each category's pool --> reward lines
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from oracle.economy import CategoryPool, CategoryWeight
from oracle.model import EpochFacts, Network, Pools, RewardLine
from oracle.rewards import cover, emission, penalties, quality, weights
from oracle.rewards.multiplier import Multipliers, Past
from swarm_chain.core.kinds import Category, Outcome
from swarm_chain.core.model import ProviderRecord
from swarm_chain.core.tables import interpolate
from swarm_chain.core.units import BPS, Address, Bps, Mtops, ProviderId, Timestamp, Wei


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardInputs:
    """What one epoch is paid from; `covered` epochs ended since the previous report, `gross_wei` is the last reward.

    `capacities` are what `weights.device_capacities` made of the verdicts; `past` is what multiplies.
    """

    network: Network
    providers: tuple[ProviderRecord, ...]
    facts: EpochFacts
    capacities: Mapping[weights.Device, Mtops]
    carry_wei: Wei
    gross_wei: Mapping[ProviderId, Wei]
    covered: int
    past: Past = field(default_factory=Past)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scales:
    """What every provider of the epoch is weighed with, made once."""

    started_at: Timestamp
    work: Mapping[Category, Mapping[Address, int]]
    prices: Mapping[Category, Wei]
    multipliers: Multipliers
    availability: Mapping[Address, Bps]
    factors: Mapping[tuple[Category, Address], Bps]
    missed: Mapping[Address, tuple[Bps, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Weighed:
    """A provider before the pools are split: why it is excused, and its weights."""

    excused: str
    weights: tuple[CategoryWeight, ...]


def reward_epoch(inputs: RewardInputs) -> tuple[Pools, tuple[RewardLine, ...]]:
    """Weigh every provider, split the pools, and price missed service levels.

    Args:
        inputs: providers ordered by id, facts of the epoch, and what the previous epoch left.

    Returns:
        Pools and one line per provider, in the order of the providers.

    Source: economics.md, Epoch reward 1 to 6.
    """
    scales = _scales(inputs)
    weighed = [_weigh(provider, scales, inputs) for provider in inputs.providers]
    pools = _pools(inputs, weighed)
    rewards, carry = _split(pools, weighed)
    lines = [
        _line(one, reward, provider, scales, inputs)
        for one, reward, provider in zip(weighed, rewards, inputs.providers, strict=True)
    ]
    return replace(pools, carry_out_wei=carry), _capped(lines, inputs)


def _scales(inputs: RewardInputs) -> _Scales:
    params, facts = inputs.network.params, inputs.facts
    proven = {Category.COMPUTE: weights.node_units(inputs.capacities), **facts.proven}
    return _Scales(
        started_at=inputs.network.epoch_start(facts.epoch),
        work={category: proven[category] for category in Category if proven.get(category)},
        prices={category: cover.unit_price_wei(category, params.stake) for category in Category},
        multipliers=Multipliers(inputs.past, facts.epoch, params.rewards),
        availability=quality.judged_availability(facts.availability, facts.maintenance),
        factors=quality.service_factors(facts.services, params.services, params.rewards),
        missed=quality.service_shortfalls(facts.services, params.services),
    )


def _weigh(provider: ProviderRecord, scales: _Scales, inputs: RewardInputs) -> _Weighed:
    params = inputs.network.params
    excused = penalties.excuse(provider, scales.started_at, inputs.facts.maintenance)
    proven = {
        category: (units, scaled)
        for category in scales.work
        for units, scaled in (_quality_units(provider, category, scales, inputs),)
        if units
    }
    if not proven:
        return _Weighed(excused=excused, weights=())
    units = {category: plain for category, (plain, _) in proven.items()}
    covered = cover.covered_units(units, provider.active_stake_wei, scales.prices, params.stake.minimum_wei)
    earns = penalties.may_earn(excused)
    return _Weighed(
        excused=excused,
        weights=tuple(
            _weight(provider, category, (plain, scaled, covered[category] if earns else 0), scales)
            for category, (plain, scaled) in proven.items()
        ),
    )


def _quality_units(
    provider: ProviderRecord, category: Category, scales: _Scales, inputs: RewardInputs
) -> tuple[int, int]:
    # A node nobody called the roll for is not marked down: its proofs show that it was there.
    table, plain, scaled = inputs.network.params.rewards.availability_table, 0, 0
    work = scales.work[category]
    for node in provider.nodes:
        units = work.get(node, 0)
        if units:
            present = interpolate(table, scales.availability.get(node, BPS))
            plain += units
            scaled += units * (present * scales.factors.get((category, node), BPS) // BPS)
    return plain, scaled


def _weight(
    provider: ProviderRecord, category: Category, counted: tuple[int, int, int], scales: _Scales
) -> CategoryWeight:
    plain, scaled, covered = counted
    multiplier = scales.multipliers.of(provider.provider_id, (category, provider.region, provider.hardware_class))
    return CategoryWeight(
        category=category,
        units=plain,
        covered=covered,
        quality_bps=Bps(scaled // plain),
        multiplier=multiplier,
        weight=scaled * covered * multiplier.product_bps // (plain * BPS),
    )


def _pools(inputs: RewardInputs, weighed: Iterable[_Weighed]) -> Pools:
    params, facts = inputs.network.params, inputs.facts
    emitted = emission.emission_wei(params.rewards, facts.epoch + 1 - inputs.covered, facts.epoch)
    paid = sum(job.device_seconds for job in facts.jobs if job.outcome is Outcome.PASSED)
    offered = len(inputs.capacities) * inputs.covered * params.epoch.epoch_for
    utilisation = emission.utilisation_bps(paid, offered)
    pool = emission.pool_wei(emitted, utilisation, params.rewards.base_bps)
    totals = dict.fromkeys(Category, 0)
    for one in weighed:
        for weight in one.weights:
            totals[weight.category] += weight.weight
    # What rounding left of the last pools opens the first of these; it was emitted then, so the schedule is never exceeded.
    carried = [inputs.carry_wei]
    return Pools(
        emission_wei=emitted,
        paid_seconds=paid,
        offered_seconds=offered,
        utilisation_bps=utilisation,
        pool_wei=pool,
        categories=tuple(
            CategoryPool(
                category=category,
                pool_wei=emission.category_wei(pool, params.rewards.pools_bps.of(category)),
                carried_in_wei=carried.pop() if carried else Wei(0),
                total_weight=total,
            )
            for category, total in totals.items()
            if total
        ),
        carry_out_wei=inputs.carry_wei,
    )


def _split(pools: Pools, weighed: Sequence[_Weighed]) -> tuple[list[Wei], Wei]:
    rewards, carry = [Wei(0)] * len(weighed), Wei(0) if pools.categories else pools.carry_out_wei
    for pool in pools.categories:
        held = [
            (place, weight.weight)
            for place, one in enumerate(weighed)
            for weight in one.weights
            if weight.category is pool.category
        ]
        split, rest = weights.shares(Wei(pool.pool_wei + pool.carried_in_wei), [weight for _, weight in held])
        for (place, _), share in zip(held, split, strict=True):
            rewards[place] = Wei(rewards[place] + share)
        carry = Wei(carry + rest)
    return rewards, carry


def _line(
    weighed: _Weighed, reward: Wei, provider: ProviderRecord, scales: _Scales, inputs: RewardInputs
) -> RewardLine:
    params = inputs.network.params.penalties
    availability = penalties.provider_availability(provider, scales.availability)
    missed = penalties.service_shortfall(provider, scales.missed)
    shortfall = Bps(0) if weighed.excused else penalties.shortfall_bps(availability, missed, params)
    # The evidence is that of one epoch, so a report that covers several prices the shortfall at the reward of one.
    base = Wei(max(reward // inputs.covered, inputs.gross_wei.get(provider.provider_id, 0)))
    return RewardLine(
        provider_id=provider.provider_id,
        weights=weighed.weights,
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

"""Rewards and penalties of all providers of an epoch, each with everything that led to it.

proven units x quality x multiplier --> weights by category --> shares of each category's pool --> reward lines
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from oracle.economy import CategoryPool, CategoryWeight, GradedService
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
    """What every provider of the epoch is weighed with, made once; `presence` is the quality of each availability."""

    started_at: Timestamp
    work: Mapping[Category, Mapping[Address, int]]
    prices: Mapping[Category, Wei]
    multipliers: Multipliers
    availability: Mapping[Address, Bps]
    presence: Mapping[int, int]
    services: Mapping[tuple[Category, Address], GradedService]
    services_of: Mapping[Address, tuple[GradedService, ...]]


# A provider before the pools are split: why it is excused, and its weights.
_Weighed = tuple[str, tuple[CategoryWeight, ...]]


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
    availability = quality.judged_availability(facts.availability, facts.maintenance)
    table = params.rewards.availability_table
    classes = quality.classes_of(facts.services, inputs.providers)
    services = quality.graded_services(facts.services, classes, params.services, params.rewards)
    return _Scales(
        started_at=inputs.network.epoch_start(facts.epoch),
        work={category: proven[category] for category in Category if proven.get(category)},
        prices={category: cover.unit_price_wei(category, params.stake) for category in Category},
        multipliers=Multipliers(inputs.past, facts.epoch, params.rewards),
        availability=availability,
        presence={share: interpolate(table, share) for share in {BPS, *availability.values()}},
        services=services,
        services_of=quality.by_node(services),
    )


def _weigh(provider: ProviderRecord, scales: _Scales, inputs: RewardInputs) -> _Weighed:
    excused = penalties.excuse(provider, scales.started_at, inputs.facts.maintenance)
    proven = []
    for category, work in scales.work.items():
        graded = _graded(provider, category, work, scales)
        if graded:
            proven.append((category, sum([units for _, units in graded]), graded))
    if not proven:
        return excused, ()
    prices = scales.prices
    needed = cover.needed_wei([(category, units) for category, units, _ in proven], prices)
    above = provider.active_stake_wei - inputs.network.params.stake.minimum_wei
    if not penalties.may_earn(excused):
        above = -1
    weighed = []
    for category, units, graded in proven:
        covered = cover.covered_units(units, prices[category], needed, above)
        weighed.append(_weight(provider, category, units, covered, graded, scales.multipliers))
    return excused, tuple(weighed)


def _graded(
    provider: ProviderRecord, category: Category, work: Mapping[Address, int], scales: _Scales
) -> list[tuple[int, int]]:
    # (quality, units) of each node. One nobody called the roll for is not marked down: its proofs show that it was there.
    graded = []
    for node in provider.nodes:
        units = work.get(node, 0)
        if units:
            present = scales.presence[scales.availability.get(node, BPS)]
            served = scales.services.get((category, node)) if scales.services else None
            if served is not None:
                present = present * served.factor_bps // BPS
            graded.append((present, units))
    return graded


def _weight(
    provider: ProviderRecord,
    category: Category,
    units: int,
    covered: int,
    graded: Sequence[tuple[int, int]],
    multipliers: Multipliers,
) -> CategoryWeight:
    multiplier = multipliers.of(provider.provider_id, category, provider.region, provider.hardware_class)
    good = cover.best_first(graded, covered)
    return CategoryWeight(
        category=category,
        units=units,
        covered=covered,
        quality_bps=Bps(good // covered if covered else 0),
        multiplier=multiplier,
        weight=good * multiplier.product_bps // BPS,
    )


def _pools(inputs: RewardInputs, weighed: Iterable[_Weighed]) -> Pools:
    params, facts = inputs.network.params, inputs.facts
    emitted = emission.emission_wei(params.rewards, facts.epoch + 1 - inputs.covered, facts.epoch)
    paid = sum(job.device_seconds for job in facts.jobs if job.outcome is Outcome.PASSED)
    offered = len(inputs.capacities) * inputs.covered * params.epoch.epoch_for
    utilisation = emission.utilisation_bps(paid, offered)
    pool = emission.pool_wei(emitted, utilisation, params.rewards.base_bps)
    totals = dict.fromkeys(Category, 0)
    for _, held in weighed:
        for weight in held:
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
        places, held = _held(weighed, pool.category)
        split, rest = weights.shares(Wei(pool.pool_wei + pool.carried_in_wei), held)
        for place, share in zip(places, split, strict=True):
            rewards[place] = Wei(rewards[place] + share)
        carry = Wei(carry + rest)
    return rewards, carry


def _held(weighed: Sequence[_Weighed], category: Category) -> tuple[list[int], list[int]]:
    """Places of the providers that weigh something in a category, and their weights."""
    places, held = [], []
    for place, (_, proven) in enumerate(weighed):
        for weight in proven:
            if weight.category is category:
                places.append(place)
                held.append(weight.weight)
    return places, held


def _line(
    weighed: _Weighed, reward: Wei, provider: ProviderRecord, scales: _Scales, inputs: RewardInputs
) -> RewardLine:
    params = inputs.network.params.penalties
    availability = penalties.provider_availability(provider, scales.availability)
    services = _services(provider, scales) if scales.services_of else ()
    excused, proven = weighed
    missed = penalties.service_shortfall(services) if services else Bps(0)
    shortfall = Bps(0) if excused else penalties.shortfall_bps(availability, missed, params)
    # The evidence is that of one epoch, so a report that covers several prices the shortfall at the reward of one.
    base = Wei(max(reward // inputs.covered, inputs.gross_wei.get(provider.provider_id, 0)))
    return RewardLine(
        provider_id=provider.provider_id,
        weights=proven,
        reward_wei=reward,
        availability_bps=availability,
        excused=excused,
        shortfall_bps=shortfall,
        base_wei=base,
        penalty_wei=penalties.penalty_wei(base, shortfall, Wei(provider.stake_wei + reward), params),
        services=services,
    )


def _services(provider: ProviderRecord, scales: _Scales) -> tuple[GradedService, ...]:
    return tuple(one for node in provider.nodes for one in scales.services_of.get(node, ()))


def _capped(lines: Sequence[RewardLine], inputs: RewardInputs) -> tuple[RewardLine, ...]:
    cap = Wei(inputs.network.params.rewards.max_penalty_per_epoch_wei * inputs.covered)
    amounts = penalties.cap_total([line.penalty_wei for line in lines], cap)
    return tuple(
        line if line.penalty_wei == amount else replace(line, penalty_wei=amount)
        for line, amount in zip(lines, amounts, strict=True)
    )

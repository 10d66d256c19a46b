"""Numbers of stake, rewards, service levels, penalties and maintenance, and the rules they must keep (economics.md)."""

from dataclasses import dataclass, fields
from typing import Any, cast

from swarm_chain.core.kinds import Category, HardwareClass
from swarm_chain.core.tables import falls, rises
from swarm_chain.core.units import BPS, Bps, Wei

MTOPS_PER_TOPS, MIB_PER_GIB, MB_PER_TB = 1000, 1024, 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StakeParams:
    """Minimum stake, what capacity above it costs, unbonding and buckets."""

    minimum_wei: Wei
    per_tops_wei: Wei
    per_gib_wei: Wei
    per_tb_wei: Wei
    unbonding_for: int
    min_unbonding_for: int
    max_unbonding_for: int
    grace_for: int
    provider_bucket_bps: Bps
    global_bucket_bps: Bps
    bucket_for: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolShares:
    """Share of the epoch's pool each category gets, bps; together 10000."""

    compute: Bps
    serving: Bps
    storage: Bps
    network: Bps
    memory: Bps
    training: Bps

    def of(self, category: Category) -> Bps:
        """Share of one category."""
        return cast(Bps, getattr(self, category))


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceLevel:
    """What a node owes in a category; 0 is no such level (economics.md, Service levels).

    At most: errors, bps of requests or packets; median response to a client or peer of the same region and of another one,
    us; jitter, us. At least: `rate`, what is delivered a second (IOPS, Mbit), and utilisation, bps of the time asked for.
    """

    error_bps: Bps = Bps(0)
    response_us: int = 0
    far_response_us: int = 0
    jitter_us: int = 0
    rate: int = 0
    utilisation_bps: Bps = Bps(0)


OWES_NOTHING = ServiceLevel()
_AT_LEAST = frozenset({"rate", "utilisation_bps"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceLevels:
    """Service level of each category; a category that is absent is not owed."""

    compute: ServiceLevel = OWES_NOTHING
    serving: ServiceLevel = OWES_NOTHING
    storage: ServiceLevel = OWES_NOTHING
    network: ServiceLevel = OWES_NOTHING
    memory: ServiceLevel = OWES_NOTHING
    training: ServiceLevel = OWES_NOTHING

    def of(self, category: Category) -> ServiceLevel:
        """Level of one category."""
        return cast(ServiceLevel, getattr(self, category))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassLevels:
    """Service levels of each hardware class: a node is judged against its own."""

    cpu: ServiceLevels
    gpu: ServiceLevels
    storage: ServiceLevels

    def owed(self, hardware_class: int, category: Category) -> ServiceLevel:
        """Give what a class owes in a category: what it is penalised for missing. An unknown class owes nothing."""
        known = {HardwareClass.CPU: self.cpu, HardwareClass.GPU: self.gpu, HardwareClass.STORAGE: self.storage}
        levels = known.get(HardwareClass(hardware_class)) if hardware_class in set(HardwareClass) else None
        return OWES_NOTHING if levels is None else levels.of(category)

    def judged(self, hardware_class: int, category: Category) -> ServiceLevel:
        """Give what quality is read against: the class's own level, where it owes none the strictest of the others.

        A class is the provider's own word: if owing nothing meant perfect quality, the class that owes least would be
        everybody's choice.
        """
        own, all_levels = self.owed(hardware_class, category), [self.owed(kind, category) for kind in HardwareClass]
        figures: dict[str, Any] = {}
        for figure in fields(ServiceLevel):
            owed = [getattr(level, figure.name) for level in all_levels if getattr(level, figure.name)]
            strictest = (max if figure.name in _AT_LEAST else min)(owed, default=0)
            figures[figure.name] = getattr(own, figure.name) or strictest
        return ServiceLevel(**figures)


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardParams:
    """Emission, pools, quality and multiplier tables (economics.md, Epoch reward). Tables are (input, output bps) rows.

    Inputs: availability bps; errors, times and what is delivered in bps of the service level; rating in bps of the median
    of the class; seconds of lock; bps of last epoch's supply that a region and class held.
    """

    emission_first_wei: Wei
    emission_decay_ray: int
    base_bps: Bps
    pools_bps: PoolShares
    max_penalty_per_epoch_wei: Wei
    availability_table: tuple[tuple[int, int], ...]
    error_table: tuple[tuple[int, int], ...]
    response_table: tuple[tuple[int, int], ...]
    delivery_table: tuple[tuple[int, int], ...]
    rating_table: tuple[tuple[int, int], ...]
    commitment_table: tuple[tuple[int, int], ...]
    scarcity_table: tuple[tuple[int, int], ...]
    tenure_epochs: int
    tenure_step_bps: Bps
    tenure_cap_bps: Bps
    adoption_epochs: int
    adoption_bps: Bps
    multiplier_cap_bps: Bps


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnShares:
    """One row of the slashing table: what the penalty and the severe column cost."""

    penalty: int
    severe: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PenaltyParams:
    """Service-level penalties and the slashing table (economics.md, Slashing)."""

    availability_target_bps: Bps
    penalty_cap_bps: Bps
    downtime_limit_bps: Bps
    escalation_epochs: int
    restoration_epochs: int
    performance_bps: ColumnShares
    security_bps: ColumnShares
    protocol_bps: ColumnShares
    performance_suspended_epochs: ColumnShares
    protocol_suspended_epochs: ColumnShares


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceParams:
    """How much announced absence is excused: `budget_for` seconds in any `budget_epochs` epochs, `notice_for` ahead."""

    notice_for: int
    budget_for: int
    budget_epochs: int


def reward_rules(rewards: RewardParams) -> dict[str, bool]:
    """Say of each rule that rewards must keep whether they do."""
    return {
        "category pools must add up to 10000": sum(rewards.pools_bps.of(category) for category in Category) == BPS,
        "availability must not lower quality, nor raise it above 10000": rises(rewards.availability_table, 0, BPS),
        "errors must not raise quality, nor lift it above 10000": falls(rewards.error_table, 0, BPS),
        "slow responses must not raise quality, nor lift it above 10000": falls(rewards.response_table, 0, BPS),
        "delivering more must not lower quality, nor lift it above 10000": rises(rewards.delivery_table, 0, BPS),
        "a rating must not lower quality below 8000 nor raise it above 11000": rises(
            rewards.rating_table, 8000, 11_000
        ),
        "a longer lock must not earn less, nor below 10000": rises(rewards.commitment_table, BPS, 2 * BPS),
        "a rarer region and class must not earn less; 10000 to 13000": falls(rewards.scarcity_table, BPS, 13_000),
        "tenure and adoption must not lower a weight": rewards.tenure_epochs > 0
        and BPS <= rewards.tenure_cap_bps <= rewards.multiplier_cap_bps
        and BPS <= rewards.adoption_bps <= rewards.multiplier_cap_bps,
    }


def stake_rules(stake: StakeParams) -> dict[str, bool]:
    """Say of each rule that prices of capacity must keep whether they do."""
    prices = ((stake.per_tops_wei, MTOPS_PER_TOPS), (stake.per_gib_wei, MIB_PER_GIB), (stake.per_tb_wei, MB_PER_TB))
    return {
        "stake prices must be positive and divide into whole wei a unit": all(
            wei > 0 and wei % units == 0 for wei, units in prices
        )
    }

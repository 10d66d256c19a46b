"""Frozen values of the economy: how a node served, and what a provider's work weighs."""

from dataclasses import dataclass

from swarm_chain.core.economics import ServiceLevel
from swarm_chain.core.kinds import Category
from swarm_chain.core.units import Address, Bps, Wei


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """How one node served in one category; None: not measured. Units are those of `ServiceLevel`, ratings have none."""

    error_bps: Bps | None = None
    response_us: int | None = None
    rating: int | None = None
    far_response_us: int | None = None
    jitter_us: int | None = None
    rate: int | None = None
    utilisation_bps: Bps | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedService:
    """A measured service beside what its class owes, what it was judged against, and what came of it, bps.

    `factor_bps` multiplies quality, 0 to 11000; `missed_bps` is what the penalty is for, None where nothing is owed.
    """

    node: Address
    category: Category
    service: Service
    owed: ServiceLevel
    judged: ServiceLevel
    median_rating: int
    factor_bps: Bps
    missed_bps: Bps | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """Covered units that providers of one region (8 bytes) and hardware class brought to a category in an epoch."""

    category: Category
    region: bytes
    hardware_class: int
    units: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryPool:
    """What a category shares: its part of the epoch's pool, the remainder it opens with, and the sum of weights."""

    category: Category
    pool_wei: Wei
    carried_in_wei: Wei
    total_weight: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Multiplier:
    """Factors of a weight, bps, 10000 neutral; `product_bps` is what they come to, capped."""

    commitment_bps: Bps
    scarcity_bps: Bps
    tenure_bps: Bps
    adoption_bps: Bps
    product_bps: Bps


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryWeight:
    """What a provider proved in a category, how much of it its stake covers, the quality of that, and what it weighs."""

    category: Category
    units: int
    covered: int
    quality_bps: Bps
    multiplier: Multiplier
    weight: int

"""Service-level penalties: what an epoch below availability, error and response targets costs, netted at settlement."""

from collections.abc import Iterable, Mapping, Sequence

from oracle.economy import GradedService
from swarm_chain.core.economics import PenaltyParams
from swarm_chain.core.model import ProviderRecord
from swarm_chain.core.units import BPS, Address, Bps, Timestamp, Wei

NEW, RETIRED, SUSPENDED, WITHOUT_NODES, MAINTENANCE = "new", "retired", "suspended", "without_nodes", "maintenance"


def excuse(provider: ProviderRecord, epoch_start: Timestamp, maintenance: Mapping[Address, Bps]) -> str:
    """Say why a provider owes no service this epoch, or nothing if it does.

    Args:
        provider: as the chain knew it at the reference block.
        epoch_start: first second of the epoch.
        maintenance: bps of the epoch each node is excused for.

    Returns:
        "suspended", "retired", "new" (registered after the epoch began), "without_nodes", "maintenance" (all its nodes,
        the whole epoch) or "".
    """
    if provider.suspended_until > epoch_start:
        return SUSPENDED
    if provider.retired:
        return RETIRED
    if provider.registered_at > epoch_start:
        return NEW
    if not provider.nodes:
        return WITHOUT_NODES
    away = bool(maintenance) and all(maintenance.get(node, 0) >= BPS for node in provider.nodes)
    return MAINTENANCE if away else ""


def may_earn(excused: str) -> bool:
    """Tell whether an excused provider may still earn: a new one may, if it proved every window."""
    return excused in ("", NEW)


def provider_availability(provider: ProviderRecord, availability: Mapping[Address, Bps]) -> Bps | None:
    """Average the availability of a provider's measured nodes, rounded up in its favour.

    Args:
        provider: names the nodes.
        availability: bps by measured node, announced absence forgiven (`quality.judged_availability`).

    Returns:
        0 to 10000, or None if nobody measured any of its nodes: then there is nothing to hold against it.
    """
    measured = [availability[node] for node in provider.nodes if node in availability]
    if not measured:
        return None
    return Bps(-(-sum(measured) // len(measured)))


def service_shortfall(services: Iterable[GradedService]) -> Bps:
    """Average by how much a provider's measured services missed what its class owes, rounded down in its favour.

    Args:
        services: of its nodes (`quality.graded_services`); those it does not owe count neither for nor against it.

    Returns:
        Bps; 0 if nobody measured anything that it owes.
    """
    numbers = [one.missed_bps for one in services if one.missed_bps is not None]
    return Bps(sum(numbers) // len(numbers)) if numbers else Bps(0)


def penalty_wei(base_wei: Wei, shortfall: Bps, limit_wei: Wei, penalties: PenaltyParams) -> Wei:
    """Price a shortfall: base x shortfall, rounded down (what is in doubt stays with the provider), capped twice.

    Args:
        base_wei: reward an epoch brings this provider.
        shortfall: bps below the target.
        limit_wei: what settlement can take: stake plus this epoch's reward; a penalty above it would be a debt that
            nobody can collect and that totals would carry for ever.
        penalties: cap as share of the base.
    """
    if not shortfall:
        return Wei(0)
    return Wei(min(base_wei * shortfall // BPS, base_wei * penalties.penalty_cap_bps // BPS, limit_wei))


def shortfall_bps(availability: Bps | None, missed: Bps, penalties: PenaltyParams) -> Bps:
    """Add up what misses its target: availability, and the errors and responses of services; at most the cap.

    Args:
        availability: bps; None if not measured, which misses nothing.
        missed: bps, `service_shortfall`.
        penalties: target of availability, and the cap.
    """
    absent = 0 if availability is None else max(penalties.availability_target_bps - availability, 0)
    return Bps(min(absent + missed, penalties.penalty_cap_bps))


def cap_total(amounts: Sequence[Wei], cap_wei: Wei) -> list[Wei]:
    """Scale penalties down to what one report may add, each rounded down, so that a bad epoch cannot block reports.

    Args:
        amounts: wei by provider.
        cap_wei: most they may be together (ReportLimits).

    Returns:
        The amounts, or amount x cap / Σ each.
    """
    total = sum(amounts)
    if total <= cap_wei:
        return list(amounts)
    return [Wei(amount * cap_wei // total) for amount in amounts]

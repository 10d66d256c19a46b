"""Service-level penalties: what an epoch below the availability target costs, netted at settlement."""

from collections.abc import Mapping, Sequence

from swarm_chain.core.model import ProviderRecord
from swarm_chain.core.params import PenaltyParams
from swarm_chain.core.units import BPS, Address, Bps, Timestamp, Wei

NEW, RETIRED, SUSPENDED, WITHOUT_NODES, MAINTENANCE = "new", "retired", "suspended", "without_nodes", "maintenance"


def excuse(provider: ProviderRecord, epoch_start: Timestamp, maintenance: frozenset[Address]) -> str:
    """Say why a provider owes no service this epoch, or nothing if it does.

    Args:
        provider: as the chain knew it at the reference block.
        epoch_start: first second of the epoch.
        maintenance: nodes that announced to be away.

    Returns:
        "suspended", "retired", "new" (registered after the epoch began), "without_nodes", "maintenance" (all its nodes)
        or "".
    """
    if provider.suspended_until > epoch_start:
        return SUSPENDED
    if provider.retired:
        return RETIRED
    if provider.registered_at > epoch_start:
        return NEW
    if not provider.nodes:
        return WITHOUT_NODES
    return MAINTENANCE if maintenance.issuperset(provider.nodes) else ""


def may_earn(excused: str) -> bool:
    """Tell whether an excused provider may still earn: a new one may, if it proved every window."""
    return excused in ("", NEW)


def provider_availability(
    provider: ProviderRecord, availability: Mapping[Address, Bps], maintenance: frozenset[Address]
) -> Bps | None:
    """Average the availability of a provider's measured nodes, rounded up in its favour.

    Args:
        provider: names the nodes.
        availability: bps by measured node.
        maintenance: nodes that announced to be away; they do not count.

    Returns:
        0 to 10000, or None if nobody measured any of its nodes: then there is nothing to hold against it.
    """
    measured = [availability[node] for node in provider.nodes if node in availability and node not in maintenance]
    if not measured:
        return None
    return Bps(-(-sum(measured) // len(measured)))


def penalty_wei(base_wei: Wei, shortfall: Bps, limit_wei: Wei, penalties: PenaltyParams) -> Wei:
    """Price a shortfall: base x shortfall, rounded down (what is in doubt stays with the provider), capped twice.

    Args:
        base_wei: reward an epoch brings this provider.
        shortfall: bps below the target.
        limit_wei: what settlement can take: stake plus this epoch's reward; a penalty above it would be a debt that
            nobody can collect and that totals would carry for ever.
        penalties: cap as share of the base.
    """
    return Wei(min(base_wei * shortfall // BPS, base_wei * penalties.penalty_cap_bps // BPS, limit_wei))


def shortfall_bps(availability: Bps | None, penalties: PenaltyParams) -> Bps:
    """Give the bps below the availability target; none if not measured."""
    if availability is None:
        return Bps(0)
    return Bps(max(penalties.availability_target_bps - availability, 0))


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

"""Restoration: what a provider that paid a penalty must show before it counts more than its units again.

    performance   restoration_epochs clean epochs        protocol   a compliance check that passes
    security      a review: governance ends the suspension

A warning needs none. Until then the provider earns, without multiplier, and what it did stays remembered.
"""

from collections.abc import Iterable, Mapping, Sequence

from oracle.model import EpochState, Network, PastViolation
from swarm_chain.core.kinds import Severity, ViolationClass
from swarm_chain.core.model import ProviderRecord
from swarm_chain.core.params import Params
from swarm_chain.core.units import ProviderId, Timestamp


def passes_compliance(provider: ProviderRecord, params: Params, at: Timestamp) -> bool:
    """Tell whether a provider keeps the protocol's standing rules: not suspended, a live node, the minimum at stake.

    Args:
        provider: as the chain knew it at the reference block.
        params: the minimum.
        at: first second of the epoch.
    """
    staked = provider.active_stake_wei >= params.stake.minimum_wei
    return provider.suspended_until <= at and bool(provider.nodes) and staked


def restored(
    violation: PastViolation, provider: ProviderRecord, clean_epochs: int, params: Params, at: Timestamp
) -> bool:
    """Tell whether a provider is restored after a violation of an earlier epoch.

    Args:
        violation: the violation.
        provider: who broke the rule, as the chain knew it at the reference block.
        clean_epochs: epochs it earned in since its last violation or suspension.
        params: numbers of restoration.
        at: first second of the epoch.
    """
    if violation.severity is Severity.WARNING:
        return True
    if violation.violation_class is ViolationClass.PERFORMANCE:
        return clean_epochs >= params.penalties.restoration_epochs
    if violation.violation_class is ViolationClass.PROTOCOL:
        return passes_compliance(provider, params, at)
    return provider.suspended_until <= at


def outstanding(
    state: EpochState, providers: Sequence[ProviderRecord], network: Network, at: Timestamp
) -> frozenset[PastViolation]:
    """Give the violations whose restoration is still to come; a provider that retired owes none.

    Args:
        state: history and clean epochs, of the previous report.
        providers: ordered by id, dense from 1.
        network: params.
        at: first second of the epoch that is settled.
    """
    clean: Mapping[ProviderId, int] = dict(state.clean_epochs) if state.violations else {}
    return frozenset(
        violation
        for violation in state.violations
        for provider in (providers[violation.provider_id - 1],)
        if not provider.retired
        and not restored(violation, provider, clean.get(violation.provider_id, 0), network.params, at)
    )


def unrestored(violations: Iterable[PastViolation]) -> frozenset[ProviderId]:
    """Give the providers that outstanding violations are of."""
    return frozenset(violation.provider_id for violation in violations)

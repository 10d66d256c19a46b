"""What a violation costs: column, stake and suspension, read from the slashing table (economics.md, Slashing)."""

from swarm_chain.core.economics import ColumnShares, PenaltyParams
from swarm_chain.core.kinds import Severity, ViolationClass
from swarm_chain.core.params import Params
from swarm_chain.core.units import BPS, UINT64_MAX, Wei


def escalated(least: Severity, earlier: int) -> Severity:
    """Move one column right for the second violation of a class, two for the third; severe is the last column.

    Args:
        least: column of a first violation.
        earlier: violations of the class within escalation_epochs before this one.
    """
    return Severity(min(least + min(earlier, 2), Severity.SEVERE))


def slash_wei(stake_wei: Wei, violation_class: ViolationClass, severity: Severity, penalties: PenaltyParams) -> Wei:
    """Price a violation from the stake at the reference block, rounded up: no stake is too small to lose a wei.

    Args:
        stake_wei: active and thawing stake.
        violation_class: row of the slashing table.
        severity: column; a warning is free.
        penalties: the table.
    """
    rows = {
        ViolationClass.PERFORMANCE: penalties.performance_bps,
        ViolationClass.SECURITY: penalties.security_bps,
        ViolationClass.PROTOCOL: penalties.protocol_bps,
    }
    return Wei(-(-stake_wei * _column(rows[violation_class], severity) // BPS))


def suspension_for(violation_class: ViolationClass, severity: Severity, params: Params) -> int:
    """Give the seconds a violation suspends for: whole epochs by class and column, none for a warning.

    Args:
        violation_class: a security violation suspends until governance has reviewed it, whatever the column.
        severity: column.
        params: the table and the length of an epoch.
    """
    if violation_class is ViolationClass.SECURITY:
        return 0 if severity is Severity.WARNING else UINT64_MAX
    rows = {
        ViolationClass.PERFORMANCE: params.penalties.performance_suspended_epochs,
        ViolationClass.PROTOCOL: params.penalties.protocol_suspended_epochs,
    }
    return _column(rows[violation_class], severity) * params.epoch.epoch_for


def _column(shares: ColumnShares, severity: Severity) -> int:
    return {Severity.WARNING: 0, Severity.PENALTY: shares.penalty, Severity.SEVERE: shares.severe}[severity]

"""Violations of an epoch: which rule was broken, how hard, and what it costs (economics.md, Slashing).

    lies in proofs, equivocations --> protocol      availability below the limit --> performance
    stake below the minimum        --> notice        history of the class         --> escalation by columns

Never a violation: a missing or late proof, a void window, an excused absence, an epoch nobody measured.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from oracle.model import EpochFacts, Equivocation, FoundViolation, Network, PastViolation, RewardLine
from swarm_chain.core.encoding import canonical_json, keccak, to_hex
from swarm_chain.core.kinds import Outcome, Severity, ViolationClass
from swarm_chain.core.model import ProviderRecord, Verdict, Violation, WindowRecord
from swarm_chain.core.params import ColumnShares, Params, PenaltyParams
from swarm_chain.core.signing import commitment_hash
from swarm_chain.core.units import BPS, Address, EpochNumber, ProviderId, Timestamp, Wei, WindowId

EVIDENCE_DOMAIN = "swarm/evidence/v1"
EQUIVOCATION = "equivocation"
# What only a liar signs: bytes that exact arithmetic denies, or an opening that does not lead to the node's own root.
# Other failures (wrong shape, wrong rows, malformed) earn nothing but may be a fault of software.
LIES = frozenset({"false_row", "wrong_path"})
Finding = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ViolationInputs:
    """What guilt is decided from; `lines` stand in the order of `providers`, `ref_at` is the reference block's time."""

    network: Network
    providers: tuple[ProviderRecord, ...]
    windows: tuple[WindowRecord, ...]
    facts: EpochFacts
    lines: tuple[RewardLine, ...]
    history: tuple[PastViolation, ...]
    ref_at: Timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class _Charge:
    """A broken rule before history is looked at; a charge that does not escalate stays a notice."""

    violation_class: ViolationClass
    least: Severity
    offence_at: Timestamp
    findings: tuple[Finding, ...]
    escalates: bool = True


def find_violations(inputs: ViolationInputs) -> tuple[FoundViolation, ...]:
    """Find all violations of an epoch, at most one of a class for each provider.

    Args:
        inputs: facts of the epoch, reward lines (for availability and excuses) and the history that escalates.

    Returns:
        Violations with their evidence, in the order of the outcomes tree: provider id, class, evidence hash.
    """
    lies = _lies_by_node(inputs)
    noticed = frozenset(v.provider_id for v in inputs.history if _is_notice(v))
    earlier = _earlier(inputs)
    found = [
        _violation(provider, charge, earlier, inputs)
        for provider, line in zip(inputs.providers, inputs.lines, strict=True)
        for charge in (
            _performance_charge(provider, line, inputs),
            _protocol_charge(provider, lies, inputs) or _stake_charge(provider, line, noticed, inputs),
        )
        if charge is not None
    ]
    return tuple(sorted(found, key=_outcome_order))


def next_history(
    history: Iterable[PastViolation], found: Iterable[FoundViolation], epoch: EpochNumber, penalties: PenaltyParams
) -> tuple[PastViolation, ...]:
    """Give the violations the next epoch must remember: those within escalation_epochs of it.

    Returns:
        Ordered by provider id, class, epoch.
    """
    new = (
        PastViolation(
            provider_id=f.violation.provider_id,
            violation_class=f.violation.violation_class,
            severity=f.violation.severity,
            epoch=f.violation.epoch,
        )
        for f in found
    )
    oldest = epoch + 1 - penalties.escalation_epochs
    kept = [v for v in (*history, *new) if v.epoch > oldest]
    return tuple(sorted(kept, key=lambda v: (v.provider_id, v.violation_class, v.epoch)))


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
        violation_class: performance or protocol; a report never finds a security violation.
        severity: column.
        params: the table and the length of an epoch.
    """
    rows = {
        ViolationClass.PERFORMANCE: params.penalties.performance_suspended_epochs,
        ViolationClass.PROTOCOL: params.penalties.protocol_suspended_epochs,
    }
    return _column(rows[violation_class], severity) * params.epoch.epoch_for


def _column(shares: ColumnShares, severity: Severity) -> int:
    return {Severity.WARNING: 0, Severity.PENALTY: shares.penalty, Severity.SEVERE: shares.severe}[severity]


def _is_notice(violation: PastViolation) -> bool:
    # A protocol violation proper starts at the penalty column, so a warning of this class is a notice of low stake.
    return violation.violation_class is ViolationClass.PROTOCOL and violation.severity is Severity.WARNING


def _earlier(inputs: ViolationInputs) -> Mapping[tuple[ProviderId, ViolationClass], int]:
    oldest = inputs.facts.epoch - inputs.network.params.penalties.escalation_epochs
    recent = (v for v in inputs.history if v.epoch > oldest and not _is_notice(v))
    return Counter((v.provider_id, v.violation_class) for v in recent)


def _lies_by_node(inputs: ViolationInputs) -> Mapping[Address, list[tuple[WindowId, Finding]]]:
    lies: dict[Address, list[tuple[WindowId, Finding]]] = {}
    for pair in inputs.facts.equivocations:
        lies.setdefault(pair.first.commitment.node, []).append(_double_commitment(pair))
    for verdict in inputs.facts.verdicts:
        if verdict.outcome is Outcome.FAILED and verdict.reason in LIES:
            lies.setdefault(verdict.node, []).append(_failed_proof(verdict))
    return lies


def _double_commitment(pair: Equivocation) -> tuple[WindowId, Finding]:
    named = pair.first.commitment
    digests = [to_hex(commitment_hash(signed.commitment)) for signed in (pair.first, pair.second)]
    finding: Finding = {
        "kind": EQUIVOCATION,
        "windowId": named.window_id,
        "node": named.node,
        "device": named.device,
        "commitments": sorted(digests),
    }
    return named.window_id, finding


def _failed_proof(verdict: Verdict) -> tuple[WindowId, Finding]:
    finding: Finding = {
        "kind": "failed_proof",
        "windowId": verdict.window_id,
        "node": verdict.node,
        "device": verdict.device,
        "reason": verdict.reason,
    }
    return verdict.window_id, finding


def _protocol_charge(
    provider: ProviderRecord, lies: Mapping[Address, list[tuple[WindowId, Finding]]], inputs: ViolationInputs
) -> _Charge | None:
    # A node that was removed after it lied still answers for it; its provider cannot change that.
    told = [lie for node in (*provider.nodes, *provider.past_nodes) for lie in lies.get(node, ())]
    if not told:
        return None
    opened_at = {window.window_id: window.opened_at for window in inputs.windows}
    double = any(finding["kind"] == EQUIVOCATION for _, finding in told)
    return _Charge(
        violation_class=ViolationClass.PROTOCOL,
        least=Severity.SEVERE if double else Severity.PENALTY,
        offence_at=min(opened_at[window_id] for window_id, _ in told),
        findings=tuple(sorted((finding for _, finding in told), key=canonical_json)),
    )


def _performance_charge(provider: ProviderRecord, line: RewardLine, inputs: ViolationInputs) -> _Charge | None:
    limit = inputs.network.params.penalties.downtime_limit_bps
    if line.excused or line.availability_bps is None or line.availability_bps >= limit:
        return None
    measured = [[n, inputs.facts.availability[n]] for n in provider.nodes if n in inputs.facts.availability]
    finding: Finding = {
        "kind": "downtime",
        "availabilityBps": line.availability_bps,
        "limitBps": limit,
        "nodes": sorted(measured),
    }
    return _Charge(
        violation_class=ViolationClass.PERFORMANCE,
        least=Severity.WARNING,
        offence_at=inputs.ref_at,
        findings=(finding,),
    )


def _stake_charge(
    provider: ProviderRecord, line: RewardLine, noticed: frozenset[ProviderId], inputs: ViolationInputs
) -> _Charge | None:
    minimum = inputs.network.params.stake.minimum_wei
    if line.excused or provider.active_stake_wei >= minimum or provider.provider_id in noticed:
        return None
    finding: Finding = {
        "kind": "stake_below_minimum",
        "activeStakeWei": str(provider.active_stake_wei),
        "minimumWei": str(minimum),
    }
    return _Charge(
        violation_class=ViolationClass.PROTOCOL,
        least=Severity.WARNING,
        offence_at=inputs.ref_at,
        findings=(finding,),
        escalates=False,
    )


def _violation(
    provider: ProviderRecord,
    charge: _Charge,
    earlier: Mapping[tuple[ProviderId, ViolationClass], int],
    inputs: ViolationInputs,
) -> FoundViolation:
    params, row = inputs.network.params, charge.violation_class
    before = earlier.get((provider.provider_id, row), 0)
    severity = escalated(charge.least, before) if charge.escalates else charge.least
    evidence = _evidence(provider, charge, inputs)
    violation = Violation(
        provider_id=provider.provider_id,
        violation_class=row,
        severity=severity,
        epoch=inputs.facts.epoch,
        offence_at=charge.offence_at,
        amount_wei=slash_wei(provider.stake_wei, row, severity, params.penalties),
        suspended_for=suspension_for(row, severity, params),
        evidence_hash=keccak(evidence),
    )
    return FoundViolation(violation=violation, evidence=evidence)


def _evidence(provider: ProviderRecord, charge: _Charge, inputs: ViolationInputs) -> bytes:
    document = {
        "domain": EVIDENCE_DOMAIN,
        "chainId": inputs.network.chain_id,
        "epoch": inputs.facts.epoch,
        "providerId": provider.provider_id,
        "class": int(charge.violation_class),
        "findings": list(charge.findings),
    }
    return canonical_json(document)


def _outcome_order(found: FoundViolation) -> tuple[int, int, bytes]:
    violation = found.violation
    return violation.provider_id, violation.violation_class, violation.evidence_hash

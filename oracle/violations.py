"""Violations of an epoch: which rule was broken, how hard, and what it costs (economics.md, Slashing).

    availability below the limit --> performance     history of the class --> escalation by columns
    stake below the minimum      --> notice           a member that signed two observations --> protocol
                                                      work that referees computed otherwise --> protocol

Never a violation: a job that failed in any other way, a missing, late or false proof, a void window, an excused absence, an
epoch nobody measured. False proofs and double commitments earn nothing; what they cost is ComputeCourt's to say, by
arithmetic instead of a vote.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from oracle.model import (
    EpochFacts,
    FoundViolation,
    JudgedJob,
    MemberEquivocation,
    Network,
    PastViolation,
    RewardLine,
)
from oracle.sanctions import escalated, slash_wei, suspension_for
from swarm_chain.core.economics import PenaltyParams
from swarm_chain.core.encoding import canonical_json, keccak, to_hex
from swarm_chain.core.kinds import Severity, ViolationClass
from swarm_chain.core.model import ProviderRecord, Violation
from swarm_chain.core.units import Address, EpochNumber, ProviderId, Timestamp

EVIDENCE_DOMAIN = "swarm/evidence/v1"
Finding = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ViolationInputs:
    """What guilt is decided from; `lines` stand in the order of `providers`, `ref_at` is the reference block's time."""

    network: Network
    providers: tuple[ProviderRecord, ...]
    facts: EpochFacts
    lines: tuple[RewardLine, ...]
    history: tuple[PastViolation, ...]
    ref_at: Timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class _Charge:
    """A broken rule before history is looked at; a charge that does not escalate stays a notice."""

    violation_class: ViolationClass
    least: Severity
    findings: tuple[Finding, ...]
    escalates: bool = True


def find_violations(inputs: ViolationInputs) -> tuple[FoundViolation, ...]:
    """Find all violations of an epoch, at most one of a class for each provider.

    Args:
        inputs: facts of the epoch, reward lines (for availability and excuses) and the history that escalates.

    Returns:
        Violations with their evidence, in the order of the outcomes tree: provider id, class, evidence hash.
    """
    noticed = frozenset(v.provider_id for v in inputs.history if v.violation_class is ViolationClass.PROTOCOL)
    equivocations, forged = _equivocations(inputs.facts.member_equivocations), _forged(inputs.facts.jobs)
    earlier = _earlier(inputs)
    found = [
        _violation(provider, charge, earlier, inputs)
        for provider, line in zip(inputs.providers, inputs.lines, strict=True)
        for charge in (
            _performance_charge(provider, line, inputs),
            _lie_charge(equivocations.get(provider.owner, ()), forged.get(provider.provider_id, ()))
            or _stake_charge(provider, line, noticed, inputs),
        )
        if charge is not None
    ]
    return tuple(sorted(found, key=_outcome_order))


def next_history(
    history: Iterable[PastViolation],
    found: Iterable[FoundViolation],
    epoch: EpochNumber,
    penalties: PenaltyParams,
    outstanding: Set[PastViolation] = frozenset(),
) -> tuple[PastViolation, ...]:
    """Give the violations the next epoch must remember: those within escalation_epochs of it, or not yet restored.

    Args:
        history: what this epoch remembered.
        found: violations of this epoch.
        epoch: this one.
        penalties: how far escalation looks back.
        outstanding: violations whose restoration is still to come.

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
    kept = [v for v in (*history, *new) if v.epoch > oldest or v in outstanding]
    return tuple(sorted(kept, key=lambda v: (v.provider_id, v.violation_class, v.epoch)))


def _earlier(inputs: ViolationInputs) -> Mapping[tuple[ProviderId, ViolationClass], int]:
    oldest = inputs.facts.epoch - inputs.network.params.penalties.escalation_epochs
    return Counter((v.provider_id, v.violation_class) for v in inputs.history if v.epoch > oldest)


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
        "maintenance": sorted([n, share] for n in provider.nodes if (share := inputs.facts.maintenance.get(n))),
    }
    return _Charge(
        violation_class=ViolationClass.PERFORMANCE,
        least=Severity.WARNING,
        findings=(finding,),
    )


def _equivocations(pairs: Iterable[MemberEquivocation]) -> Mapping[Address, tuple[MemberEquivocation, ...]]:
    by_member: dict[Address, tuple[MemberEquivocation, ...]] = {}
    for pair in sorted(set(pairs), key=lambda pair: (pair.first, pair.second)):
        by_member[pair.member] = (*by_member.get(pair.member, ()), pair)
    return by_member


def _forged(jobs: Iterable[JudgedJob]) -> Mapping[ProviderId, tuple[Finding, ...]]:
    by_provider: dict[ProviderId, tuple[Finding, ...]] = {}
    for job in sorted(jobs, key=lambda job: job.job_id):
        if (forged := job.forged) is not None:
            finding: Finding = {
                "kind": "forged_work",
                "jobId": job.job_id,
                "node": forged.node,
                "receiptDigest": to_hex(forged.receipt_digest),
                "content": forged.content,
                "committed": to_hex(forged.committed),
                "computed": to_hex(forged.computed),
                "referees": list(forged.referees),
            }
            by_provider[forged.provider_id] = (*by_provider.get(forged.provider_id, ()), finding)
    return by_provider


def _lie_charge(pairs: Sequence[MemberEquivocation], forged: tuple[Finding, ...]) -> _Charge | None:
    # No excuse applies: whoever signs a lie did so, whether suspended, retired or in maintenance.
    if not pairs and not forged:
        return None
    findings: tuple[Finding, ...] = tuple(
        {
            "kind": "member_equivocation",
            "member": pair.member,
            "first": to_hex(pair.first),
            "second": to_hex(pair.second),
        }
        for pair in pairs
    )
    return _Charge(violation_class=ViolationClass.PROTOCOL, least=Severity.PENALTY, findings=(*findings, *forged))


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
        offence_at=inputs.ref_at,
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

"""Golden trees and reports: settlement leaves, outcome leaves, report hashes."""

from dataclasses import fields

from swarm_chain.core import encoding, merkle
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.kinds import Severity, ViolationClass
from swarm_chain.core.model import JobOutcome, Report, SettlementLeaf, Violation
from swarm_chain.core.units import (
    UINT64_MAX,
    UINT128_MAX,
    BlockNumber,
    EpochNumber,
    Hash32,
    JobId,
    ProviderId,
    Timestamp,
    Wei,
)
from tools.golden.form import CHAIN_ID, Document, camel, column, hexes, sample_address, sample_hash, tree_fields


def settlement() -> Document:
    """Leaves, root and every path of a settlement tree; a lone provider beside the stone leaf."""
    contract = sample_address("RewardSettlement")
    domain = encoding.leaf_domain(encoding.SETTLEMENT_TAG, CHAIN_ID, contract)
    amounts = [(10**18, 0), (0, 0), (UINT128_MAX, UINT128_MAX), (123_456_789 * 10**9, 5), (1, 2)]
    lines = [_line(index + 1, reward, penalty) for index, (reward, penalty) in enumerate(amounts)]
    tree = merkle.build_tree(encoding.settlement_leaf(domain, line) for line in lines)
    lone = merkle.build_tree(encoding.settlement_leaf(domain, line) for line in (lines[0], _line(0, 0, 0)))
    return {
        "chainId": str(CHAIN_ID),
        "contract": contract,
        "tag": encoding.SETTLEMENT_TAG,
        "domain": to_hex(domain),
        "providerIds": column(lines, "provider_id"),
        "cumRewards": column(lines, "cum_reward_wei"),
        "cumPenalties": column(lines, "cum_penalty_wei"),
        **tree_fields(tree),
        "loneRoot": to_hex(merkle.root(lone)),
        "lonePath": hexes(merkle.path(lone, 0)),
    }


def outcomes() -> Document:
    """Leaves of violations and jobs in tree order, case ids, root and paths."""
    court, escrow = sample_address("SlashingCourt"), sample_address("JobEscrow")
    court_domain = encoding.leaf_domain(encoding.VIOLATION_TAG, CHAIN_ID, court)
    job_domain = encoding.leaf_domain(encoding.JOB_TAG, CHAIN_ID, escrow)
    violations = [
        _violation(1, ViolationClass.PERFORMANCE, Severity.PENALTY, 10**18, 60),
        _violation(2, ViolationClass.SECURITY, Severity.SEVERE, UINT128_MAX, UINT64_MAX),
        _violation(2, ViolationClass.PROTOCOL, Severity.SEVERE, 500 * 10**18, 420),
    ]
    jobs = [
        JobOutcome(job_id=JobId(1), receipt_digest=sample_hash("receipt 1"), pay_wei=Wei(7 * 10**18)),
        JobOutcome(job_id=JobId(2**64), receipt_digest=sample_hash("receipt 2"), pay_wei=Wei(0)),
    ]
    leaves = [encoding.violation_leaf(court_domain, violation) for violation in violations]
    leaves += [encoding.job_leaf(job_domain, job) for job in jobs]
    names = [field.name for field in fields(Violation)]
    return {
        "chainId": str(CHAIN_ID),
        "court": court,
        "escrow": escrow,
        "violationDomain": to_hex(court_domain),
        "jobDomain": to_hex(job_domain),
        "violations": {camel(name): column(violations, name) for name in names},
        "caseIds": hexes([encoding.case_id(violation) for violation in violations]),
        "jobs": {camel(field.name): column(jobs, field.name) for field in fields(JobOutcome)},
        **tree_fields(merkle.build_tree(leaves)),
    }


def report() -> Document:
    """Reports and the hashes members vote on."""
    reports = [
        Report(
            epoch=EpochNumber(7),
            ref_block=BlockNumber(1234),
            ref_block_hash=sample_hash("block"),
            params_version=0xDEADBEEF,
            root=sample_hash("root"),
            leaf_count=4,
            total_reward_wei=Wei(10**23),
            total_penalty_wei=Wei(10**18),
            outcomes_root=sample_hash("outcomes"),
            manifest_hash=sample_hash("manifest"),
        ),
        Report(
            epoch=EpochNumber(2**32 - 1),
            ref_block=BlockNumber(UINT64_MAX),
            ref_block_hash=Hash32(b"\xff" * 32),
            params_version=2**32 - 1,
            root=Hash32(b"\xff" * 32),
            leaf_count=2**32 - 1,
            total_reward_wei=Wei(UINT128_MAX),
            total_penalty_wei=Wei(UINT128_MAX),
            outcomes_root=Hash32(bytes(32)),
            manifest_hash=Hash32(b"\xff" * 32),
        ),
    ]
    columns = {camel(field.name): column(reports, field.name) for field in fields(Report)}
    return columns | {"hashes": hexes([encoding.report_hash(item) for item in reports])}


def _line(provider: int, reward: int, penalty: int) -> SettlementLeaf:
    return SettlementLeaf(provider_id=ProviderId(provider), cum_reward_wei=Wei(reward), cum_penalty_wei=Wei(penalty))


def _violation(provider: int, kind: ViolationClass, severity: Severity, amount: int, suspended_for: int) -> Violation:
    return Violation(
        provider_id=ProviderId(provider),
        violation_class=kind,
        severity=severity,
        epoch=EpochNumber(7),
        offence_at=Timestamp(1_700_000_000 + provider),
        amount_wei=Wei(amount),
        suspended_for=suspended_for,
        evidence_hash=sample_hash(f"evidence {provider} {kind}"),
    )

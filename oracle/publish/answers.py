"""Documents made on request from a published epoch: proofs, outcomes, the OpenZeppelin dump, and why a leaf is what it is."""

from dataclasses import dataclass

from oracle.economy import CategoryWeight
from oracle.model import FoundViolation, RewardLine
from oracle.publish.fields import Json
from oracle.publish.graded import services_json
from oracle.publish.measured import (
    availability_json,
    capacities_json,
    jobs_json,
    measured,
    measurements_json,
    verdict_json,
)
from oracle.publish.report import PublishedEpoch
from oracle.publish.trees import padded
from swarm_chain.core import merkle
from swarm_chain.core.encoding import SETTLEMENT_LEAF_TYPES, case_id, to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.model import ChainState, ProviderRecord, RootRecord, SettlementLeaf, Violation
from swarm_chain.core.units import Hash32, ProviderId


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafProof:
    """A settlement leaf and its path to the root."""

    leaf: SettlementLeaf
    path: tuple[Hash32, ...]


def proof_document(root: RootRecord, proof: LeafProof) -> Json:
    """Leaf and path of a provider, ready for RewardSettlement.settle.

    Args:
        root: as the chain shows it.
        proof: under that root.
    """
    return {
        "epoch": root.epoch,
        "rootIndex": root.index,
        "root": to_hex(root.root),
        "leaf": _leaf_json(proof.leaf),
        "path": [to_hex(node) for node in proof.path],
    }


def outcomes_document(published: PublishedEpoch) -> Json:
    """All outcomes of an epoch with their paths, ready for SlashingCourt.open and JobEscrow.settleJob."""
    result = published.settlement.result
    first_job = len(result.violations)
    return {
        "outcomesRoot": to_hex(published.report.outcomes_root),
        "violations": [
            {
                **violation_json(violation),
                "caseId": to_hex(case_id(violation)),
                "path": [to_hex(node) for node in outcome_path(published, position)],
            }
            for position, violation in enumerate(result.violations)
        ],
        "jobs": [
            {
                "jobId": job.job_id,
                "receiptDigest": to_hex(job.receipt_digest),
                "payWei": str(job.pay_wei),
                "path": [to_hex(node) for node in outcome_path(published, first_job + position)],
            }
            for position, job in enumerate(result.jobs)
        ],
    }


def outcome_path(published: PublishedEpoch, position: int) -> tuple[Hash32, ...]:
    """Path of an outcome; violations come first, then jobs."""
    return merkle.path(published.outcomes_tree, position)


def dump_document(published: PublishedEpoch, domain: Hash32) -> Json:
    """The settlement tree as OpenZeppelin's `StandardMerkleTree.dump()` gives it.

    Args:
        published: the epoch.
        domain: domain of settlement leaves (`publish.trees.settlement_domain`).
    """
    leaves = padded(published.settlement.result.leaves)
    values = [(domain, leaf.provider_id, leaf.cum_reward_wei, leaf.cum_penalty_wei) for leaf in leaves]
    return merkle.dump(published.settlement_tree, values, SETTLEMENT_LEAF_TYPES)


def explain_document(published: PublishedEpoch, state: ChainState, provider_id: ProviderId) -> Json:
    """Every input from measurement to leaf of one provider in one epoch.

    Args:
        published: the epoch.
        state: the chain at the reference block of that epoch.
        provider_id: from 1.

    Raises:
        InvalidInputError: there is no such provider in this epoch.
    """
    leaf = _leaf_of(published, provider_id)
    record, line = state.providers[provider_id - 1], published.settlement.lines[provider_id - 1]
    nodes = frozenset((*record.nodes, *record.past_nodes))
    facts, found = published.facts, measured(published.bundle)
    jobs = frozenset(job.job_id for job in state.jobs if job.provider_id == provider_id)
    return {
        "epoch": published.report.epoch,
        "providerId": provider_id,
        "chain": _chain_json(record),
        "windows": list(facts.windows),
        "verdicts": [verdict_json(verdict, found) for verdict in facts.verdicts if verdict.node in nodes],
        "capacities": capacities_json(nodes, facts),
        "availability": availability_json(record.nodes, facts, found),
        "measurements": measurements_json(record.nodes, facts, found),
        "services": services_json(line.services),
        "jobs": jobs_json(jobs, facts, found),
        "pools": _pools_json(published),
        "line": _line_json(line),
        "violations": [
            {**violation_json(one.violation), "caseId": to_hex(case_id(one.violation)), "evidence": _text(one)}
            for one in published.settlement.found
            if one.violation.provider_id == provider_id
        ],
        "leaf": _leaf_json(leaf),
    }


def violation_json(violation: Violation) -> Json:
    """A violation with the field names of the Solidity struct."""
    return {
        "providerId": violation.provider_id,
        "class": int(violation.violation_class),
        "severity": int(violation.severity),
        "epoch": violation.epoch,
        "offenceAt": violation.offence_at,
        "amountWei": str(violation.amount_wei),
        "suspendedFor": str(violation.suspended_for),
        "evidenceHash": to_hex(violation.evidence_hash),
    }


def _leaf_of(published: PublishedEpoch, provider_id: ProviderId) -> SettlementLeaf:
    leaves = published.settlement.result.leaves
    if not 1 <= provider_id <= len(leaves):
        raise InvalidInputError(
            f"epoch {published.report.epoch} has no provider {provider_id}",
            code="unknown_provider",
            fix=f"ask for a provider from 1 to {len(leaves)}, or for a later epoch",
        )
    return leaves[provider_id - 1]


def _leaf_json(leaf: SettlementLeaf) -> Json:
    return {
        "providerId": leaf.provider_id,
        "cumRewardWei": str(leaf.cum_reward_wei),
        "cumPenaltyWei": str(leaf.cum_penalty_wei),
    }


def _chain_json(record: ProviderRecord) -> Json:
    return {
        "nodes": list(record.nodes),
        "hardwareClass": record.hardware_class,
        "region": record.region.rstrip(b"\0").decode(errors="replace"),
        "registeredAt": record.registered_at,
        "suspendedUntil": str(record.suspended_until),
        "retired": record.retired,
        "stakeWei": str(record.stake_wei),
        "activeStakeWei": str(record.active_stake_wei),
    }


def _pools_json(published: PublishedEpoch) -> Json:
    pools = published.settlement.pools
    return {
        "emissionWei": str(pools.emission_wei),
        "paidSeconds": pools.paid_seconds,
        "offeredSeconds": pools.offered_seconds,
        "utilisationBps": pools.utilisation_bps,
        "poolWei": str(pools.pool_wei),
        "categories": [
            {
                "category": one.category,
                "poolWei": str(one.pool_wei),
                "carriedInWei": str(one.carried_in_wei),
                "totalWeight": str(one.total_weight),
            }
            for one in pools.categories
        ],
        "carryOutWei": str(pools.carry_out_wei),
    }


def _line_json(line: RewardLine) -> Json:
    return {
        "weights": [_weight_json(weight) for weight in line.weights],
        "rewardWei": str(line.reward_wei),
        "availabilityBps": line.availability_bps,
        "excused": line.excused,
        "shortfallBps": line.shortfall_bps,
        "baseWei": str(line.base_wei),
        "penaltyWei": str(line.penalty_wei),
    }


def _weight_json(weight: CategoryWeight) -> Json:
    multiplier = weight.multiplier
    return {
        "category": weight.category,
        "units": str(weight.units),
        "covered": str(weight.covered),
        "qualityBps": weight.quality_bps,
        "commitmentBps": multiplier.commitment_bps,
        "scarcityBps": multiplier.scarcity_bps,
        "tenureBps": multiplier.tenure_bps,
        "adoptionBps": multiplier.adoption_bps,
        "multiplierBps": multiplier.product_bps,
        "weight": str(weight.weight),
    }


def _text(found: FoundViolation) -> str:
    return found.evidence.decode()

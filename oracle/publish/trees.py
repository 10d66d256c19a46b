"""The two trees of a report: settlement (a leaf for each provider) and outcomes (violations, then judged jobs)."""

from collections.abc import Sequence

from oracle.model import Network
from swarm_chain.core import merkle
from swarm_chain.core.encoding import (
    JOB_TAG,
    SETTLEMENT_TAG,
    VIOLATION_TAG,
    job_leaf,
    leaf_domain,
    violation_leaf,
)
from swarm_chain.core.model import JobOutcome, SettlementLeaf, Violation
from swarm_chain.core.units import Hash32, ProviderId, Wei

STONE = SettlementLeaf(provider_id=ProviderId(0), cum_reward_wei=Wei(0), cum_penalty_wei=Wei(0))


def settlement_domain(network: Network) -> Hash32:
    """Domain of settlement leaves; RewardSettlement.leafDomain."""
    return leaf_domain(SETTLEMENT_TAG, network.chain_id, network.settlement)


def padded(leaves: Sequence[SettlementLeaf]) -> tuple[SettlementLeaf, ...]:
    """The leaves of the settlement tree: stone leaves follow until there are two, so that every path has a node."""
    return (*leaves, *(STONE,) * (2 - len(leaves)))


def settlement_tree(leaves: Sequence[SettlementLeaf], domain: Hash32) -> bytes:
    """Build the settlement tree.

    Args:
        leaves: one for each provider, ordered by id; provider `id` stands at position `id - 1`.
        domain: what `settlement_domain` gave.

    Returns:
        The nodes, as `merkle.build_tree` lays them out.
    """
    # Same bytes as encoding.settlement_leaf, a million times over: the four words are joined without looking at them.
    encoded = (
        domain
        + leaf.provider_id.to_bytes(32, "big")
        + leaf.cum_reward_wei.to_bytes(32, "big")
        + leaf.cum_penalty_wei.to_bytes(32, "big")
        for leaf in padded(leaves)
    )
    return merkle.build_tree(merkle.leaf_hashes(encoded))


def outcome_leaves(violations: Sequence[Violation], jobs: Sequence[JobOutcome], network: Network) -> tuple[Hash32, ...]:
    """Hash the outcomes to leaves.

    Args:
        violations: ordered by (provider id, class, evidence hash).
        jobs: ordered by job id; they follow the violations.
        network: gives the domains of SlashingCourt and JobEscrow.
    """
    court = leaf_domain(VIOLATION_TAG, network.chain_id, network.court)
    escrow = leaf_domain(JOB_TAG, network.chain_id, network.escrow)
    return (
        *(violation_leaf(court, violation) for violation in violations),
        *(job_leaf(escrow, outcome) for outcome in jobs),
    )

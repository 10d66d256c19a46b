"""An epoch settled on a real chain, and what an honest oracle would say of it."""

from dataclasses import astuple
from typing import Any

from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.core.encoding import (
    JOB_TAG,
    SETTLEMENT_TAG,
    job_leaf,
    leaf_domain,
    report_hash,
    settlement_leaf,
    to_hex,
)
from swarm_chain.core.merkle import build_tree, path, root
from swarm_chain.core.model import JobOutcome, Report, SettlementLeaf
from swarm_chain.core.units import ZERO_HASH, EpochNumber, Hash32, JobId, ProviderId, Wei
from tests.chain_fixtures import ChainTools

EPOCH_FOR, ACTIVATION_FOR = 60, 20  # minimal preset


def settle_epoch(
    tools: ChainTools, member: KeySigner, amounts: list[tuple[int, int]], rewards: int, outcomes: Hash32 = ZERO_HASH
) -> dict[str, Any]:
    """Votes for and submits a report of the current epoch, waits until it is active, and gives an oracle's documents.

    Args:
        tools: the chain.
        member: the only oracle member.
        amounts: cumulative reward and penalty of each provider, by id, wei.
        rewards: cumulative total, wei.
        outcomes: root of the outcomes tree.
    """
    epoch = tools.call("EpochOracle", "currentEpoch")
    assert isinstance(epoch, int)
    reference = tools.reader.block("latest")
    leaves = [
        SettlementLeaf(provider_id=ProviderId(number), cum_reward_wei=Wei(reward), cum_penalty_wei=Wei(penalty))
        for number, (reward, penalty) in enumerate(amounts, start=1)
    ]
    tree = build_tree(_padded(tools, leaves))
    tools.net.warp(EPOCH_FOR)
    report = Report(
        epoch=EpochNumber(epoch),
        ref_block=reference.number,
        ref_block_hash=reference.hash,
        params_version=1,
        root=root(tree),
        leaf_count=len(leaves),
        total_reward_wei=Wei(rewards),
        total_penalty_wei=Wei(sum(penalty for _, penalty in amounts)),
        outcomes_root=outcomes,
        manifest_hash=Hash32(bytes(31) + b"\1"),
    )
    tools.send(member, "EpochOracle", "vote", epoch, report_hash(report))
    tools.send(member, "EpochOracle", "submitReport", astuple(report))
    tools.net.warp(ACTIVATION_FOR + 1)
    index = tools.call("RewardSettlement", "rootCount")
    assert isinstance(index, int)
    return {
        f"/v1/epochs/{epoch}/proofs/{leaf.provider_id}": {
            "epoch": epoch,
            "rootIndex": index - 1,
            "root": to_hex(report.root),
            "leaf": {
                "providerId": leaf.provider_id,
                "cumRewardWei": str(leaf.cum_reward_wei),
                "cumPenaltyWei": str(leaf.cum_penalty_wei),
            },
            "path": [to_hex(node) for node in path(tree, position)],
        }
        for position, leaf in enumerate(leaves)
    }


def pay_job(tools: ChainTools, member: KeySigner, job_id: int) -> None:
    """Has a completed job found right in the report of the current epoch, and paid in full."""
    record: Any = tools.call("JobEscrow", "job", job_id)
    outcome = JobOutcome(job_id=JobId(job_id), receipt_digest=record["receiptDigest"], pay_wei=record["budget"])
    domain = leaf_domain(JOB_TAG, tools.net.deployment.chain_id, tools.address("JobEscrow"))
    leaf = job_leaf(domain, outcome)
    tree = build_tree([leaf, leaf])  # two leaves: an empty path proves nothing
    settle_epoch(tools, member, [(0, 0)], 0, outcomes=root(tree))
    index: Any = tools.call("RewardSettlement", "rootCount")
    tools.send(member, "JobEscrow", "settleJob", astuple(outcome), index - 1, list(path(tree, 0)))


def _padded(tools: ChainTools, leaves: list[SettlementLeaf]) -> list[bytes]:
    domain = leaf_domain(SETTLEMENT_TAG, tools.net.deployment.chain_id, tools.address("RewardSettlement"))
    stone = SettlementLeaf(provider_id=ProviderId(0), cum_reward_wei=Wei(0), cum_penalty_wei=Wei(0))
    padding = [stone] if len(leaves) == 1 else []
    return [settlement_leaf(domain, leaf) for leaf in [*leaves, *padding]]

"""The report of an epoch and every byte that is published with it.

chain state, bundle, previous epoch, params --facts_of--> facts --settle_epoch--> settlement
settlement --> shards, state, trees --> manifest --sha256--> manifestHash --> Report --keccak--> what members vote on
"""

from dataclasses import dataclass

from oracle.consensus.facts import facts_of
from oracle.model import Bundle, EpochFacts, Network, PreviousEpoch, Settlement
from oracle.publish.bundle import bundle_bytes
from oracle.publish.manifest import Manifest, manifest_bytes, shard_entries
from oracle.publish.shards import shard_bytes
from oracle.publish.state import state_bytes
from oracle.publish.trees import outcome_leaves, settlement_domain, settlement_tree
from oracle.publish.verdicts import passed_commitments
from oracle.settle import settle_epoch
from oracle.trees import small_root, small_tree
from swarm_chain.core import merkle
from swarm_chain.core.encoding import report_hash, sha256_digest
from swarm_chain.core.model import ChainState, Report
from swarm_chain.core.rowchain import Compute, NumpyCompute
from swarm_chain.core.units import Hash32

_REFERENCE = NumpyCompute()


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedEpoch:
    """A report with its documents and everything it follows from; trees as `merkle.build_tree` lays them out.

    `passed` are the hashes of the commitments that passed, which each member signs for itself.
    """

    report: Report
    report_hash: Hash32
    manifest: bytes
    bundle: bytes
    state: bytes
    shards: tuple[bytes, ...]
    settlement_tree: bytes
    outcomes_tree: bytes
    facts: EpochFacts
    settlement: Settlement
    passed: tuple[Hash32, ...] = ()

    def documents(self) -> dict[str, bytes]:
        """Every published document by name: manifest, bundle, state, shards/0, shards/1, …"""
        shards = {f"shards/{index}": shard for index, shard in enumerate(self.shards)}
        return {"manifest": self.manifest, "bundle": self.bundle, "state": self.state, **shards}


def build_report(
    state: ChainState,
    bundle: Bundle,
    previous: PreviousEpoch | None,
    network: Network,
    compute: Compute = _REFERENCE,
) -> PublishedEpoch:
    """Build the report of an epoch: a pure function, so that every member gets the same bytes.

    Args:
        state: the chain, folded up to the bundle's reference block.
        bundle: evidence that `consensus.bundle.check_bundle` accepted.
        previous: the last report that was not disabled; None before the first one.
        network: contracts, genesis and params.
        compute: backend that recomputes drawn rows; every backend gives the same bytes.

    Returns:
        Report, documents, trees and how they came about.

    Raises:
        InvalidInputError: the evidence does not fit the chain.
        InconsistentError: the previous report does not fit the chain.
    """
    facts = facts_of(state, bundle, previous, network, compute)
    settlement = settle_epoch(state, facts, previous, network)
    result = settlement.result
    tree = settlement_tree(result.leaves, settlement_domain(network))
    outcomes = small_tree(outcome_leaves(result.violations, result.jobs, network))
    documents = bundle_bytes(bundle), state_bytes(settlement.next_state), shard_bytes(result.leaves)
    manifest = manifest_bytes(
        _manifest(bundle, settlement, (merkle.root(tree), small_root(outcomes)), documents, network)
    )
    report = _report(bundle, settlement, (merkle.root(tree), small_root(outcomes)), sha256_digest(manifest))
    return PublishedEpoch(
        report=report,
        report_hash=report_hash(report),
        manifest=manifest,
        bundle=documents[0],
        state=documents[1],
        shards=documents[2],
        settlement_tree=tree,
        outcomes_tree=outcomes,
        facts=facts,
        settlement=settlement,
        passed=passed_commitments(facts, bundle),
    )


def _manifest(
    bundle: Bundle,
    settlement: Settlement,
    roots: tuple[Hash32, Hash32],
    documents: tuple[bytes, bytes, tuple[bytes, ...]],
    network: Network,
) -> Manifest:
    bundled, state, shards = documents
    return Manifest(
        chain_id=network.chain_id,
        settlement=network.settlement,
        epoch=bundle.epoch,
        ref_block=bundle.ref_block,
        params_version=bundle.params_version,
        previous_manifest_hash=bundle.previous_manifest_hash,
        bundle_hash=sha256_digest(bundled),
        state_hash=sha256_digest(state),
        leaf_count=len(settlement.result.leaves),
        total_reward_wei=settlement.total_reward_wei,
        total_penalty_wei=settlement.total_penalty_wei,
        root=roots[0],
        outcomes_root=roots[1],
        shards=shard_entries(shards),
    )


def _report(bundle: Bundle, settlement: Settlement, roots: tuple[Hash32, Hash32], manifest_hash: Hash32) -> Report:
    return Report(
        epoch=bundle.epoch,
        ref_block=bundle.ref_block.number,
        ref_block_hash=bundle.ref_block.hash,
        params_version=bundle.params_version,
        root=roots[0],
        leaf_count=len(settlement.result.leaves),
        total_reward_wei=settlement.total_reward_wei,
        total_penalty_wei=settlement.total_penalty_wei,
        outcomes_root=roots[1],
        manifest_hash=manifest_hash,
    )

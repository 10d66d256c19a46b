"""One full epoch, every hash of it: written to `epoch.json`, read by pytest and by forge."""

from collections.abc import Sequence
from dataclasses import replace

from oracle.consensus.bundle import check_bundle
from oracle.model import JobFinding, PreviousEpoch
from oracle.publish.answers import outcome_path, outcomes_document
from oracle.publish.report import PublishedEpoch, build_report
from oracle.publish.trees import outcome_leaves, settlement_domain
from oracle.rewards.emission import cumulative_emission
from swarm_chain.core import merkle
from swarm_chain.core.encoding import settlement_leaf, to_hex
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.model import Report
from swarm_chain.core.units import JobId
from tests.oracle_world import CHAIN_ID, NETWORK, PARAMS, Device, previous_of, provider, scene
from tests.unit.oracle.judge.test_training import _job, _signed

PROVIDERS = (provider(1, "alice"), provider(2, "bob"), provider(3, "mallory"), provider(4, "carol"), provider(5))
UNBONDED = (*PROVIDERS[:2], provider(3, "mallory", stake_swm=999), *PROVIDERS[3:])
HONEST = (Device(node="alice"), Device(node="bob", elapsed_ms=2))
EMISSION_EPOCHS = (0, 1, 2, 3, 7, 30, 365, 3650, 20_000)


def epoch_document() -> dict[str, object]:
    """The second epoch of a small network: mallory lies and unbonds, carol is silent, bob's job is paid.

    Returns:
        Inputs by hash, every leaf with its path, the outcomes with theirs, the documents as text, the report and its hash,
        and the emission schedule at some epochs.
    """
    published = _second_epoch()
    domain, result = settlement_domain(NETWORK), published.settlement.result
    outcomes = outcome_leaves(result.violations, result.jobs, NETWORK)
    return {
        "chainId": str(CHAIN_ID),
        "contract": NETWORK.settlement,
        "domain": to_hex(domain),
        "providerIds": [str(leaf.provider_id) for leaf in result.leaves],
        "cumRewards": [str(leaf.cum_reward_wei) for leaf in result.leaves],
        "cumPenalties": [str(leaf.cum_penalty_wei) for leaf in result.leaves],
        "leaves": [to_hex(settlement_leaf(domain, leaf)) for leaf in result.leaves],
        "paths": [_hexes(merkle.path(published.settlement_tree, index)) for index in range(len(result.leaves))],
        "outcomes": outcomes_document(published),
        "outcomeLeaves": _hexes(outcomes),
        "outcomePaths": [_hexes(outcome_path(published, position)) for position in range(len(outcomes))],
        "report": report_document(published.report),
        "reportHash": to_hex(published.report_hash),
        "manifest": published.manifest.decode(),
        "state": published.state.decode(),
        "bundle": published.bundle.decode(),
        "shards": _hexes(published.shards),
        "emissionFirst": str(PARAMS.rewards.emission_first_wei),
        "emissionDecayRay": str(PARAMS.rewards.emission_decay_ray),
        "emissionEpochs": [str(epochs) for epochs in EMISSION_EPOCHS],
        "emissionCumulative": [str(_emitted(epochs)) for epochs in EMISSION_EPOCHS],
    }


def report_document(report: Report) -> dict[str, object]:
    """A report with the field names of the Solidity struct."""
    return {
        "epoch": str(report.epoch),
        "refBlock": str(report.ref_block),
        "refBlockHash": to_hex(report.ref_block_hash),
        "paramsVersion": str(report.params_version),
        "root": to_hex(report.root),
        "leafCount": str(report.leaf_count),
        "totalReward": str(report.total_reward_wei),
        "totalPenalty": str(report.total_penalty_wei),
        "outcomesRoot": to_hex(report.outcomes_root),
        "manifestHash": to_hex(report.manifest_hash),
    }


def _second_epoch() -> PublishedEpoch:
    first = _first_epoch()
    passed = JobFinding(job_id=JobId(1), outcome=Outcome.PASSED)
    devices = (*HONEST, Device(node="mallory", garbage_from=128), Device(node="carol", commits=False))
    played = scene(UNBONDED, devices, epoch=1, roll_calls={"carol": (0, 30)}, jobs=(passed,))
    played = replace(
        played,
        state=replace(played.state, jobs=(_job(_signed()),)),
        pool=replace(played.pool, receipts=(_signed(),)),
    )
    bundle = played.bundle(first)
    check_bundle(bundle, played.state, first.manifest_hash, NETWORK, played.pool.observations[0])
    return build_report(played.state, bundle, first, NETWORK)


def _first_epoch() -> PreviousEpoch:
    played = scene(PROVIDERS, (*HONEST, Device(node="carol")))
    return previous_of(build_report(played.state, played.bundle(), None, NETWORK))


def _hexes(values: Sequence[bytes]) -> list[str]:
    return [to_hex(value) for value in values]


def _emitted(epochs: int) -> int:
    return cumulative_emission(PARAMS.rewards.emission_first_wei, PARAMS.rewards.emission_decay_ray, epochs)

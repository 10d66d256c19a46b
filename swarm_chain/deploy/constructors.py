"""Constructor arguments of every contract, from the protocol numbers. Pure.

Source: docs/spec/deployment.md.
"""

from collections.abc import Mapping

from swarm_chain.core.params import Params
from swarm_chain.core.units import ZERO_ADDRESS, Address, Timestamp
from swarm_chain.deploy.roles import Roles

Arguments = tuple[object, ...]


def constructor_arguments(
    params: Params, roles: Roles, deployer: Address, genesis_at: Timestamp, at: Mapping[str, Address]
) -> dict[str, Arguments]:
    """Arguments by contract, in the order of each constructor; structs as mappings by Solidity names.

    Args:
        params: protocol numbers.
        roles: role holders.
        deployer: first administrator; the last step of a plan takes that away.
        genesis_at: start of epoch 0.
        at: address every contract will have.
    """
    manager, token, registry = at["AccessManager"], at["SwarmToken"], at["ProviderRegistry"]
    vault, sink, settlement = at["StakeVault"], at["SlashSink"], at["RewardSettlement"]
    governance = params.governance
    return {
        # Anyone may execute what the proposers scheduled, once its delay is over.
        "TimelockController": (governance.timelock_for, roles.proposers, (ZERO_ADDRESS,), ZERO_ADDRESS),
        "AccessManager": (deployer,),
        "SwarmToken": (manager, params.token.cap_wei, roles.owner, params.token.initial_supply_wei),
        "ProviderRegistry": (manager, governance.payout_delay_for),
        "SlashSink": (manager, token),
        "StakeVault": (manager, token, registry, sink, _vault_params(params)),
        "EpochOracle": (manager, _epoch_params(params, genesis_at), roles.members, governance.quorum),
        "ChallengeBeacon": (at["EpochOracle"],),
        "ReportLimits": (registry, _limit_params(params)),
        "RewardSettlement": (manager, token, registry, vault, sink, _settlement_params(params)),
        "SlashingCourt": (manager, token, registry, vault, settlement, _court_params(params)),
        "JobEscrow": (manager, token, registry, settlement, _escrow_params(params)),
        "ComputeCourt": (token, registry, vault, at["ChallengeBeacon"], _compute_court_params(params)),
    }


def _vault_params(params: Params) -> dict[str, int]:
    stake = params.stake
    return {
        "unbondingFor": stake.unbonding_for,
        "minUnbondingFor": stake.min_unbonding_for,
        "maxUnbondingFor": stake.max_unbonding_for,
        "staleAfterFor": params.epoch.stale_after_for,
        "providerBucketBps": stake.provider_bucket_bps,
        "globalBucketBps": stake.global_bucket_bps,
        "bucketFor": stake.bucket_for,
    }


def _epoch_params(params: Params, genesis_at: Timestamp) -> dict[str, int]:
    epoch = params.epoch
    return {"genesisAt": genesis_at, "epochFor": epoch.epoch_for, "reportWindowFor": epoch.report_window_for}


def _limit_params(params: Params) -> dict[str, int]:
    rewards = params.rewards
    return {
        "maxRewardPerEpoch": rewards.emission_first_wei,
        "maxPenaltyPerEpoch": rewards.max_penalty_per_epoch_wei,
    }


def _settlement_params(params: Params) -> dict[str, int]:
    return {
        "activationFor": params.epoch.activation_for,
        "emissionFirst": params.rewards.emission_first_wei,
        "emissionDecayRay": params.rewards.emission_decay_ray,
    }


def _court_params(params: Params) -> dict[str, int]:
    court = params.court
    return {
        "vetoFor": court.veto_for,
        "severeVetoFor": court.severe_veto_for,
        "executeFor": court.execute_for,
        "severeExecuteFor": court.severe_execute_for,
        "maxOffenceAgeFor": court.max_offence_age_for,
        "bondWei": court.bond_wei,
        "bountyBps": court.bounty_bps,
    }


def _escrow_params(params: Params) -> dict[str, int]:
    escrow = params.escrow
    return {
        "judgeFor": escrow.judge_for,
        "minBudget": escrow.min_budget_wei,
        "oracleBps": escrow.oracle_bps,
        "burnBps": escrow.burn_bps,
    }


def _compute_court_params(params: Params) -> dict[str, int]:
    court = params.compute_court
    return {
        "accuseFor": court.accuse_for,
        "answerFor": court.answer_for,
        "moveFor": court.move_for,
        "bondWei": court.bond_wei,
        "slashBps": court.slash_bps,
        "bountyBps": court.bounty_bps,
    }

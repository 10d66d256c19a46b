"""The deployment as a list of transactions, with every address known before the first one is sent. Pure.

The address of a contract follows from the deployer and its nonce, so step i of a plan is the deployer's transaction number
first_nonce + i, and a plan that was cut off goes on where the account's nonce stands.
Source: docs/spec/deployment.md.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from swarm_chain.abi import CONTRACTS
from swarm_chain.adapters.contracts import function_selector
from swarm_chain.core.encoding import address_bytes, checksum_address, keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.model import ContractCall, Deployment
from swarm_chain.core.params import Params
from swarm_chain.core.units import ZERO_ADDRESS, Address, BlockNumber, Timestamp

ADMIN, MINTER, SETTLEMENT, COURT, ORACLE, VAULT, GUARDIAN, VETO = range(8)

# (contract, functions, role that may call them); what is not listed belongs to ADMIN.
FUNCTION_ROLES = (
    ("SwarmToken", ("mint",), MINTER),
    ("StakeVault", ("takePenalty",), SETTLEMENT),
    ("StakeVault", ("slash", "openCase", "closeCase"), COURT),
    ("ProviderRegistry", ("suspend",), COURT),
    ("RewardSettlement", ("acceptReport",), ORACLE),
    ("SlashSink", ("deposit",), VAULT),
    ("RewardSettlement", ("disableRoot", "pauseFor", "resume"), GUARDIAN),
    ("StakeVault", ("pauseFor", "resume"), GUARDIAN),
    ("JobEscrow", ("pauseFor", "resume"), GUARDIAN),
    ("SlashingCourt", ("veto",), VETO),
)
CONTRACT_ROLES = (
    (MINTER, "RewardSettlement"),
    (SETTLEMENT, "RewardSettlement"),
    (COURT, "SlashingCourt"),
    (ORACLE, "EpochOracle"),
    (VAULT, "StakeVault"),
    (VAULT, "RewardSettlement"),
)
# (contract, setter, argument, event that proves it, its field)
WIRING = (
    ("StakeVault", "setExitGate", "RewardSettlement", "ExitGateChanged", "gate"),
    ("EpochOracle", "setLimits", "ReportLimits", "LimitsChanged", "limits"),
    ("EpochOracle", "setSettlement", "RewardSettlement", "SettlementChanged", "settlement"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """Who holds what: `owner` gets the initial supply, `proposers` may schedule operations of the timelock."""

    owner: Address
    members: tuple[Address, ...]
    guardian: Address
    veto: Address
    proposers: tuple[Address, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a deployment starts: the account and its next nonce, the chain, its next block, and the start of epoch 0."""

    deployer: Address
    first_nonce: int
    chain_id: int
    block: BlockNumber
    genesis_at: Timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentPlan:
    """Transactions of a deployment, in nonce order, and the contracts they leave behind."""

    origin: Origin
    roles: Roles
    params: Params
    deployment: Deployment
    steps: tuple[ContractCall, ...]


def plan_deployment(params: Params, roles: Roles, origin: Origin) -> DeploymentPlan:
    """Plan a deployment: create, wire, grant, hand the administration over to the timelock.

    Args:
        params: protocol numbers; its governance part fixes quorum and delays.
        roles: role holders; as many members as `params.governance.members`.
        origin: account, nonce, chain and genesis.

    Returns:
        The same plan for the same arguments.

    Raises:
        InvalidInputError: the number of members is not the one the params fix.
    """
    if len(roles.members) != params.governance.members:
        raise InvalidInputError(
            f"params {params.name} want {params.governance.members} oracle members, got {len(roles.members)}",
            fix="name exactly that many member addresses",
        )
    where = {name: create_address(origin.deployer, origin.first_nonce + i) for i, name in enumerate(CONTRACTS)}
    deployment = Deployment(chain_id=origin.chain_id, block=origin.block, params=params.name, contracts=where)
    constructors = _constructors(params, roles, origin, where)
    steps = [ContractCall(contract=name, function="constructor", args=constructors[name]) for name in CONTRACTS]
    steps += _wiring(where)
    steps += _grants(roles, where)
    steps.append(_manager("revokeRole", ADMIN, origin.deployer))
    return DeploymentPlan(origin=origin, roles=roles, params=params, deployment=deployment, steps=tuple(steps))


def create_address(deployer: Address, nonce: int) -> Address:
    """Address of the contract that the deployer's transaction with this nonce creates."""
    number = nonce.to_bytes((nonce.bit_length() + 7) // 8, "big")
    if nonce >= 0x80 or nonce == 0:
        number = bytes([0x80 + len(number)]) + number
    fields = b"\x94" + address_bytes(deployer) + number  # RLP of 20 bytes and an integer
    return checksum_address(keccak(bytes([0xC0 + len(fields)]) + fields)[12:])


def _constructors(
    params: Params, roles: Roles, origin: Origin, at: Mapping[str, Address]
) -> dict[str, tuple[object, ...]]:
    manager, token, registry = at["AccessManager"], at["SwarmToken"], at["ProviderRegistry"]
    vault, sink, settlement = at["StakeVault"], at["SlashSink"], at["RewardSettlement"]
    governance = params.governance
    return {
        # Anyone may execute what the proposers scheduled, once its delay is over.
        "TimelockController": (governance.timelock_for, roles.proposers, (ZERO_ADDRESS,), ZERO_ADDRESS),
        "AccessManager": (origin.deployer,),
        "SwarmToken": (manager, params.token.cap_wei, roles.owner, params.token.initial_supply_wei),
        "ProviderRegistry": (manager, governance.payout_delay_for),
        "SlashSink": (manager, token),
        "StakeVault": (manager, token, registry, sink, _vault_params(params)),
        "EpochOracle": (manager, _epoch_params(params, origin.genesis_at), roles.members, governance.quorum),
        "ChallengeBeacon": (at["EpochOracle"],),
        "ReportLimits": (registry, _limit_params(params)),
        "RewardSettlement": (manager, token, registry, vault, sink, _settlement_params(params)),
        "SlashingCourt": (manager, token, registry, vault, settlement, _court_params(params)),
        "JobEscrow": (manager, token, registry, settlement, _escrow_params(params)),
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


def _wiring(at: Mapping[str, Address]) -> Iterator[ContractCall]:
    for contract, setter, target, _, _ in WIRING:
        yield ContractCall(contract=contract, function=setter, args=(at[target],))


def _grants(roles: Roles, at: Mapping[str, Address]) -> Iterator[ContractCall]:
    for contract, functions, role in FUNCTION_ROLES:
        selectors = tuple(function_selector(contract, function) for function in functions)
        yield _manager("setTargetFunctionRole", at[contract], selectors, role)
    for role, account in role_holders(roles, at):
        yield _manager("grantRole", role, account, 0)


def role_holders(roles: Roles, at: Mapping[str, Address]) -> tuple[tuple[int, Address], ...]:
    """Every (role id, account) a finished deployment has; the timelock is the only ADMIN."""
    contracts = tuple((role, at[name]) for role, name in CONTRACT_ROLES)
    return (*contracts, (GUARDIAN, roles.guardian), (VETO, roles.veto), (ADMIN, at["TimelockController"]))


def _manager(function: str, *args: object) -> ContractCall:
    return ContractCall(contract="AccessManager", function=function, args=args)

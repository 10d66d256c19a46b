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
from swarm_chain.core.units import Address, BlockNumber, Timestamp
from swarm_chain.core.windows import check_windows
from swarm_chain.deploy.constructors import constructor_arguments
from swarm_chain.deploy.roles import Roles, check_roles

ADMIN, MINTER, SETTLEMENT, COURT, ORACLE, VAULT, GUARDIAN, VETO = range(8)
ROLE_NAMES = ("ADMIN", "MINTER", "SETTLEMENT", "COURT", "ORACLE", "VAULT", "GUARDIAN", "VETO")

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
    (COURT, "ComputeCourt"),
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
        InvalidInputError: the number of members is not the one the params fix, a role is held by nobody, or a window
            of the params ends before one it has to outlast (invariant 33).
    """
    if len(roles.members) != params.governance.members:
        raise InvalidInputError(
            f"params {params.name} want {params.governance.members} oracle members, got {len(roles.members)}",
            fix="name exactly that many member addresses",
        )
    check_roles(roles)
    check_windows(params)
    where = {name: create_address(origin.deployer, origin.first_nonce + i) for i, name in enumerate(CONTRACTS)}
    deployment = Deployment(chain_id=origin.chain_id, block=origin.block, params=params.name, contracts=where)
    constructors = constructor_arguments(params, roles, origin.deployer, origin.genesis_at, where)
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

"""What the chain must answer once a plan is carried out: immutables, settings, roles of functions and of accounts. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from swarm_chain.abi import CONTRACTS, load_artifact
from swarm_chain.adapters.contracts import function_selector
from swarm_chain.core.encoding import JOB_TAG, SETTLEMENT_TAG, VIOLATION_TAG, keccak, leaf_domain, word
from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.model import ContractCall
from swarm_chain.core.signing import domain_separator
from swarm_chain.core.units import ZERO_ADDRESS, ZERO_HASH, Address
from swarm_chain.deploy.plan import (
    ADMIN,
    FUNCTION_ROLES,
    ROLE_NAMES,
    WIRING,
    DeploymentPlan,
    role_holders,
)

PROPOSER_ROLE, CANCELLER_ROLE, EXECUTOR_ROLE = (
    keccak(f"{name}_ROLE".encode()) for name in ("PROPOSER", "CANCELLER", "EXECUTOR")
)
_LEAF_TAGS = {"RewardSettlement": SETTLEMENT_TAG, "SlashingCourt": VIOLATION_TAG, "JobEscrow": JOB_TAG}
# OpenZeppelin's ShortString: the text, zeros, its length in the last byte.
_SWARM, _ONE = (text.ljust(31, b"\0") + bytes([len(text)]) for text in (b"Swarm", b"1"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One value of a constructor, structs taken apart; `kind` is its Solidity type."""

    name: str
    kind: str
    value: Any


def constructor_values(plan: DeploymentPlan, contract: str) -> tuple[Argument, ...]:
    """Every value the constructor of a contract is given, in its order."""
    step = plan.steps[CONTRACTS.index(contract)]
    inputs = next((item["inputs"] for item in load_artifact(contract).abi if item["type"] == "constructor"), ())
    return tuple(part for spec, value in zip(inputs, step.args, strict=True) for part in _parts(spec, value))


def immutable_arguments(plan: DeploymentPlan, contract: str) -> dict[str, Argument]:
    """Immutables of a contract by name, each with the constructor argument it holds; those that follow from the address
    and the chain are not among them."""
    given = {_shouted(argument.name): argument for argument in constructor_values(plan, contract)}
    names = [name for name in load_artifact(contract).immutables if name not in _derived_words(plan, contract)]
    return {name: given.get(name) or given.get(f"{name}_FOR") or _unexplained(contract, name) for name in names}


def immutable_words(plan: DeploymentPlan, contract: str) -> dict[str, bytes]:
    """The 32-byte word of every immutable of a contract.

    Raises:
        InconsistentError: an immutable is no constructor argument, so nobody could tell what it should be.
    """
    derived = _derived_words(plan, contract)
    given = {name: word(argument.value) for name, argument in immutable_arguments(plan, contract).items()}
    return {name: derived.get(name) or given[name] for name in load_artifact(contract).immutables}


def expected_answers(plan: DeploymentPlan) -> Iterator[tuple[ContractCall, object]]:
    """Every getter that shows how a contract is set up, with what it must answer."""
    yield from _settings(plan)
    for contract in CONTRACTS:
        getters = set(_getters(contract))
        if "authority" in getters:
            yield _call(contract, "authority"), plan.deployment.contracts["AccessManager"]
        for name, argument in immutable_arguments(plan, contract).items():
            for getter in getters & {name, argument.name}:
                yield _call(contract, getter), argument.value
    yield from _access(plan)


def expected_members(plan: DeploymentPlan) -> frozenset[tuple[int, Address, int]]:
    """Every (role id, account, execution delay) of the AccessManager; nobody else may have a role."""
    return frozenset((role, account, 0) for role, account in role_holders(plan.roles, plan.deployment.contracts))


def expected_functions(plan: DeploymentPlan) -> dict[tuple[Address, bytes], int]:
    """Role of every (contract, selector) that is not ADMIN's."""
    at = plan.deployment.contracts
    return {
        (at[contract], bytes(function_selector(contract, function))): role
        for contract, functions, role in FUNCTION_ROLES
        for function in functions
    }


def expected_timelock(plan: DeploymentPlan) -> frozenset[tuple[bytes, Address]]:
    """Every (role, account) of the timelock: it administers itself, anyone executes, proposers propose and cancel."""
    own = {(bytes(ZERO_HASH), plan.deployment.contracts["TimelockController"]), (bytes(EXECUTOR_ROLE), ZERO_ADDRESS)}
    people = {(bytes(role), who) for role in (PROPOSER_ROLE, CANCELLER_ROLE) for who in plan.roles.proposers}
    return frozenset(own | people)


def expected_wiring(plan: DeploymentPlan) -> dict[tuple[str, str, str], Address]:
    """Argument that the last (contract, event, field) must carry."""
    at = plan.deployment.contracts
    return {(contract, event, field): at[target] for contract, _, target, event, field in WIRING}


def changing_functions(contract: str) -> tuple[str, ...]:
    """Names of the functions of a contract that change state."""
    items = (item for item in load_artifact(contract).abi if item["type"] == "function")
    return tuple(item["name"] for item in items if item["stateMutability"] not in {"view", "pure"})


def _settings(plan: DeploymentPlan) -> Iterator[tuple[ContractCall, object]]:
    params, at, chain_id = plan.params, plan.deployment.contracts, plan.origin.chain_id
    wanted: dict[str, dict[str, object]] = {
        "TimelockController": {"getMinDelay": params.governance.timelock_for},
        "SwarmToken": {
            "name": "Swarm",
            "symbol": "SWM",
            "decimals": 18,
            "cap": params.token.cap_wei,
            "DOMAIN_SEPARATOR": bytes(domain_separator(chain_id, at["SwarmToken"])),
        },
        "StakeVault": {
            "unbondingFor": params.stake.unbonding_for,
            "providerBucketBps": params.stake.provider_bucket_bps,
            "globalBucketBps": params.stake.global_bucket_bps,
            "exitGate": at["RewardSettlement"],
        },
        "EpochOracle": {"members": plan.roles.members, "quorum": params.governance.quorum},
        "ChallengeBeacon": {"domainSeparator": bytes(domain_separator(chain_id, at["ChallengeBeacon"]))},
        "RewardSettlement": {
            "leafDomain": bytes(leaf_domain(SETTLEMENT_TAG, chain_id, at["RewardSettlement"])),
        },
        "ComputeCourt": {"params": plan.steps[CONTRACTS.index("ComputeCourt")].args[-1]},
    }
    for contract, answers in wanted.items():
        for getter, want in answers.items():
            yield _call(contract, getter), want


def _access(plan: DeploymentPlan) -> Iterator[tuple[ContractCall, object]]:
    at, functions = plan.deployment.contracts, expected_functions(plan)
    for role, account in role_holders(plan.roles, at):
        yield _call("AccessManager", "hasRole", role, account), {"isMember": True, "executionDelay": 0}
    yield (
        _call("AccessManager", "hasRole", ADMIN, plan.origin.deployer),
        {"isMember": False, "executionDelay": 0},
    )
    for role in range(len(ROLE_NAMES)):
        for getter in ("getRoleAdmin", "getRoleGuardian", "getRoleGrantDelay"):
            yield _call("AccessManager", getter, role), 0
    for contract in CONTRACTS:
        yield _call("AccessManager", "isTargetClosed", at[contract]), False
        yield _call("AccessManager", "getTargetAdminDelay", at[contract]), 0
        for function in changing_functions(contract):
            selector = function_selector(contract, function)
            want = functions.get((at[contract], bytes(selector)), ADMIN)
            yield _call("AccessManager", "getTargetFunctionRole", at[contract], selector), want


def _derived_words(plan: DeploymentPlan, contract: str) -> dict[str, bytes]:
    """Immutables that no argument gives: EIP-712's and the domain of leaves follow from the chain and the address."""
    at, chain_id = plan.deployment.contracts[contract], plan.origin.chain_id
    eip712 = {
        "_cachedDomainSeparator": bytes(domain_separator(chain_id, at)),
        "_cachedChainId": word(chain_id),
        "_cachedThis": word(at),
        "_hashedName": bytes(keccak(b"Swarm")),
        "_hashedVersion": bytes(keccak(b"1")),
        "_name": _SWARM,
        "_version": _ONE,
    }
    tag = _LEAF_TAGS.get(contract)
    leaves = {"LEAF_DOMAIN": bytes(leaf_domain(tag, chain_id, at))} if tag else {}
    return eip712 | leaves | {"CHAIN_ID": word(chain_id), "SELF": word(at)}


def _parts(spec: Mapping[str, Any], value: Any) -> Iterator[Argument]:
    if spec["type"] == "tuple":
        for part in spec["components"]:
            yield from _parts(part, value[part["name"]])
        return
    yield Argument(name=spec["name"].strip("_"), kind=spec["type"], value=value)


def _getters(contract: str) -> Iterator[str]:
    for item in load_artifact(contract).abi:
        if item["type"] == "function" and not item["inputs"] and item["stateMutability"] in {"view", "pure"}:
            yield item["name"]


def _shouted(name: str) -> str:
    """maxUnbondingFor -> MAX_UNBONDING_FOR."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()


def _unexplained(contract: str, name: str) -> Argument:
    raise InconsistentError(
        f"the plan does not know what {contract}.{name} has to be",
        fix="name the immutable like the constructor argument it holds",
    )


def _call(contract: str, function: str, *args: object) -> ContractCall:
    return ContractCall(contract=contract, function=function, args=args)

"""A deployment plan for people: names behind addresses, durations, amounts and shares behind integers. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from swarm_chain.abi import CONTRACTS
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.units import RAY, ZERO_ADDRESS, Address, Timestamp, Wei, format_swm
from swarm_chain.core.windows import window_rules
from swarm_chain.deploy.expected import Argument, constructor_values, immutable_arguments
from swarm_chain.deploy.plan import ADMIN, FUNCTION_ROLES, ROLE_NAMES, DeploymentPlan, role_holders

AMOUNTS = ("cap", "initialSupply", "minBudget", "maxRewardPerEpoch", "maxPenaltyPerEpoch", "emissionFirst")
UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Names of the addresses of a plan; one address may have several."""

    by_address: Mapping[str, str]

    def shown(self, value: object) -> str:
        """A value for a person: an address with its name, bytes as hex, everything else as it prints."""
        if isinstance(value, str):
            name = self.by_address.get(value.lower())
            return f"{value} ({name})" if name else value
        if isinstance(value, bytes):
            return self._word(value)
        if isinstance(value, tuple | list | set | frozenset):
            return ", ".join(self.shown(item) for item in value)
        return str(value)

    def role(self, role_id: int) -> str:
        """Name of a role of the AccessManager."""
        return ROLE_NAMES[role_id] if role_id < len(ROLE_NAMES) else f"role {role_id}"

    def _word(self, raw: bytes) -> str:
        """An immutable's 32 bytes: its integer if small, the address if it is a known one, else hex."""
        number = int.from_bytes(raw, "big")
        known = self.by_address.get(to_hex(raw[12:]))
        if known and not any(raw[:12]):
            return f"{to_hex(raw[12:])} ({known})"
        return str(number) if len(raw) == 32 and number < 2**128 else to_hex(raw)


def names_of(plan: DeploymentPlan) -> Names:
    """Names of all contracts and role holders of a plan."""
    pairs = [(address, name) for name, address in plan.deployment.contracts.items()]
    pairs += [(address, name) for name, address in (*plan.roles.holders(), ("deployer", plan.origin.deployer))]
    names: dict[str, str] = {ZERO_ADDRESS: "anyone"}
    for address, name in pairs:
        known = names.get(address.lower())
        names[address.lower()] = f"{known}, {name}" if known else name
    return Names(by_address=names)


def plan_document(plan: DeploymentPlan) -> dict[str, object]:
    """The whole plan, JSON-ready: what will be where, with which numbers, and who may do what."""
    names = names_of(plan)
    return {
        "chainId": plan.origin.chain_id,
        "params": plan.params.name,
        "paramsVersion": plan.params.version,
        "deployer": plan.origin.deployer,
        "firstNonce": plan.origin.first_nonce,
        "genesisAt": plan.origin.genesis_at,
        "transactions": len(plan.steps),
        "contracts": [_contract(plan, names, contract) for contract in CONTRACTS],
        "immutables": [row for contract in CONTRACTS for row in _immutables(plan, names, contract)],
        "roles": [_role(plan, names, role) for role in range(len(ROLE_NAMES))],
        "delays": [asdict(delay) for delay in delays(plan)],
        "windows": [
            {"name": rule.name, "haveFor": rule.have_for, "needFor": rule.need_for, "sum": rule.sum_text}
            for rule in window_rules(plan.params)
        ],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay:
    """Time between asking for something and its taking effect."""

    what: str
    seconds: int
    words: str


def delays(plan: DeploymentPlan) -> Iterator[Delay]:
    """Every delay that protects somebody, longest chain of events first."""
    params = plan.params
    court = params.court
    for what, seconds in (
        ("change of any role, setting, member or contract: timelock", params.governance.timelock_for),
        ("stake asked back leaves", params.stake.unbonding_for),
        ("least the timelock can make of that", params.stake.min_unbonding_for),
        ("root accepted pays; guardian can disable it until then", params.epoch.activation_for),
        ("case opened can be executed; veto until then", court.veto_for),
        ("the same, severe security", court.severe_veto_for),
        ("payout address changed is in force", params.governance.payout_delay_for),
        ("oracle silent stops gating exits", params.epoch.stale_after_for),
    ):
        yield Delay(what=what, seconds=seconds, words=duration(seconds))


def duration(seconds: int) -> str:
    """Seconds in the largest unit that divides them."""
    size, unit = next(pair for pair in UNITS if seconds % pair[0] == 0)
    return f"{seconds // size} {unit}"


def in_words(argument: Argument, names: Names) -> str:
    """The value of a constructor argument for a person."""
    name, value = argument.name, argument.value
    if name.endswith("Bps"):
        return f"{value // 100}.{value % 100:02d} %"
    if name.endswith("For") or name == "minDelay":
        return duration(value)
    if name.endswith("At"):
        return f"{datetime.fromtimestamp(Timestamp(value), UTC):%Y-%m-%d %H:%M:%S} UTC"
    if name in AMOUNTS or name.endswith("Wei"):
        return f"{format_swm(Wei(value), 0)} SWM"
    if name.endswith("Ray"):
        return f"{value * 10_000 // RAY} / 10000 an epoch"
    return names.shown(value)


def _contract(plan: DeploymentPlan, names: Names, contract: str) -> dict[str, object]:
    given = [_row(argument, names) for argument in constructor_values(plan, contract)]
    return {"name": contract, "address": plan.deployment.contracts[contract], "constructor": given}


def _immutables(plan: DeploymentPlan, names: Names, contract: str) -> Iterator[dict[str, object]]:
    for name, argument in immutable_arguments(plan, contract).items():
        yield {"contract": contract, **_row(argument, names), "name": name}


def _row(argument: Argument, names: Names) -> dict[str, object]:
    value = argument.value
    listed = list(value) if isinstance(value, tuple) else value
    return {"name": argument.name, "value": listed, "words": in_words(argument, names)}


def _role(plan: DeploymentPlan, names: Names, role: int) -> dict[str, object]:
    at = plan.deployment.contracts
    functions = [f"{contract}.{name}" for contract, listed, owner in FUNCTION_ROLES if owner == role for name in listed]
    holders: list[Address] = [account for number, account in role_holders(plan.roles, at) if number == role]
    return {
        "role": ROLE_NAMES[role],
        "id": role,
        "holders": holders,
        "names": [names.shown(holder) for holder in holders],
        "functions": ["every other restricted function"] if role == ADMIN else functions,
        "executionDelay": 0,
    }

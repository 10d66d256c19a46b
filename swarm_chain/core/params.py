"""Every protocol number as one frozen value, parsed from a preset's TOML text and checked as a whole."""

import tomllib
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, TypeVar, cast

from swarm_chain.core.compute import MAX_M, MIN_SIZE
from swarm_chain.core.economics import (
    ClassLevels,
    MaintenanceParams,
    PenaltyParams,
    RewardParams,
    StakeParams,
    reward_rules,
    stake_rules,
)
from swarm_chain.core.encoding import canonical_json, keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Category
from swarm_chain.core.link_params import LinkParams, link_rules
from swarm_chain.core.memory_plan import MemoryParams, memory_rules
from swarm_chain.core.network import NetworkParams, network_rules
from swarm_chain.core.serving import ServingParams, serving_rules
from swarm_chain.core.storageset import StorageParams, storage_rules
from swarm_chain.core.training import TrainingParams, training_rules
from swarm_chain.core.units import BPS, Bps, Wei
from swarm_chain.core.windows import check_windows

T = TypeVar("T")
MOVES = 3  # of a dispute after the answer: pick, reveal, prove


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochParams:
    """Timeline of an epoch, seconds."""

    epoch_for: int
    report_window_for: int
    activation_for: int
    stale_after_for: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeParams:
    """Shape, plan and times of a compute window (compute-proof.md)."""

    m: int
    min_m: int
    max_m: int
    n: int
    steps: int
    first_steps: int
    max_steps: int
    target_ms: int
    draws: int
    confirmations: int
    commit_for: int
    open_for: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LivenessParams:
    """Heartbeats and roll calls, seconds."""

    roll_call_for: int
    heartbeat_for: int
    grace_for: int
    message_for: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CourtParams:
    """Windows, bond and bounty of SlashingCourt."""

    veto_for: int
    severe_veto_for: int
    execute_for: int
    severe_execute_for: int
    max_offence_age_for: int
    bond_wei: Wei
    bounty_bps: Bps


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeCourtParams:
    """Times, bond and prices of ComputeCourt (docs/spec/compute-court.md)."""

    accuse_for: int
    answer_for: int
    move_for: int
    bond_wei: Wei
    slash_bps: Bps
    bounty_bps: Bps

    @property
    def longest_for(self) -> int:
        """Seconds from the close of a window until the last accusation of it has ended."""
        return self.accuse_for + self.answer_for + MOVES * self.move_for


@dataclass(frozen=True, slots=True, kw_only=True)
class EscrowParams:
    """Split and times of JobEscrow."""

    judge_for: int
    min_budget_wei: Wei
    oracle_bps: Bps
    burn_bps: Bps


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenParams:
    """Supply of SWM."""

    cap_wei: Wei
    initial_supply_wei: Wei


@dataclass(frozen=True, slots=True, kw_only=True)
class GovernanceParams:
    """Delays of governance and the size of the committee."""

    payout_delay_for: int
    timelock_for: int
    members: int
    quorum: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """All protocol numbers of a preset."""

    name: str
    epoch: EpochParams
    compute: ComputeParams
    memory: MemoryParams
    liveness: LivenessParams
    stake: StakeParams
    rewards: RewardParams
    services: ClassLevels
    penalties: PenaltyParams
    maintenance: MaintenanceParams
    court: CourtParams
    compute_court: ComputeCourtParams
    storage: StorageParams
    training: TrainingParams
    network: NetworkParams
    links: LinkParams
    serving: ServingParams
    escrow: EscrowParams
    token: TokenParams
    governance: GovernanceParams

    def ask_for(self, category: Category) -> int:
        """Seconds after a window's close in which devices may ask to be audited in a category that is audited."""
        return cast(int, getattr(self, category).ask_for)

    @property
    def version(self) -> int:
        """uint32 that binds a report to these numbers: first 4 bytes of keccak256 of their canonical JSON."""
        document = asdict(self)
        return int.from_bytes(keccak(canonical_json(_texts(document)))[:4], "big")


def parse_params(text: str) -> Params:
    """Params of a preset's TOML text.

    Args:
        text: content of params/<name>.toml; wei are decimal strings.

    Raises:
        InvalidInputError: a key is missing, unknown or of the wrong type, or the numbers contradict each other.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInputError(f"params are no TOML: {error}") from error
    params = _build(Params, document, "params")
    _check(params)
    return params


def _build(kind: type[T], document: dict[str, Any], where: str) -> T:
    names = {f.name: f.type for f in fields(kind)}  # type: ignore[arg-type]  # T is always one of the dataclasses above
    needed = {f.name for f in fields(kind) if f.default is MISSING}  # type: ignore[arg-type]  # same
    missing, unknown = needed - document.keys(), document.keys() - names.keys()
    if missing or unknown:
        raise InvalidInputError(f"{where}: missing {sorted(missing)}, unknown {sorted(unknown)}")
    return kind(**{name: _value(names[name], value, f"{where}.{name}") for name, value in document.items()})


def _value(kind: Any, value: Any, where: str) -> Any:
    if isinstance(value, dict):
        return _build(kind, value, where)
    if isinstance(value, list):
        return tuple(tuple(_integer(x, where) for x in pair) for pair in value)
    return value if kind is str and isinstance(value, str) else _integer(value, where)


def _integer(value: Any, where: str) -> int:
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InvalidInputError(f"{where}: {value!r} is no non-negative integer")
    return value


def _check(params: Params) -> None:
    rules = {
        "a conviction takes nothing, or more than everything": 0 < params.compute_court.slash_bps <= BPS
        and params.compute_court.bounty_bps <= BPS,
        "quorum must be above half of the members": params.governance.members
        < 2 * params.governance.quorum
        <= 2 * params.governance.members,
        "steps must ascend": 0 < params.compute.steps <= params.compute.first_steps <= params.compute.max_steps,
        "rows must be powers of two that ascend, and n another": _are_sizes(params.compute),
        **memory_rules(params.memory),
        **network_rules(params.network, params.compute.open_for),
        **link_rules(params.links),
        **reward_rules(params.rewards),
        **stake_rules(params.stake),
        **storage_rules(params.storage),
        **training_rules(params.training),
        "the last storage audit of a window must end within open_for": 1000 * params.storage.ask_for
        + params.storage.limit_ms
        <= 1000 * params.compute.open_for,
        **serving_rules(params.serving),
        "restoration and maintenance need at least one epoch": params.penalties.restoration_epochs > 0
        and params.maintenance.budget_epochs > 0,
        "escrow takes more than everything": params.escrow.oracle_bps + params.escrow.burn_bps <= BPS,
    }
    broken = [rule for rule, holds in rules.items() if not holds]
    if broken:
        raise InvalidInputError(f"params {params.name}: {'; '.join(broken)}")
    check_windows(params)


def _are_sizes(compute: ComputeParams) -> bool:
    sizes = (compute.min_m, compute.m, compute.max_m)
    powers = all(size.bit_count() == 1 for size in (*sizes, compute.n))
    return powers and min(sizes) >= MIN_SIZE and tuple(sorted(sizes)) == sizes and max(sizes) <= MAX_M


def _texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _texts(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_texts(item) for item in value]
    return str(value)

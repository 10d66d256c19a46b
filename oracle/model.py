"""Frozen values the steps of an epoch pass on: what was observed, what was judged, what is carried over."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from oracle.economy import CategoryPool, CategoryWeight, GradedService, Service, Supply
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Category, Outcome, Severity, ViolationClass
from swarm_chain.core.model import (
    BlockRef,
    Deployment,
    EpochResult,
    Receipt,
    SettlementLeaf,
    SignedCommitment,
    SignedProof,
    Verdict,
    Violation,
)
from swarm_chain.core.params import Params
from swarm_chain.core.units import (
    ZERO_HASH,
    Address,
    Bps,
    EpochNumber,
    Hash32,
    JobId,
    ProviderId,
    Signature,
    Timestamp,
    Wei,
    WindowId,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """Which chain, contracts and numbers an epoch is settled by; epoch e is [epoch_start(e), epoch_end(e))."""

    chain_id: int
    genesis_at: Timestamp
    beacon: Address
    settlement: Address
    court: Address
    escrow: Address
    params: Params

    def epoch_start(self, epoch: int) -> Timestamp:
        """First second of an epoch, chain time."""
        return Timestamp(self.genesis_at + epoch * self.params.epoch.epoch_for)

    def epoch_end(self, epoch: int) -> Timestamp:
        """First second after an epoch, chain time; EpochOracle.epochEnd."""
        return self.epoch_start(epoch + 1)

    def deadline(self, epoch: int) -> Timestamp:
        """First second at which no report of an epoch is taken any more; EpochOracle.deadlineOf."""
        return Timestamp(self.epoch_end(epoch) + self.params.epoch.report_window_for)

    def epoch_at(self, at: int) -> EpochNumber:
        """Epoch a second of chain time lies in; 0 before genesis."""
        return EpochNumber(max(at - self.genesis_at, 0) // self.params.epoch.epoch_for)


def network_of(deployment: Deployment, params: Params, genesis_at: Timestamp) -> Network:
    """Bind a deployment to its numbers.

    Args:
        deployment: addresses by contract name.
        params: the preset the deployment was made with.
        genesis_at: start of epoch 0, unix s (EpochOracle.epochEnd(0) less the length of an epoch).

    Raises:
        InvalidInputError: a contract is missing, or the preset is not the deployment's.
    """
    names = ("ChallengeBeacon", "RewardSettlement", "SlashingCourt", "JobEscrow")
    missing = [name for name in names if name not in deployment.contracts]
    if missing or params.name != deployment.params:
        raise InvalidInputError(
            f"deployment lacks {missing or 'nothing'} and was made with params {deployment.params}, not {params.name}",
            fix="use the deployment file that `swarm dev up` or the deployment script wrote, and its preset",
        )
    beacon, settlement, court, escrow = (deployment.contracts[name] for name in names)
    return Network(
        chain_id=deployment.chain_id,
        genesis_at=genesis_at,
        beacon=beacon,
        settlement=settlement,
        court=court,
        escrow=escrow,
        params=params,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """When one member received a commitment: milliseconds of its own clock since it saw the window open."""

    window_id: WindowId
    node: Address
    device: int
    elapsed_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RollCall:
    """How often one member found a node present in an epoch."""

    node: Address
    present: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """A content of a job that a member computed otherwise than the receipt commits to; never content 0."""

    content: int
    computed: Hash32


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFinding:
    """What one member found on a completed job; `reason` is a stable code, empty when passed.

    `mismatch` is there where the member computed a drawn unit of a program of the network and got something else.
    """

    job_id: JobId
    outcome: Outcome
    reason: str = ""
    mismatch: Mismatch | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What one member measured of a node in one category: units it proved to this member, and how it served.

    `units` are MiB of memory, MB of storage and the like, None where no capacity was measured; compute has verdicts instead.
    """

    node: Address
    category: Category
    units: int | None = None
    service: Service = field(default_factory=Service)

    def __post_init__(self) -> None:
        if self.category is Category.COMPUTE and self.units is not None:
            raise ValueError("compute is proven by verdicts alone")


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Everything one member alone can know of an epoch; lists are ordered and free of duplicates."""

    epoch: EpochNumber
    member: Address
    arrivals: tuple[Arrival, ...] = ()
    roll_calls: tuple[RollCall, ...] = ()
    jobs: tuple[JobFinding, ...] = ()
    measurements: tuple[Measurement, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedObservation:
    """An observation and its member's signature over Observation(epoch, member, sha256 of its bytes)."""

    observation: Observation
    signature: Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedReceipt:
    """A job's receipt, the node's signature, the content hashes its checkpoint root commits to, and the gateway's signature
    where the job names a gateway."""

    receipt: Receipt
    signature: Signature
    checkpoints: tuple[Hash32, ...]
    gateway_signature: Signature | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Equivocation:
    """Two different commitments one node signed for one window, seed and device; `first` has the lower hash."""

    first: SignedCommitment
    second: SignedCommitment


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubleObservation:
    """Two different observations one member signed for one epoch; the sha256 of `first` is the lower one."""

    first: SignedObservation
    second: SignedObservation


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberEquivocation:
    """Two different observations one member signed for one epoch, by the sha256 of their bytes, the lower one first."""

    member: Address
    first: Hash32
    second: Hash32
    epoch: EpochNumber

    def __post_init__(self) -> None:
        if not self.first < self.second:
            raise ValueError(f"member {self.member}: hashes of two observations must ascend, and differ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """The evidence of an epoch: with the chain, everything a report follows from."""

    chain_id: int
    epoch: EpochNumber
    ref_block: BlockRef
    params_version: int
    previous_manifest_hash: Hash32 = ZERO_HASH
    observations: tuple[SignedObservation, ...] = ()
    commitments: tuple[SignedCommitment, ...] = ()
    proofs: tuple[SignedProof, ...] = ()
    equivocations: tuple[Equivocation, ...] = ()
    receipts: tuple[SignedReceipt, ...] = ()
    double_observations: tuple[DoubleObservation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Size of the run a device owes in every window of the coming epoch, fixed before the seed is known."""

    node: Address
    device: int
    m: int
    n: int
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PastViolation:
    """What escalation must remember of a violation."""

    provider_id: ProviderId
    violation_class: ViolationClass
    severity: Severity
    epoch: EpochNumber


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochState:
    """What an epoch hands to the next ones; published, so that anyone can go on from it. Tuples are ordered by id.

    `gross_wei` is each provider's last reward of one epoch; `clean_epochs` those it earned in since its last violation or
    suspension; `supply` what was paid for, by region and class; `classes` when each hardware class first was; `jobs` are
    judged, but not yet settled on chain. A report of epoch e is made while epoch e + 1 runs, so its `plans` are in force
    from epoch e + 2 on; `plans_before` are those of the report before it, in force in epoch e + 1. Nothing a device owes
    changes while its epoch runs.
    """

    epoch: EpochNumber
    carry_wei: Wei
    gross_wei: tuple[tuple[ProviderId, Wei], ...] = ()
    clean_epochs: tuple[tuple[ProviderId, int], ...] = ()
    supply: tuple[Supply, ...] = ()
    classes: tuple[tuple[int, EpochNumber], ...] = ()
    violations: tuple[PastViolation, ...] = ()
    plans: tuple[Plan, ...] = ()
    plans_before: tuple[Plan, ...] = ()
    jobs: tuple[JobId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviousEpoch:
    """The report a new one builds on: its leaves by provider id, its state and the hash the chain holds of it."""

    manifest_hash: Hash32
    leaves: tuple[SettlementLeaf, ...]
    state: EpochState

    @property
    def epoch(self) -> EpochNumber:
        """Epoch of that report."""
        return self.state.epoch

    def plans_in(self, epoch: int) -> tuple[Plan, ...]:
        """Plans in force in a later epoch."""
        return self.state.plans if epoch > self.epoch + 1 else self.state.plans_before


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgedWork:
    """A content a node signed for that most of the referees computed otherwise, all alike."""

    provider_id: ProviderId
    node: Address
    receipt_digest: Hash32
    content: int
    committed: Hash32
    computed: Hash32
    referees: tuple[Address, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedJob:
    """What the members together found on a completed job, how long a device worked for it, and whether referees confirm
    that its node lied."""

    job_id: JobId
    outcome: Outcome
    reason: str = ""
    device_seconds: int = 0
    forged: ForgedWork | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochFacts:
    """What the evidence says, judged: the only input of settlement besides chain, previous epoch and params.

    `windows` are those that count; `availability` holds measured nodes only; `maintenance` the bps of the epoch a node is
    excused for; `proven` the units of categories that have no verdicts (MiB, MB, requests); `services` what was measured;
    `member_equivocations` are proven by signatures.
    """

    epoch: EpochNumber
    windows: tuple[WindowId, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    availability: Mapping[Address, Bps] = field(default_factory=dict)
    jobs: tuple[JudgedJob, ...] = ()
    maintenance: Mapping[Address, Bps] = field(default_factory=dict)
    proven: Mapping[Category, Mapping[Address, int]] = field(default_factory=dict)
    services: Mapping[tuple[Category, Address], Service] = field(default_factory=dict)
    member_equivocations: tuple[MemberEquivocation, ...] = ()

    def __post_init__(self) -> None:
        if any(pair.epoch != self.epoch for pair in self.member_equivocations):
            raise ValueError(f"an equivocation of another epoch is no fact of epoch {self.epoch}")
        if Category.COMPUTE in self.proven:
            raise ValueError("compute is proven by verdicts alone")
        for name in ("availability", "maintenance", "services"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        proven = {category: MappingProxyType(dict(units)) for category, units in self.proven.items()}
        object.__setattr__(self, "proven", MappingProxyType(proven))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pools:
    """How much an epoch may pay: emission, demand, and the categories that somebody proved."""

    emission_wei: Wei
    paid_seconds: int
    offered_seconds: int
    utilisation_bps: Bps
    pool_wei: Wei
    categories: tuple[CategoryPool, ...]
    carry_out_wei: Wei


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardLine:
    """All that led to one provider's reward and penalty of an epoch; `excused` says why no penalty can apply."""

    provider_id: ProviderId
    weights: tuple[CategoryWeight, ...]
    reward_wei: Wei
    availability_bps: Bps | None
    excused: str
    shortfall_bps: Bps
    base_wei: Wei
    penalty_wei: Wei
    services: tuple[GradedService, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundViolation:
    """A violation and the canonical JSON its evidence hash is of."""

    violation: Violation
    evidence: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What settle_epoch returns: the result, totals since genesis, how it came about, what the next epoch needs."""

    result: EpochResult
    total_reward_wei: Wei
    total_penalty_wei: Wei
    pools: Pools
    lines: tuple[RewardLine, ...]
    found: tuple[FoundViolation, ...]
    next_state: EpochState

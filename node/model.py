"""Frozen values of an agent: what it sees, what it remembers, what it will do next."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from node.gateway_model import Errand, GatewayJob, GatewaySight
from swarm_chain.core.audits import PER_DEVICE
from swarm_chain.core.compute import ComputeChallenge, ComputeShape
from swarm_chain.core.kinds import Category, JobKind, JobState
from swarm_chain.core.model import BlockRef, Receipt, SignedCommitment, WindowRecord
from swarm_chain.core.units import (
    ZERO_HASH,
    Address,
    BlockNumber,
    EpochNumber,
    Hash32,
    JobId,
    ProviderId,
    RootIndex,
    Signature,
    Timestamp,
    WindowId,
)
from swarm_chain.court.model import CourtView, MoveKind


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePlan:
    """The run a device owes in every window of an epoch."""

    device: int
    shape: ComputeShape


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOffer:
    """A job as the chain shows it to nodes; `completed_block` is zero until a receipt is recorded."""

    job_id: JobId
    state: JobState
    kind: JobKind
    spec_hash: Hash32
    accept_by: Timestamp
    complete_by: Timestamp = Timestamp(0)
    node: Address | None = None
    receipt_digest: Hash32 = ZERO_HASH
    completed_block: BlockNumber = BlockNumber(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedRoot:
    """A settlement root the chain has accepted."""

    index: RootIndex
    epoch: EpochNumber
    root: Hash32
    leaf_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """Maintenance a node announced last and did not withdraw: unix s, the end exclusive; zeros if there is none."""

    starts_at: Timestamp = Timestamp(0)
    ends_at: Timestamp = Timestamp(0)

    def covers(self, at: Timestamp) -> bool:
        """True while the node is away as announced."""
        return self.starts_at <= at < self.ends_at


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What the agent sees. `announced` are windows an oracle member told of: good for starting, never for signing."""

    block: BlockRef
    node: Address
    provider_id: ProviderId
    windows: tuple[WindowRecord, ...] = ()
    announced: tuple[WindowRecord, ...] = ()
    jobs: tuple[JobOffer, ...] = ()
    roots: tuple[AcceptedRoot, ...] = ()
    court: CourtView = field(default_factory=CourtView)
    absence: Absence = field(default_factory=Absence)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCommitment:
    """A commitment this node has signed; `delivered` and `opened` name the members that have it and its proof."""

    signed: SignedCommitment
    delivered: frozenset[str] = frozenset()
    opened: frozenset[str] = frozenset()


class JobPhase(StrEnum):
    """How far this node is with a job; WAITING until a gateway assigns it and its inputs are here."""

    WAITING = "waiting"
    ACCEPTING = "accepting"
    RUNNING = "running"
    FINISHED = "finished"
    CLOSED = "closed"
    DECLINED = "declined"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedReceipt:
    """A receipt, the node key's signature, the content hashes of all contents, and the gateway's signature where it has
    given one."""

    receipt: Receipt
    signature: Signature
    contents: tuple[Hash32, ...]
    gateway_signature: Signature | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnJob:
    """A job this node works on; `delivered` and `uploaded` name the members that have receipt and checkpoints, `gateway`
    is set where its receipt needs one's signature."""

    job_id: JobId
    phase: JobPhase
    signed: SignedReceipt | None = None
    delivered: frozenset[str] = frozenset()
    uploaded: frozenset[str] = frozenset()
    sending: bool = False
    gateway: GatewayJob | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimKey:
    """What a device claims in a category, made ready with the seed of an epoch's first window."""

    window_id: WindowId
    device: int
    category: Category


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditKey:
    """One audit: after which window, of which device and category, by which member."""

    window_id: WindowId
    device: int
    category: Category
    member: str


Lane = tuple[int, Category | None]  # where one thing is done at a time: a device, or what the machine has one of


def lane_of(key: ClaimKey | AuditKey) -> Lane:
    """Lane of a claim or an audit: all that needs a device shares its lane; disk and network have lanes of their own."""
    return (key.device, None) if key.category in PER_DEVICE else (key.device, key.category)


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """What the agent remembers and what runs at the moment.

    `ready` are computed but unsigned runs; `plans_for` is the window the plans were last asked for. `sending` are purposes of
    transactions under way; `tracing`, `traced` and `given_up` are accusations whose row is computed again, is at hand, or
    turned out to be indefensible. `errands` at gateways are under way, `lacking` are jobs whose inputs are not here. `claims`
    are the categories this node is audited in, `prepared` and `audited` what was done for them, `auditing` what is under way.
    """

    now_ms: int
    heartbeat_ms: int | None = None
    members: tuple[str, ...] = ()
    devices: tuple[int, ...] = (0,)
    plans: tuple[DevicePlan, ...] = ()
    plans_for: WindowId | None = None
    running: frozenset[tuple[WindowId, int]] = frozenset()
    ready: tuple[ComputeChallenge, ...] = ()
    commitments: tuple[OwnCommitment, ...] = ()
    jobs: tuple[OwnJob, ...] = ()
    active_jobs: frozenset[JobId] = frozenset()
    gateways: tuple[GatewaySight, ...] = ()
    errands: frozenset[Errand] = frozenset()
    handed_ms: Mapping[JobId, int] = field(default_factory=lambda: MappingProxyType({}))
    lacking: frozenset[JobId] = frozenset()
    kept_epochs: frozenset[EpochNumber] = frozenset()
    oldest_heads: WindowId | None = None
    sending: frozenset[str] = frozenset()
    tracing: frozenset[Hash32] = frozenset()
    traced: frozenset[Hash32] = frozenset()
    given_up: frozenset[Hash32] = frozenset()
    reserve_ms: int | None = None
    takes_jobs: bool = False
    claims: tuple[Category, ...] = ()
    prepared: frozenset[ClaimKey] = frozenset()
    audited: frozenset[AuditKey] = frozenset()
    auditing: frozenset[ClaimKey | AuditKey] = frozenset()
    serves: bool = False
    offered: frozenset[tuple[EpochNumber, str]] = frozenset()
    links: bool = False
    linking: bool = False
    linked: frozenset[EpochNumber] = frozenset()
    draining: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SendHeartbeat:
    """Tell every member that the node lives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchPlans:
    """Ask for the plans that hold in a window."""

    window_id: WindowId


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRun:
    """Compute one device's answer."""

    window_id: WindowId
    window_seed: Hash32
    plan: DevicePlan


@dataclass(frozen=True, slots=True, kw_only=True)
class SignRun:
    """Self-check, sign and store a finished run whose seed the chain confirms."""

    challenge: ComputeChallenge


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscardRun:
    """Forget a finished run: its window is over, or the chain knows another seed."""

    challenge: ComputeChallenge


@dataclass(frozen=True, slots=True, kw_only=True)
class SendCommitment:
    """Hand a stored commitment to a member."""

    window_id: WindowId
    window_seed: Hash32
    device: int
    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SendProof:
    """Open the drawn rows of a commitment to a member."""

    window: WindowRecord
    device: int
    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StartAudit:
    """Have a device audited by a member."""

    key: AuditKey


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepareClaim:
    """Make ready what the audits of an epoch are about."""

    key: ClaimKey
    epoch_seed: Hash32


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureLinks:
    """Say where this node answers pings in the next epoch; with `pings`, measure the links of this one too."""

    epoch: EpochNumber
    pings: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferServing:
    """Serve the model of an epoch, and tell a member where."""

    epoch: EpochNumber
    epoch_seed: Hash32
    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetHeads:
    """Drop what is only needed for openings of windows that nobody can ask about or accuse any more."""

    before: WindowId


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepEpochProof:
    """Fetch, verify and keep the own leaf of an accepted root."""

    root: AcceptedRoot


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptJob:
    """Read the spec and take the job on chain."""

    offer: JobOffer


@dataclass(frozen=True, slots=True, kw_only=True)
class RunJob:
    """Start or resume a job on Ray."""

    offer: JobOffer


@dataclass(frozen=True, slots=True, kw_only=True)
class CompleteJob:
    """Record the digest of the stored receipt on chain."""

    job_id: JobId


@dataclass(frozen=True, slots=True, kw_only=True)
class SendReceipt:
    """Hand the receipt to a member."""

    job_id: JobId
    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SendCheckpoints:
    """Draw the job's segments and hand their checkpoints to a member."""

    offer: JobOffer
    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseJob:
    """Stop working on a job and drop its files; `reason` is a stable code."""

    job_id: JobId
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRow:
    """Have an accused row computed again."""

    accusation_id: Hash32


@dataclass(frozen=True, slots=True, kw_only=True)
class Defend:
    """Make the move this node owes in an accusation against it."""

    accusation_id: Hash32
    kind: MoveKind


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReserve:
    """See whether the node key could pay for a defence."""


Action = (
    SendHeartbeat
    | FetchPlans
    | StartRun
    | SignRun
    | DiscardRun
    | SendCommitment
    | SendProof
    | StartAudit
    | PrepareClaim
    | OfferServing
    | MeasureLinks
    | ForgetHeads
    | KeepEpochProof
    | AcceptJob
    | RunJob
    | CompleteJob
    | SendReceipt
    | SendCheckpoints
    | CloseJob
    | TraceRow
    | Defend
    | CheckReserve
    | Errand
)

"""What the cycle sees of the chain and of its own store, and the actions it may ask for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType

from oracle.model import Network
from swarm_chain.core.model import BlockRef, ChainState, JobOutcome, Violation
from swarm_chain.core.units import (
    Address,
    BlockNumber,
    EpochNumber,
    Hash32,
    RootIndex,
    Timestamp,
    WindowId,
)

Device = tuple[Address, int]


class CaseState(IntEnum):
    """States of a case in SlashingCourt, same numbers."""

    NONE = 0
    OPEN = 1
    ANSWERED = 2
    VETOED = 3
    EXECUTED = 4
    EXPIRED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """A live vote of a member in EpochOracle."""

    epoch: EpochNumber
    member: Address
    report_hash: Hash32


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRecord:
    """A case as SlashingCourt knows it; times are unix s, `expires_at` is the first second it cannot execute."""

    case_id: Hash32
    state: CaseState
    executable_at: Timestamp
    expires_at: Timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleView:
    """The chain at its latest block, as far as the cycle needs it.

    `secret_blocks` says in which block the secret of a committed window was fixed; `finalized` is the latest final
    block; `processed_epochs` is the last processed epoch plus one.
    """

    network: Network
    state: ChainState
    finalized: BlockRef
    processed_epochs: int
    secret_blocks: Mapping[WindowId, BlockNumber] = field(default_factory=dict)
    votes: tuple[Vote, ...] = ()
    cases: tuple[CaseRecord, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "secret_blocks", MappingProxyType(dict(self.secret_blocks)))


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWindow:
    """What this member's store holds of a window; `secret` is None where another member made it, or it was lost."""

    window_id: WindowId
    secret: Hash32 | None = field(default=None, repr=False)
    committed: frozenset[Device] = frozenset()
    proven: frozenset[Device] = frozenset()
    judged: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A bundle another member serves; `bundle_hash` is the sha256 of the bytes it gave."""

    member: Address
    bundle_hash: Hash32


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnReport:
    """How far this member is with the report of an epoch.

    `observers` are the members whose observations it holds; `signed` says that this member signed one, which a lost
    database may no longer hold; `bundle_hash` is of the bundle it took or made, `offers` are the others' bundles.
    """

    epoch: EpochNumber
    observers: frozenset[Address] = frozenset()
    signed: bool = False
    bundle_hash: Hash32 | None = None
    report_hash: Hash32 | None = None
    published: bool = False
    offers: tuple[Offer, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenOutcome:
    """A violation (with its case id) or a judged job of an accepted root, at `position` of its outcomes tree."""

    root_index: RootIndex
    position: int
    violation: Violation | None = None
    case_id: Hash32 | None = None
    job: JobOutcome | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnView:
    """What this member's store holds; all of it can be lost without a second vote or a second submission.

    `expected` are the devices that owe a commitment this epoch (`cycle.expected_devices`); `refused` are actions the chain
    rejected for good, which are not asked for again.
    """

    member: Address
    expected: frozenset[Device] = frozenset()
    windows: tuple[OwnWindow, ...] = ()
    reports: tuple[OwnReport, ...] = ()
    outcomes: tuple[OpenOutcome, ...] = ()
    refused: "frozenset[Action]" = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Nothing to do until the chain or the store changes; `until` is chain time at which it may, if known."""

    reason: str
    until: Timestamp | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitSecret:
    """Make a secret, store it, and fix its hash on chain (ChallengeBeacon.commitSecret)."""

    window_id: WindowId


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWindow:
    """Reveal the stored secret (ChallengeBeacon.open)."""

    window_id: WindowId


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseWindow:
    """Fix the root of the commitments received (ChallengeBeacon.close)."""

    window_id: WindowId


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawWindow:
    """Let the chain draw the rows (ChallengeBeacon.draw)."""

    window_id: WindowId


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeWindow:
    """Judge the openings of a window and keep the verdicts."""

    window_id: WindowId


@dataclass(frozen=True, slots=True, kw_only=True)
class Observe:
    """Freeze and sign this member's observation of an ended epoch."""

    epoch: EpochNumber


@dataclass(frozen=True, slots=True, kw_only=True)
class AssembleBundle:
    """Put the evidence bundle together."""

    epoch: EpochNumber


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeBundle:
    """Check the bundle another member offers and build on it."""

    epoch: EpochNumber
    bundle_hash: Hash32


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptReport:
    """Check the bundle behind the report most members voted for, and put it in the place of this member's own."""

    epoch: EpochNumber
    report_hash: Hash32
    bundle_hash: Hash32


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildReport:
    """Build the report and all its documents from chain and bundle."""

    epoch: EpochNumber


@dataclass(frozen=True, slots=True, kw_only=True)
class Publish:
    """Make the documents of an epoch public; always before the vote."""

    epoch: EpochNumber
    report_hash: Hash32


@dataclass(frozen=True, slots=True, kw_only=True)
class CastVote:
    """Vote for the report hash (EpochOracle.vote)."""

    epoch: EpochNumber
    report_hash: Hash32


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitReport:
    """Hand in the report a quorum agreed on (EpochOracle.submitReport)."""

    epoch: EpochNumber
    report_hash: Hash32


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCase:
    """Open the case of a violation in an activated root (SlashingCourt.open)."""

    outcome: OpenOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecuteCase:
    """Execute a case whose veto window is over (SlashingCourt.execute)."""

    case_id: Hash32


@dataclass(frozen=True, slots=True, kw_only=True)
class SettleJob:
    """Pay or refund a judged job by an activated root (JobEscrow.settleJob)."""

    outcome: OpenOutcome


Action = (
    Wait
    | CommitSecret
    | OpenWindow
    | CloseWindow
    | DrawWindow
    | JudgeWindow
    | Observe
    | AssembleBundle
    | TakeBundle
    | AdoptReport
    | BuildReport
    | Publish
    | CastVote
    | SubmitReport
    | OpenCase
    | ExecuteCase
    | SettleJob
)

"""One member of the committee: everything its ticks work with, wired once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from sqlalchemy import Engine

from oracle.consensus.views import Action, OpenOutcome
from oracle.model import Network
from oracle.pipeline.archive import Archive
from oracle.pipeline.audits import Auditing, Auditor
from oracle.pipeline.backlog import Sender
from oracle.pipeline.desk import Desk
from oracle.pipeline.exchange import Exchange
from oracle.pipeline.follow import Follower
from oracle.pipeline.lease import LeaseKeeper
from oracle.pipeline.links import Linking, Pinger
from oracle.pipeline.metrics import Metrics
from oracle.pipeline.probe_process import Prober
from oracle.pipeline.probes import Probing
from oracle.pipeline.replay_process import UnitAsk
from oracle.pipeline.sign_log import SignLog
from oracle.pipeline.volumes import Volumes
from swarm_chain.core.kinds import Category
from swarm_chain.core.rowchain import Compute
from swarm_chain.core.units import Address, EpochNumber, Hash32, Timestamp
from swarm_chain.ports import ChainReader, Clock, Signer


class Entropy(Protocol):
    """Source of the secrets of windows."""

    def __call__(self, size: int, /) -> bytes:
        """That many unpredictable bytes."""
        ...


class Replays(Protocol):
    """What computes audited segments and units of jobs again."""

    def replay(self, spec: bytes, start: bytes, segment: int) -> Hash32:
        """Content hash of the checkpoint at the end of a segment."""
        ...

    def compute(self, ask: UnitAsk) -> Hash32:
        """Hash of the content that a unit leaves."""
        ...

    def close(self) -> None:
        """Ends a replay under way and takes no other."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A member's parts. Without a signer and sender it is a dry run: it follows, judges and builds, but sends nothing."""

    network: Network
    engine: Engine
    reader: ChainReader
    follower: Follower
    keeper: LeaseKeeper
    archive: Archive
    desk: Desk
    clock: Clock
    compute: Compute
    replays: Replays
    entropy: Entropy
    metrics: Metrics
    exchange: Exchange
    sign_log: SignLog
    volumes: Volumes
    signer: Signer | None = None
    sender: Sender | None = None
    refused: dict[Action, Timestamp] = field(default_factory=dict)  # actions not to ask for until then
    outcomes: dict[Hash32, tuple[OpenOutcome, ...]] = field(default_factory=dict)  # of accepted roots, by manifest
    auditors: Mapping[Category, Auditor] = field(default_factory=dict)  # a category without one is not audited here
    prober: Prober | None = None  # what probes serving endpoints
    pinger: Pinger | None = None  # what pings nodes on the ring
    kept_roots: set[Hash32] = field(default_factory=set)  # manifests of accepted reports found in the store
    foreign_votes: set[EpochNumber] = field(default_factory=set)  # with a vote of this key that the outbox lacks

    @property
    def address(self) -> Address | None:
        """Address this member signs with, None in a dry run."""
        return self.signer.address if self.signer else None

    @property
    def auditing(self) -> Auditing:
        """What its audits need."""
        return Auditing(desk=self.desk, member=self.address, entropy=self.entropy, auditors=self.auditors)

    @property
    def probing(self) -> Probing:
        """What its probes need."""
        return Probing(desk=self.desk, member=self.address, entropy=self.entropy, prober=self.prober)

    @property
    def linking(self) -> Linking:
        """What links need."""
        return Linking(desk=self.desk, signer=self.signer, pinger=self.pinger)

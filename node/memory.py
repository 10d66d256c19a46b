"""What an agent holds while it runs; all of it can be lost, because the chain and the state file hold the rest."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from node.gateway_model import GatewaySight
from node.model import Absence, AcceptedRoot, AuditKey, ClaimKey, DevicePlan, JobOffer, View
from node.ports import FinishedRun
from swarm_chain.core.compute import ComputeChallenge
from swarm_chain.core.kinds import AccusationState
from swarm_chain.core.model import BlockRef, WindowRecord
from swarm_chain.core.units import EpochNumber, Hash32, JobId, ProviderId, RootIndex, WindowId
from swarm_chain.court.model import CourtView, RowEvidence

RunKey = tuple[WindowId, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainSight:
    """What was read of the chain up to `block`, folded from its events."""

    block: BlockRef
    provider_id: ProviderId
    windows: Mapping[WindowId, WindowRecord] = field(default_factory=lambda: MappingProxyType({}))
    jobs: Mapping[JobId, JobOffer] = field(default_factory=lambda: MappingProxyType({}))
    roots: Mapping[RootIndex, AcceptedRoot] = field(default_factory=lambda: MappingProxyType({}))
    court: CourtView = field(default_factory=CourtView)
    absence: Absence = field(default_factory=Absence)


@dataclass(slots=True, kw_only=True)
class Memory:
    """The agent's mutable half. `heads` are runs that are computed but not signed; `evidence` is of accused rows.

    `reserve_ms` and `can_defend` are of the last look at the key's balance; `accusations_told` is what was logged,
    `handed_ms` when a job was last handed in at its gateway.
    """

    sight: ChainSight | None = None
    view: View | None = None
    heartbeat_ms: int | None = None
    plans: tuple[DevicePlan, ...] = ()
    plans_for: WindowId | None = None
    running: set[RunKey] = field(default_factory=set)
    heads: dict[RunKey, FinishedRun] = field(default_factory=dict)
    active_jobs: set[JobId] = field(default_factory=set)
    gateways: dict[str, GatewaySight] = field(default_factory=dict)
    handed_ms: dict[JobId, int] = field(default_factory=dict)
    kept_epochs: set[EpochNumber] = field(default_factory=set)
    tracing: set[Hash32] = field(default_factory=set)
    evidence: dict[Hash32, RowEvidence] = field(default_factory=dict)
    given_up: set[Hash32] = field(default_factory=set)
    prepared: set[ClaimKey] = field(default_factory=set)
    audited: set[AuditKey] = field(default_factory=set)
    offered: set[tuple[EpochNumber, str]] = field(default_factory=set)
    reserve_ms: int | None = None
    can_defend: bool = True
    accusations_told: dict[Hash32, AccusationState] | None = None
    draining: bool = False

    @property
    def ready(self) -> tuple[ComputeChallenge, ...]:
        """Challenges of the runs that wait for the chain's word and their signature."""
        return tuple(run.challenge for run in self.heads.values())

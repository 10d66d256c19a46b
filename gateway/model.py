"""Values of a gateway: what it knows of nodes and jobs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from swarm_chain.core.gateway import NodeAnnouncement
from swarm_chain.core.jobs import JobSpec
from swarm_chain.core.kinds import HardwareClass
from swarm_chain.core.model import JobRecord, Receipt
from swarm_chain.core.units import Address, Hash32, JobId, ProviderId, Signature, Timestamp, Wei

NOTHING: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A node that may be given jobs: announced, registered, staked, neither suspended nor away.

    `region` and `hardware_class` are those of the registry, whatever the node says; `jobs` it has now; `measured` are
    units by category.
    """

    provider: ProviderId
    region: str
    hardware_class: HardwareClass
    announcement: NodeAnnouncement
    jobs: int = 0
    measured: Mapping[str, int] = field(default_factory=lambda: NOTHING)

    @property
    def node(self) -> Address:
        """Its address."""
        return self.announcement.node


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTimes:
    """Deadlines of a job, unix s; `complete_by` is 0 while nobody has accepted it."""

    accept_by: Timestamp
    complete_by: Timestamp = Timestamp(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenJob:
    """A posted job whose spec is here, with the device-seconds it is estimated to take."""

    record: JobRecord
    accept_by: Timestamp
    spec: JobSpec
    seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """That a node should accept a job; a withdrawn one is kept, so that others are asked first."""

    job_id: JobId
    node: Address
    provider: ProviderId
    assigned_at: Timestamp
    withdrawn: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CountersignedReceipt:
    """A receipt with both signatures; `digest` is what both signed."""

    receipt: Receipt
    digest: Hash32
    signature: Signature
    gateway_signature: Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a gateway asks for: its fee on top of the node's price, and the least price of a job."""

    fee_bps: int
    min_price_wei: Wei

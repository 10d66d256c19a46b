"""Frozen values of a node's dealings with gateways: what it knows of each, what it will do there."""

from dataclasses import dataclass

from swarm_chain.core.kinds import HardwareClass
from swarm_chain.core.units import Address, JobId, Signature, Timestamp, Wei


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What this node offers; memory and disk in MB, the price for one device-second."""

    region: str
    hardware_class: HardwareClass
    cpus: int
    gpus: int
    memory_mb: int
    disk_mb: int
    price_wei: Wei


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySight:
    """What this process knows of a gateway; `name` is its URL, `asked_ms` when it was last asked for assignments."""

    name: str
    address: Address | None = None
    announced_until: Timestamp = Timestamp(0)
    asked_ms: int | None = None
    assigned: frozenset[JobId] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """How much of a job its gateway has: contents below `contents`, bytes of the log below `log`; `whole` once it is all."""

    contents: int = 0
    log: int = 0
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayJob:
    """A job whose spec names a gateway; `signature` is its, over the stored receipt, once it is given and checked."""

    job_id: JobId
    gateway: Address
    handed: Handed = Handed()
    signature: Signature | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnounceNode:
    """Tell a gateway what this node offers."""

    gateway: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AskAssignments:
    """Ask a gateway who it is and which jobs this node should accept."""

    gateway: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchInputs:
    """Bring the inputs of a job here."""

    gateway: str
    job_id: JobId


@dataclass(frozen=True, slots=True, kw_only=True)
class HandInJob:
    """Hand in what a job has made and said since the last time."""

    gateway: str
    job_id: JobId


@dataclass(frozen=True, slots=True, kw_only=True)
class Countersign:
    """Have the stored receipt of a job signed by its gateway."""

    gateway: str
    job_id: JobId


Errand = AnnounceNode | AskAssignments | FetchInputs | HandInJob | Countersign

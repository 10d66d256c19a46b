"""What a gateway takes in and says, as customers, nodes and the gateway itself write it. Pure.

    node     --NodeAnnouncement, JobContent, JobLog, signed--> gateway
    customer --JobAccess, signed-----------------------------> gateway --Plan--> customer

All four are EIP-712 under the domain of ChallengeBeacon; times are chain time. In JSON wei are decimal strings, other
numbers are numbers. Source: docs/spec/jobs.md, Gateway.
"""

from dataclasses import dataclass
from typing import Final

from swarm_chain.core.checks import check_range
from swarm_chain.core.encoding import keccak, to_hex, words
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import HardwareClass
from swarm_chain.core.messages import Json
from swarm_chain.core.signing import typed_digest
from swarm_chain.core.units import Address, Hash32, JobId, ProviderId, Timestamp, Wei

ANNOUNCEMENT_TYPE = (
    "NodeAnnouncement(address node,string region,uint8 hardwareClass,uint32 cpus,uint32 gpus,uint64 memoryMb,"
    "uint64 diskMb,uint256 priceWei,uint64 issuedAt,uint64 expiresAt)"
)
CONTENT_TYPE = "JobContent(uint256 jobId,address node,uint32 index,bytes32 contentHash,uint64 issuedAt)"
LOG_TYPE = "JobLog(uint256 jobId,address node,uint64 offset,bytes32 textHash,uint64 issuedAt)"
ACCESS_TYPE = "JobAccess(uint256 jobId,address customer,uint64 issuedAt)"

MAX_SKEW_FOR: Final = 30  # s an `issuedAt` may be off the chain's head, either way
MAX_ANNOUNCED_FOR: Final = 3600  # s an announcement may hold
MAX_REGION: Final = 64  # characters
MAX_LOG_TEXT_BYTES: Final = 64 * 1024  # UTF-8 bytes of one JobLog
BPS: Final = 10_000

# Headers of requests whose body is bytes, or that have none.
NODE_HEADER: Final = "X-Swarm-Node"
CUSTOMER_HEADER: Final = "X-Swarm-Customer"
ISSUED_AT_HEADER: Final = "X-Swarm-Issued-At"
SIGNATURE_HEADER: Final = "X-Swarm-Signature"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAnnouncement:
    """What a node offers until `expires_at`: free for jobs of this gateway; memory and disk in MB (10^6 bytes).

    `price_wei` is for one device-second.
    """

    node: Address
    region: str
    hardware_class: HardwareClass
    cpus: int
    gpus: int
    memory_mb: int
    disk_mb: int
    price_wei: Wei
    issued_at: Timestamp
    expires_at: Timestamp

    def __post_init__(self) -> None:
        if not 0 < len(self.region) <= MAX_REGION:
            raise InvalidInputError(f"region has {len(self.region)} characters", fix=f"use 1 to {MAX_REGION}")
        check_range("cpus", self.cpus, 1, 2**32 - 1)
        check_range("gpus", self.gpus, 0, 2**32 - 1)
        check_range("memoryMb", self.memory_mb, 1, 2**53 - 1)
        check_range("diskMb", self.disk_mb, 1, 2**53 - 1)
        check_range("priceWei", self.price_wei, 0, 2**128 - 1)
        check_range("issuedAt", self.issued_at, 0, 2**53 - 1)
        check_range("expiresAt", self.expires_at, self.issued_at + 1, self.issued_at + MAX_ANNOUNCED_FOR)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobContent:
    """That a node hands in content `index` of a job."""

    job_id: JobId
    node: Address
    index: int
    content_hash: Hash32
    issued_at: Timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLog:
    """That a node adds a text to a job's log, whose first byte is byte `offset` of the log; `text_hash` is keccak256 of
    the text in UTF-8."""

    job_id: JobId
    node: Address
    offset: int
    text_hash: Hash32
    issued_at: Timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class JobAccess:
    """That the customer of a job wants to read what it made."""

    job_id: JobId
    customer: Address
    issued_at: Timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedNode:
    """A node that can run a spec, and what the whole job costs there, fee included."""

    node: Address
    provider: ProviderId
    price_wei: Wei


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundLine:
    """What the customer gets back of its budget, in bps, when `case` happens."""

    case: str
    refund_bps: int
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a job would cost and where it would run; nodes in the order in which they would be asked.

    `price_wei` is the least budget at which every one of `nodes` would be paid in full; `seconds` are the device-seconds
    it is estimated to take; `missing` says what no node has, one sentence each, and is empty where there is a node.
    """

    spec_hash: Hash32
    spec: Json
    nodes: tuple[PlannedNode, ...]
    price_wei: Wei
    seconds: int
    missing: tuple[str, ...]
    refunds: tuple[RefundLine, ...]


# As JobEscrow enforces it: a budget leaves whole, to one side. Source: contracts/src/JobEscrow.sol.
REFUNDS: Final = (
    RefundLine(case="cancelled", refund_bps=BPS, meaning="you cancel it before a node accepts it"),
    RefundLine(case="not_completed", refund_bps=BPS, meaning="the node does not complete it in time"),
    RefundLine(case="not_judged", refund_bps=BPS, meaning="the members do not judge it in time"),
    RefundLine(case="failed", refund_bps=BPS, meaning="the members find that the work was not done, or it failed"),
    RefundLine(case="passed", refund_bps=0, meaning="the work was done and found right"),
)


def announcement_hash(announcement: NodeAnnouncement) -> Hash32:
    """Struct hash of a NodeAnnouncement."""
    a, kind = announcement, keccak(ANNOUNCEMENT_TYPE.encode())
    what = words(kind, a.node, keccak(a.region.encode()), a.hardware_class, a.cpus, a.gpus, a.memory_mb, a.disk_mb)
    return keccak(what + words(a.price_wei, a.issued_at, a.expires_at))


def content_upload_hash(content: JobContent) -> Hash32:
    """Struct hash of a JobContent."""
    c, kind = content, keccak(CONTENT_TYPE.encode())
    return keccak(words(kind, c.job_id, c.node, c.index, c.content_hash, c.issued_at))


def log_hash(entry: JobLog) -> Hash32:
    """Struct hash of a JobLog."""
    e, kind = entry, keccak(LOG_TYPE.encode())
    return keccak(words(kind, e.job_id, e.node, e.offset, e.text_hash, e.issued_at))


def access_hash(access: JobAccess) -> Hash32:
    """Struct hash of a JobAccess."""
    return keccak(words(keccak(ACCESS_TYPE.encode()), access.job_id, access.customer, access.issued_at))


def announcement_digest(domain: Hash32, announcement: NodeAnnouncement) -> Hash32:
    """What the node key signs to be given jobs."""
    return typed_digest(domain, announcement_hash(announcement))


def content_upload_digest(domain: Hash32, content: JobContent) -> Hash32:
    """What the node key signs to hand in a content."""
    return typed_digest(domain, content_upload_hash(content))


def log_digest(domain: Hash32, entry: JobLog) -> Hash32:
    """What the node key signs to add to a job's log."""
    return typed_digest(domain, log_hash(entry))


def access_digest(domain: Hash32, access: JobAccess) -> Hash32:
    """What the customer's key signs to read contents and log."""
    return typed_digest(domain, access_hash(access))


def announcement_json(announcement: NodeAnnouncement) -> Json:
    """An announcement as it travels, without signature."""
    a = announcement
    return {
        "node": a.node,
        "region": a.region,
        "hardwareClass": int(a.hardware_class),
        "cpus": a.cpus,
        "gpus": a.gpus,
        "memoryMb": a.memory_mb,
        "diskMb": a.disk_mb,
        "priceWei": str(a.price_wei),
        "issuedAt": a.issued_at,
        "expiresAt": a.expires_at,
    }


def plan_json(plan: Plan) -> Json:
    """A plan as a gateway answers it."""
    nodes = [{"node": n.node, "provider": n.provider, "priceWei": str(n.price_wei)} for n in plan.nodes]
    refunds = [{"case": r.case, "refundBps": r.refund_bps, "meaning": r.meaning} for r in plan.refunds]
    return {
        "specHash": to_hex(plan.spec_hash),
        "spec": plan.spec,
        "nodes": nodes,
        "priceWei": str(plan.price_wei),
        "seconds": plan.seconds,
        "missing": list(plan.missing),
        "refunds": refunds,
    }

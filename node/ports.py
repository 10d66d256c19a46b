"""What an agent needs beside the chain: oracle members, devices and a place to run jobs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from node.model import AuditKey, ClaimKey, DevicePlan, PrepareClaim, SignedReceipt, StartAudit
from swarm_chain.core.audits import AuditAnswer, AuditRequest
from swarm_chain.core.compute import ComputeChallenge
from swarm_chain.core.errors import SwarmError
from swarm_chain.core.jobs import JobSpec
from swarm_chain.core.kinds import Category
from swarm_chain.core.messages import Json
from swarm_chain.core.model import (
    Commitment,
    Heartbeat,
    SettlementLeaf,
    SignedCommitment,
    SignedProof,
    WindowRecord,
)
from swarm_chain.core.storageset import Volume
from swarm_chain.core.units import Address, EpochNumber, Hash32, JobId, ProviderId, Signature
from swarm_chain.core.volumes import BlocksConfirmed, BlocksRequest, VolumeRequest
from swarm_chain.court.model import RowEvidence


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochProof:
    """A provider's leaf of an accepted root and its path, as a member publishes it."""

    leaf: SettlementLeaf
    path: tuple[Hash32, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointUpload:
    """One drawn checkpoint with its path and the node key's signature."""

    job_id: JobId
    node: Address
    index: int
    content: bytes
    path: tuple[Hash32, ...]
    signature: Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class InputUpload:
    """An input of a job, as its spec names it by hash: needs no signature."""

    job_id: JobId
    node: Address
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    """What a device made of a challenge: the first 64 bytes of every final row, m·64 bytes; or why it failed."""

    challenge: ComputeChallenge
    heads: bytes = b""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedJob:
    """What came of a job on Ray. `exit_code` is not zero if the customer's program failed; `reason` says why."""

    job_id: JobId
    contents: tuple[Hash32, ...]
    device_ms: int
    exit_code: int
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccusedRow:
    """A row to defend. `heads` are those of its run, m·64 bytes; empty where they are lost."""

    accusation_id: Hash32
    commitment: Commitment
    challenge: ComputeChallenge
    row: int
    heads: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedRow:
    """Evidence of an accused row; or why there is none yet."""

    accusation_id: Hash32
    evidence: RowEvidence | None = None
    error: str = ""


class OracleReader(Protocol):
    """What one oracle member tells. Every method raises UnavailableError while the member is away."""

    def windows(self) -> tuple[WindowRecord, ...]:
        """Windows of the current epoch as the member sees them."""
        ...

    def plans(self, node: Address) -> tuple[DevicePlan, ...]:
        """Runs the node's devices owe."""
        ...

    def spec(self, spec_hash: Hash32) -> object:
        """The job spec of a hash, checked against it."""
        ...

    def epoch_proof(self, epoch: EpochNumber, provider_id: ProviderId) -> EpochProof:
        """The provider's leaf and path; unverified."""
        ...


class OracleSpecs(Protocol):
    """Where one oracle member keeps the specs of jobs."""

    def keep(self, document: object) -> None:
        """Hands in a job's spec; one it has is none too many."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunAudit:
    """A member's question: its clock runs; `limit_ms` is how long the answer may take."""

    audit_id: Hash32
    nonce: Hash32
    limit_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedAudit:
    """A preparation or an audit that ended; `error` says why it has to be tried again."""

    action: PrepareClaim | StartAudit
    error: SwarmError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditQuestion:
    """What a device is asked by a member: to work under its nonce with what it has prepared, which is what it claimed."""

    audit_id: Hash32
    member: Address
    device: int
    claim: int
    nonce: Hash32


class OracleAudits(Protocol):
    """How one oracle member audits. Every call can be made again. RejectedError if it contradicts an earlier one."""

    def address(self) -> Address:
        """The member's; UnavailableError if it has no key."""
        ...

    def begin(self, request: AuditRequest, signature: Signature) -> BegunAudit:
        """Asks to be audited."""
        ...

    def answer(self, answer: AuditAnswer, signature: Signature) -> Hash32:
        """Hands in an answer; gives the draw."""
        ...

    def open(self, audit_id: Hash32, openings: list[Json]) -> None:
        """Hands in what was drawn."""
        ...


class Auditee(Protocol):
    """What each device of this node has in one category."""

    def claim(self, member: Address) -> int:
        """Units a device claims before a member; 0 is nothing, and then it is not asked to be audited."""
        ...

    def prepare(self, epoch: EpochNumber, epoch_seed: Hash32, device: int) -> None:
        """Makes ready what an epoch's questions are about; nothing to do if it is."""
        ...

    def answer(self, question: AuditQuestion) -> Hash32:
        """Root or digest of the work a question asks for; a member's clock runs."""
        ...

    def openings(self, question: AuditQuestion, draw: Hash32) -> list[Json]:
        """What a draw asks for of the last answer; empty where the category opens nothing."""
        ...

    def release(self) -> None:
        """Gives memory back until the next epoch."""
        ...


class Audits(Protocol):
    """Audits of this node's devices, beside the agent."""

    @property
    def claims(self) -> tuple[Category, ...]:
        """Categories this node is audited in."""
        ...

    @property
    def busy(self) -> frozenset[ClaimKey | AuditKey]:
        """What is under way."""
        ...

    def start(self, action: PrepareClaim | StartAudit) -> None:
        """Begins and returns at once."""
        ...

    def finished(self) -> tuple[FinishedAudit, ...]:
        """What ended since the last call."""
        ...

    def close(self) -> None:
        """Begins nothing more."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenVolume:
    """A volume as its member tells it: blocks it has as confirmed, and how many more it sends in this epoch."""

    volume: Volume
    confirmed: int
    left: int


class OracleVolumes(Protocol):
    """How one oracle member gives out a volume. Every call can be made again."""

    def address(self) -> Address:
        """The member's; UnavailableError if it is away or has no key."""
        ...

    def open(self, request: VolumeRequest, signature: Signature) -> GivenVolume:
        """The node's volume, opened if there is none."""
        ...

    def blocks(self, request: BlocksRequest, signature: Signature) -> bytes:
        """Blocks that are not confirmed yet, 4096 bytes each."""
        ...

    def confirm(self, confirmed: BlocksConfirmed, signature: Signature) -> int:
        """Says what is on disk; gives how many blocks the member has as confirmed."""
        ...

    def close(self) -> None:
        """Ends the connections."""
        ...


class OracleInbox(Protocol):
    """What one oracle member takes. Every message can be sent again. RejectedError if it contradicts an earlier one."""

    def heartbeat(self, heartbeat: Heartbeat, signature: Signature) -> None:
        """Hands in a sign of life."""
        ...

    def commitment(self, signed: SignedCommitment) -> None:
        """Hands in a commitment; stops the member's clock."""
        ...

    def proof(self, signed: SignedProof) -> None:
        """Hands in the openings of a drawn window."""
        ...

    def receipt(self, signed: SignedReceipt) -> None:
        """Hands in a job's receipt with the content hashes of its contents."""
        ...

    def checkpoint(self, upload: CheckpointUpload | InputUpload) -> None:
        """Hands in what a judge computes drawn units from: a checkpoint, or an input."""
        ...


class Devices(Protocol):
    """The devices of this node, each working on one challenge at a time."""

    def indices(self) -> tuple[int, ...]:
        """Numbers of the devices, ascending."""
        ...

    def start(self, challenge: ComputeChallenge) -> None:
        """Starts a run and returns at once."""
        ...

    def finished(self) -> tuple[FinishedRun, ...]:
        """Runs that ended since the last call."""
        ...

    def close(self) -> None:
        """Stops what runs."""
        ...


class RowTracer(Protocol):
    """Computes accused rows again, beside the devices and never on them."""

    def start(self, accused: AccusedRow) -> None:
        """Starts a trace and returns at once."""
        ...

    def finished(self) -> tuple[TracedRow, ...]:
        """Traces that ended since the last call."""
        ...

    def close(self) -> None:
        """Stops what runs."""
        ...


class JobRunner(Protocol):
    """Runs jobs in other processes; progress is on disk, so a stopped job goes on where it was."""

    def start(self, job_id: JobId, spec: JobSpec, inputs: Mapping[Hash32, bytes]) -> None:
        """Starts or resumes a job with the bytes of its inputs, and returns at once."""
        ...

    def finished(self) -> tuple[FinishedJob, ...]:
        """Jobs that ended since the last call."""
        ...

    def content(self, job_id: JobId, index: int) -> bytes:
        """A content of a job."""
        ...

    def stop(self, job_id: JobId, *, forget: bool) -> None:
        """Stops a job; with `forget` its files go too."""
        ...

    def close(self) -> None:
        """Stops everything; files stay."""
        ...

"""A world for agents in one process: a chain in memory, oracle members that check what they get, devices without Ray."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from node.agent import Agent
from node.audits.exchange import run_audit
from node.court.worker import trace_accused
from node.gateway_model import Offer
from node.gateways.blobs import BlobCache
from node.gateways.ports import Gateway, Gateways
from node.jobs.folder import JobFolder
from node.jobs.work import JobOrder, JobResult, run_job
from node.model import AuditKey, ClaimKey, DevicePlan, PrepareClaim, SignedReceipt, StartAudit
from node.ports import (
    AccusedRow,
    Auditee,
    BegunAudit,
    CheckpointUpload,
    EpochProof,
    FinishedAudit,
    FinishedJob,
    FinishedRun,
    InputUpload,
    TracedRow,
)
from node.prove import checked_heads
from node.state import open_state
from node.testing import GatewayInMemory, InlineCourier
from node.tools import Member, Tools
from swarm_chain.core.audits import AuditAnswer, AuditRequest, answer_digest, audit_id, nonce_of, request_digest
from swarm_chain.core.checkpoints import content_hash, opens_checkpoint, path_hash
from swarm_chain.core.compute import ComputeChallenge, ComputeShape, ComputeWindow, draw_rows
from swarm_chain.core.encoding import keccak, words
from swarm_chain.core.errors import InvalidInputError, RejectedError, SwarmError, UnavailableError
from swarm_chain.core.jobs import JobSpec, spec_hash
from swarm_chain.core.kinds import Category, HardwareClass
from swarm_chain.core.messages import Json
from swarm_chain.core.model import (
    Commitment,
    Heartbeat,
    Receipt,
    SignedCommitment,
    SignedProof,
    WindowRecord,
)
from swarm_chain.core.rowchain import NumpyCompute
from swarm_chain.core.signing import (
    checkpoint_digest,
    commitment_digest,
    domain_separator,
    heartbeat_digest,
    proof_digest,
    receipt_digest,
    require_signed_by,
)
from swarm_chain.core.units import Address, EpochNumber, Hash32, JobId, ProviderId, Signature, Wei, WindowId, epoch_of
from swarm_chain.params import load_params
from swarm_chain.testing import FakeChain, FakeClock, FakeSigner

SHAPE = ComputeShape(m=64, n=64, steps=2)
PROVIDER = ProviderId(1)
URL, OTHER_URL = "http://one.oracle", "http://two.oracle"
PARAMS = load_params("minimal")
RESERVE_WEI = Wei(10**16)
AUDITOR, DRAW = FakeSigner("auditor").address, keccak(b"draw")


@dataclass(slots=True, kw_only=True)
class MemberInMemory:
    """Both sides of an oracle member; it checks signatures and keeps what it takes."""

    domain: Hash32
    node: Address
    away: bool = False
    deaf: bool = False
    told: tuple[WindowRecord, ...] = ()
    specs: dict[Hash32, object] = field(default_factory=dict)
    proofs_of_epochs: dict[EpochNumber, EpochProof] = field(default_factory=dict)
    heartbeats: list[Heartbeat] = field(default_factory=list)
    commitments: list[SignedCommitment] = field(default_factory=list)
    proofs: list[SignedProof] = field(default_factory=list)
    receipts: list[tuple[Receipt, tuple[Hash32, ...]]] = field(default_factory=list)
    gateway_signatures: list[Signature | None] = field(default_factory=list)
    checkpoints: dict[int, bytes] = field(default_factory=dict)
    inputs: list[bytes] = field(default_factory=list)
    requests: list[AuditRequest] = field(default_factory=list)
    answers: list[AuditAnswer] = field(default_factory=list)
    opened: dict[Hash32, list[Json]] = field(default_factory=dict)

    def windows(self) -> tuple[WindowRecord, ...]:
        self._require_here()
        return self.told

    def plans(self, node: Address) -> tuple[DevicePlan, ...]:
        self._require_here()
        assert node == self.node
        return (DevicePlan(device=0, shape=SHAPE),)

    def spec(self, spec_hash: Hash32) -> object:
        self._require_here()
        if spec_hash not in self.specs:
            raise InvalidInputError("no such spec", code="unknown_spec")
        return self.specs[spec_hash]

    def keep(self, document: object) -> None:
        self._require_here()
        self.specs[spec_hash(document)] = document

    def epoch_proof(self, epoch: EpochNumber, provider_id: ProviderId) -> EpochProof:
        self._require_here()
        assert provider_id == PROVIDER
        return self.proofs_of_epochs[epoch]

    def heartbeat(self, heartbeat: Heartbeat, signature: Signature) -> None:
        self._require_here()
        require_signed_by(self.node, heartbeat_digest(self.domain, heartbeat), signature)
        self.heartbeats.append(heartbeat)

    def commitment(self, signed: SignedCommitment) -> None:
        self._require_hearing()
        require_signed_by(self.node, commitment_digest(self.domain, signed.commitment), signed.signature)
        if any(_same_run(c.commitment, signed.commitment) for c in self.commitments):
            raise RejectedError("another root was committed before", code="equivocation")
        self.commitments.append(signed)

    def proof(self, signed: SignedProof) -> None:
        self._require_here()
        require_signed_by(self.node, proof_digest(self.domain, signed.proof), signed.signature)
        self.proofs.append(signed)

    def receipt(self, signed: SignedReceipt) -> None:
        self._require_here()
        require_signed_by(self.node, receipt_digest(self.domain, signed.receipt), signed.signature)
        self.receipts.append((signed.receipt, signed.contents))
        self.gateway_signatures.append(signed.gateway_signature)

    def checkpoint(self, upload: CheckpointUpload | InputUpload) -> None:
        self._require_here()
        if isinstance(upload, InputUpload):
            self.inputs.append(upload.content)
            return
        hashed = content_hash(upload.content)
        digest = checkpoint_digest(
            self.domain, upload.job_id, upload.node, upload.index, hashed, path_hash(upload.path)
        )
        require_signed_by(self.node, digest, upload.signature)
        receipt = self.receipts[-1][0]
        assert opens_checkpoint(receipt.checkpoint_root, receipt.checkpoint_count, upload.index, hashed, upload.path)
        self.checkpoints[upload.index] = upload.content

    def address(self) -> Address:
        self._require_here()
        return AUDITOR

    def begin(self, request: AuditRequest, signature: Signature) -> BegunAudit:
        self._require_hearing()
        require_signed_by(self.node, request_digest(self.domain, request), signature)
        self.requests.append(request)
        nonce = nonce_of(DRAW)
        return BegunAudit(audit_id=audit_id(request, nonce), nonce=nonce, limit_ms=1000)

    def answer(self, answer: AuditAnswer, signature: Signature) -> Hash32:
        self._require_here()
        require_signed_by(self.node, answer_digest(self.domain, answer), signature)
        self.answers.append(answer)
        return DRAW

    def open(self, audit_id: Hash32, openings: list[Json]) -> None:
        self._require_here()
        self.opened[audit_id] = openings

    def _require_hearing(self) -> None:
        self._require_here()
        if self.deaf:
            raise UnavailableError("this member takes nothing now")

    def _require_here(self) -> None:
        if self.away:
            raise UnavailableError("this member is away")


class NumpyDevices:
    """Devices in this process: a run is done when `finished` is asked for, unless `busy`; `fault` makes it fail."""

    def __init__(self) -> None:
        self.busy = False
        self.fault = ""
        self.forget_work = False
        self.started: list[ComputeChallenge] = []
        self._waiting: list[ComputeChallenge] = []

    def indices(self) -> tuple[int, ...]:
        return (0,)

    def start(self, challenge: ComputeChallenge) -> None:
        self.started.append(challenge)
        self._waiting.append(challenge)

    def finished(self) -> tuple[FinishedRun, ...]:
        if self.busy:
            return ()
        done, self._waiting = self._waiting, []
        if self.fault:
            return tuple(FinishedRun(challenge=c, error=self.fault) for c in done)
        return tuple(FinishedRun(challenge=c, heads=self.heads(c)) for c in done)

    def heads(self, challenge: ComputeChallenge) -> bytes:
        if self.forget_work:
            return bytes(challenge.shape.m * 64)
        return checked_heads(challenge, NumpyCompute(), (0, 1))

    def close(self) -> None:
        self._waiting.clear()


class InlineTracer:
    """RowTracer in this process: a trace is done when `finished` is asked for, unless `busy`; `fault` makes it fail."""

    def __init__(self) -> None:
        self.busy = False
        self.fault = ""
        self.started: list[AccusedRow] = []
        self._waiting: list[AccusedRow] = []

    def start(self, accused: AccusedRow) -> None:
        self.started.append(accused)
        self._waiting.append(accused)

    def finished(self) -> tuple[TracedRow, ...]:
        if self.busy:
            return ()
        done, self._waiting = self._waiting, []
        return tuple(self._traced(accused) for accused in done)

    def close(self) -> None:
        self._waiting.clear()

    def _traced(self, accused: AccusedRow) -> TracedRow:
        if self.fault:
            return TracedRow(accusation_id=accused.accusation_id, error=self.fault)
        return TracedRow(accusation_id=accused.accusation_id, evidence=trace_accused(accused, threads=1))


class InlineAudits:
    """Audits in this process: each is done when `finished` is asked for."""

    def __init__(self, world: "NodeWorld") -> None:
        self.auditees: dict[Category, Auditee] = {}
        self.started: list[PrepareClaim | StartAudit] = []
        self._world = world
        self._waiting: list[PrepareClaim | StartAudit] = []

    @property
    def claims(self) -> tuple[Category, ...]:
        return tuple(self.auditees)

    @property
    def busy(self) -> frozenset[ClaimKey | AuditKey]:
        return frozenset(action.key for action in self._waiting)

    def start(self, action: PrepareClaim | StartAudit) -> None:
        self.started.append(action)
        self._waiting.append(action)

    def finished(self) -> tuple[FinishedAudit, ...]:
        done, self._waiting = self._waiting, []
        return tuple(FinishedAudit(action=action, error=self._work(action)) for action in done)

    def close(self) -> None:
        self._waiting.clear()

    def _work(self, action: PrepareClaim | StartAudit) -> SwarmError | None:
        auditee, world = self.auditees[action.key.category], self._world
        try:
            if isinstance(action, PrepareClaim):
                auditee.prepare(epoch_of(action.key.window_id), action.epoch_seed, action.key.device)
            else:
                run_audit(action.key, world.members[action.key.member], auditee, world.signer, world.domain)
        except SwarmError as error:
            return error
        return None


class InlineRunner:
    """JobRunner in this process: a job is done when `finished` is asked for."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._waiting: dict[JobId, JobOrder] = {}
        self.stopped: list[tuple[JobId, bool]] = []

    def start(self, job_id: JobId, spec: JobSpec, inputs: Mapping[Hash32, bytes]) -> None:
        folder = str(self.directory / str(job_id))
        self._waiting[job_id] = JobOrder(document=spec.document(), folder=folder, inputs=inputs)

    def finished(self) -> tuple[FinishedJob, ...]:
        done, self._waiting = self._waiting, {}
        return tuple(_finished(job_id, run_job(order)) for job_id, order in done.items())

    def content(self, job_id: JobId, index: int) -> bytes:
        content = JobFolder(path=self.directory / str(job_id)).kept(index)
        assert content is not None
        return content

    def stop(self, job_id: JobId, *, forget: bool) -> None:
        self._waiting.pop(job_id, None)
        self.stopped.append((job_id, forget))

    def close(self) -> None:
        self._waiting.clear()


class NodeWorld:
    """One node, its chain and its members. `agent()` makes a fresh process of the node over the same files."""

    def __init__(self, folder: Path, *, jobs: bool = False) -> None:
        self.folder = folder
        self.chain = FakeChain()
        self.clock = FakeClock()
        self.signer = FakeSigner("node")
        self.domain = domain_separator(
            self.chain.deployment.chain_id, self.chain.deployment.contracts["ChallengeBeacon"]
        )
        self.members = {url: MemberInMemory(domain=self.domain, node=self.signer.address) for url in (URL, OTHER_URL)}
        self.devices = NumpyDevices()
        self.tracer = InlineTracer()
        self.audits = InlineAudits(self)
        self.reserve_wei = RESERVE_WEI
        self.gateways: dict[str, GatewayInMemory] = {}
        self.runner = InlineRunner(folder / "jobs") if jobs else None
        self.chain.program.view(
            "ProviderRegistry", "providerIdOfNode", lambda storage, _: storage.get("provider", PROVIDER)
        )
        self.chain.program.view(
            "ProviderRegistry",
            "maintenanceOf",
            lambda storage, _: dict(zip(("startsAt", "endsAt"), storage.get("absence", (0, 0)), strict=True)),
        )

    @property
    def member(self) -> MemberInMemory:
        """The first member."""
        return self.members[URL]

    def tools(self) -> Tools:
        """Wiring of one agent process."""
        return Tools(
            deployment=self.chain.deployment,
            params=PARAMS,
            chain=self.chain,
            writer=self.chain.writer(self.signer),
            signer=self.signer,
            clock=self.clock,
            members={
                url: Member(reader=member, inbox=member, audits=member, specs=member)
                for url, member in self.members.items()
            },
            devices=self.devices,
            tracer=self.tracer,
            audits=self.audits,
            runner=self.runner,
            state=open_state(self.folder / "state.sqlite", self.signer.address),
            home=self.folder,
            reserve_wei=self.reserve_wei,
            gateways=self._gateways(),
        )

    def agent(self) -> Agent:
        """A fresh agent process."""
        return Agent(self.tools(), first_block=0)

    def add_gateway(self, name: str = "gateway") -> GatewayInMemory:
        """A gateway this node works for, from its next process on."""
        self.gateways[f"http://{name}"] = GatewayInMemory(signer=FakeSigner(name), domain=self.domain)
        return self.gateways[f"http://{name}"]

    def _gateways(self) -> Gateways | None:
        if not self.gateways:
            return None
        offer = Offer(
            region="here",
            hardware_class=HardwareClass.CPU,
            cpus=2,
            gpus=0,
            memory_mb=4000,
            disk_mb=9000,
            price_wei=Wei(7),
        )
        return Gateways(
            known={name: Gateway(desk=gateway, inbox=gateway) for name, gateway in self.gateways.items()},
            courier=InlineCourier(),
            offer=offer,
            inputs=BlobCache(folder=self.folder / "inputs", most=100),
            jobs=self.folder / "jobs",
        )

    def open(self, number: WindowId, seed: Hash32) -> None:
        """Opens a window in the next block."""
        self.chain.append("ChallengeBeacon", "WindowOpened", windowId=number, windowSeed=seed)
        self.chain.mine()

    def close(self, number: WindowId, root: Hash32 = Hash32(bytes(32))) -> None:
        """Closes a window in the next block and mines the two its draw waits for."""
        self.chain.append("ChallengeBeacon", "WindowClosed", windowId=number, commitmentsRoot=root, commitmentCount=1)
        self.closed_block = self.chain.mine().number
        self.chain.mine(2)

    def draw(self, number: WindowId, seed: Hash32, root: Hash32 = Hash32(bytes(32))) -> Hash32:
        """Draws a closed window as the beacon does."""
        drawn = keccak(words(self.chain.block(self.closed_block + 2).hash, seed, root))
        self.chain.append("ChallengeBeacon", "WindowDrawn", windowId=number, drawSeed=drawn)
        self.chain.mine()
        return drawn

    def challenge(self, number: WindowId, seed: Hash32) -> ComputeChallenge:
        """The challenge of device 0."""
        beacon = self.chain.deployment.contracts["ChallengeBeacon"]
        window = ComputeWindow(
            chain_id=self.chain.deployment.chain_id, beacon=beacon, window_id=number, window_seed=seed
        )
        return ComputeChallenge(window=window, node=self.signer.address, device=0, shape=SHAPE)

    def post_job(self, job_id: int, document: object, **times: int) -> Hash32:
        """Posts a job whose spec both members serve."""
        hashed = spec_hash(document)
        for member in self.members.values():
            member.specs[hashed] = document
        accept_by = self.chain.block("latest").timestamp + times.get("accept_for", 100)
        event = {"jobId": job_id, "customer": self.signer.address, "kind": 1, "specHash": hashed, "budget": 10**18}
        self.chain.append("JobEscrow", "JobPosted", **event, acceptBy=accept_by, maxRunFor=1000)
        self.chain.mine()
        return hashed


def expected_rows(world: NodeWorld, number: WindowId, seed: Hash32, drawn: Hash32) -> tuple[int, ...]:
    """Rows a judge would draw for the commitment the first member holds."""
    root = world.member.commitments[-1].commitment.root
    return draw_rows(drawn, world.challenge(number, seed), root, PARAMS.compute.draws)


def opened(window: WindowRecord, **changes: object) -> WindowRecord:
    """A window with other fields."""
    return replace(window, **changes)  # type: ignore[arg-type]  # names are checked by replace itself


def _finished(job_id: JobId, result: JobResult) -> FinishedJob:
    return FinishedJob(
        job_id=job_id,
        contents=tuple(map(Hash32, result.contents)),
        device_ms=result.device_ms,
        exit_code=result.exit_code,
        reason=result.reason,
    )


def _same_run(a: Commitment, b: Commitment) -> bool:
    return (a.window_id, a.window_seed, a.device) == (b.window_id, b.window_seed, b.device) and a.root != b.root

"""Jobs over a member in memory: posted, run, completed, handed in and judged, all by the member's own doors."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from oracle.model import JobFinding, SignedReceipt
from oracle.pipeline.job_desk import drawn_segments, take_checkpoint, take_receipt, take_spec
from oracle.pipeline.job_inputs import take_input
from oracle.pipeline.replay_process import UnitAsk, compute_unit
from oracle.pipeline.replayer import Compute, Round, judge_completed
from oracle.store import jobs as store
from swarm_chain.core.checkpoints import checkpoint_tree, checkpoints_to_upload, content_hash, path_hash
from swarm_chain.core.encoding import keccak
from swarm_chain.core.jobs import JobSpec, spec_hash
from swarm_chain.core.merkle import path, root
from swarm_chain.core.model import JobRecord, Receipt
from swarm_chain.core.signing import checkpoint_hash, receipt_digest, receipt_hash
from swarm_chain.core.units import Hash32, JobId, Signature, Timestamp
from swarm_chain.reference.programs.base import Program
from swarm_chain.testing import FakeSigner
from tests.job_examples import Contents, Example
from tests.member_world import ALICE, BOB, MemberWorld

GATEWAY = FakeSigner("a gateway")


@dataclass(slots=True, kw_only=True)
class JobWorld:
    """A member and the jobs of alice's node; `compute` is what the member computes units with."""

    world: MemberWorld
    compute: Compute = compute_unit
    jobs: int = 0

    def post(self, spec: JobSpec) -> JobId:
        """A job that alice's node accepted."""
        self.jobs += 1
        job, now = JobId(self.jobs), self.world.now
        take_spec(self.world.member.desk, spec.document())
        posted = {"customer": BOB.address, "kind": int(spec.job_kind), "specHash": spec_hash(spec.document())}
        chain = self.world.chain
        chain.append("JobEscrow", "JobPosted", jobId=job, budget=10**18, acceptBy=now + 100, maxRunFor=1000, **posted)
        chain.append("JobEscrow", "JobAccepted", jobId=job, providerId=1, node=ALICE.address, completeBy=now + 1000)
        self.world.follow()
        return job

    def sign(self, receipt: Receipt, contents: Contents, by: FakeSigner = ALICE) -> SignedReceipt:
        """A receipt as its node hands it in."""
        signature = by.sign_typed(self.world.domain, receipt_hash(receipt))
        return SignedReceipt(receipt=receipt, signature=signature, checkpoints=tuple(map(content_hash, contents)))

    def countersign(self, signed: SignedReceipt, by: FakeSigner = GATEWAY) -> SignedReceipt:
        """The same with a gateway's signature."""
        signature: Signature = by.sign_typed(self.world.domain, receipt_hash(signed.receipt))
        return replace(signed, gateway_signature=signature)

    def take(self, signed: SignedReceipt) -> None:
        """Hands in a receipt."""
        take_receipt(self.world.member.desk, signed.receipt.job_id, signed)

    def complete(self, receipt: Receipt) -> None:
        """Completes a job on chain, and mines the block that decides the draw."""
        digest = receipt_digest(self.world.domain, receipt)
        ends = self.world.now + 600
        self.world.log("JobEscrow", "JobCompleted", jobId=receipt.job_id, receiptDigest=digest, judgeBy=ends)
        self.world.follow()
        self.world.follow()

    def drawn(self, job: JobId) -> tuple[int, ...]:
        """Drawn units of a completed job."""
        return drawn_segments(self.world.member.desk, self.record(job))

    def upload_inputs(self, job: JobId, inputs: Mapping[Hash32, bytes]) -> None:
        """Hands in the inputs of a job."""
        for named, content in inputs.items():
            take_input(self.world.member.desk, job, named, content)

    def upload(self, job: JobId, contents: Contents, program: Program, inputs: Mapping[Hash32, bytes]) -> None:
        """Hands in inputs, the sources of the drawn units and the last content, where the job has that many."""
        self.upload_inputs(job, inputs)
        desk, hashes = self.world.member.desk, tuple(map(content_hash, contents))
        tree = checkpoint_tree(hashes)
        for place in checkpoints_to_upload(map(program.source, self.drawn(job)), len(contents)):
            siblings = path(tree, place)
            struct = checkpoint_hash(job, ALICE.address, place, hashes[place], path_hash(siblings))
            signature = ALICE.sign_typed(self.world.domain, struct)
            take_checkpoint(desk, job, place, contents[place], siblings, signature)

    def run(self, example: Example, contents: Contents, **changes: object) -> JobId:
        """Everything a node does for a job, with these contents in the place of what it should have computed."""
        job = self.post(example.spec)
        signed = self.sign(self.receipt(job, example.spec, contents, **changes), contents)
        self.take(signed)
        self.complete(signed.receipt)
        self.upload(job, contents, example.program, example.inputs)
        return job

    def receipt(self, job: JobId, spec: JobSpec, contents: Contents, **changes: object) -> Receipt:
        """Alice's receipt of a job."""
        hashes = tuple(map(content_hash, contents))
        honest = Receipt(
            job_id=job,
            kind=spec.job_kind,
            node=ALICE.address,
            spec_hash=spec_hash(spec.document()),
            input_digest=hashes[0],
            output_digest=hashes[-1],
            checkpoint_root=root(checkpoint_tree(hashes)),
            checkpoint_count=len(hashes),
            device_seconds=10,
            started_at=Timestamp(1),
            finished_at=Timestamp(11),
            exit_code=0,
        )
        return replace(honest, **changes)  # type: ignore[arg-type]  # fields of a receipt

    def judge(self) -> Round:
        """One look of the member at its jobs."""
        return judge_completed(self.world.member.desk, self.compute)

    def finding(self, job: JobId) -> JobFinding | None:
        """What the member has found on a job."""
        return next(iter(store.verdicts(self.world.engine, [job])), None)

    def record(self, job: JobId) -> JobRecord:
        """The job as the member sees it."""
        return next(one for one in self.world.member.follower.sight.state.jobs if one.job_id == job)

    def wait(self) -> None:
        """Lets half of the time to judge pass."""
        self.world.chain.mine(seconds=self.world.network.params.escrow.judge_for // 2)
        self.world.follow()


class CountingCompute:
    """Computes units for real and remembers which."""

    def __init__(self) -> None:
        self.asked: list[int | None] = []

    def __call__(self, ask: UnitAsk) -> Hash32:
        self.asked.append(ask.unit)
        return compute_unit(ask)


def noise(size: int, label: str) -> bytes:
    """Bytes that nobody computed."""
    return b"".join(keccak(f"{label} {block}".encode()) for block in range(-(-size // 32)))[:size]

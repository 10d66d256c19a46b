"""What this member saw of an epoch: its signed observation, the pool of evidence, and its early judgement of a window."""

from collections.abc import Iterable

from oracle.consensus.bundle import EvidencePool
from oracle.judge.windows import WindowEvidence, judge_windows, owed_shapes
from oracle.model import Arrival, JobFinding, Observation, RollCall, SignedObservation
from oracle.pipeline.member import Member
from oracle.pipeline.own import OBSERVATION
from oracle.pipeline.sight import Sight
from oracle.publish.bundle import parse_signed_observation, signed_observation_bytes
from oracle.publish.json_codec import parse_signed_proof, parse_signed_receipt
from oracle.publish.observation import ordered_observation, signing_digest
from oracle.store import documents, evidence
from oracle.store import jobs as job_store
from oracle.store.evidence import Received
from swarm_chain.core.compute import ComputeWindow
from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.kinds import JobState, WindowState
from swarm_chain.core.model import ChainState, Verdict, WindowRecord
from swarm_chain.core.units import Address, EpochNumber, JobId, WindowId, epoch_of


def keep_observation(member: Member, sight: Sight, epoch: EpochNumber) -> None:
    """Freezes and signs this member's observation of an ended epoch; it never changes afterwards.

    Raises:
        UnavailableError: a dry run has no key to sign with.
    """
    if member.signer is None:
        raise UnavailableError("dry run: an observation needs a key", code="dry_run", retry_after=60)
    observation = ordered_observation(_observation(member, sight, epoch, member.signer.address))
    signature = member.signer.sign_digest(signing_digest(observation, member.desk.domain))
    content = signed_observation_bytes(SignedObservation(observation=observation, signature=signature))
    documents.save_documents(member.engine, epoch, {OBSERVATION + member.signer.address: content})


def kept_observations(member: Member, epoch: EpochNumber) -> tuple[SignedObservation, ...]:
    """Signed observations of an epoch that are kept, this member's and others'."""
    names = sorted(name for name in documents.names(member.engine, epoch) if name.startswith(OBSERVATION))
    contents = (documents.document(member.engine, epoch, name) for name in names)
    return tuple(parse_signed_observation(content) for content in contents if content is not None)


def pool_of(member: Member, state: ChainState, epoch: EpochNumber) -> EvidencePool:
    """All kept evidence of an epoch.

    Args:
        member: whose store is read.
        state: the chain at the reference block; names the seeds of the windows and the jobs whose receipts belong in.
        epoch: the ended epoch.
    """
    windows = _windows(state, epoch)
    received = evidence.arrivals(member.engine, windows)
    completed = [job for job in state.jobs if job.state is JobState.COMPLETED]
    receipts = (job_store.receipt_document(member.engine, job.job_id, job.receipt_digest) for job in completed)
    return EvidencePool(
        observations=kept_observations(member, epoch),
        commitments=tuple(r.signed for r in received if r.first),
        doubles=tuple(r.signed for r in received if not r.first),
        proofs=tuple(map(parse_signed_proof, evidence.proof_documents(member.engine, _ids(windows)))),
        receipts=tuple(parse_signed_receipt(document) for document in receipts if document is not None),
    )


def judge_window(member: Member, sight: Sight, window: WindowId) -> tuple[Verdict, ...]:
    """This member's own judgement of a drawn window, for its logs; the report judges again from the bundle."""
    record = next(w for w in sight.state.windows if w.window_id == window and w.state is WindowState.DRAWN)
    received = [r for r in evidence.arrivals(member.engine, [record]) if r.first]
    proofs = map(parse_signed_proof, evidence.proof_documents(member.engine, [window]))
    compute = member.network.params.compute
    judged = WindowEvidence(
        window=ComputeWindow(
            chain_id=member.network.chain_id,
            beacon=member.network.beacon,
            window_id=window,
            window_seed=record.window_seed,
        ),
        draw_seed=record.draw_seed,
        draws=compute.draws,
        owed=owed_shapes(sorted(sight.nodes), member.desk.plans(), compute),
        commitments={commitment_key(r): r.signed.commitment for r in received},
        proofs={(p.proof.node, p.proof.device): p.proof for p in proofs},
        elapsed_ms={commitment_key(r): r.elapsed_ms for r in received},
    )
    return judge_windows([judged], member.compute)


def commitment_key(received: Received) -> tuple[Address, int]:
    """(node, device) of a commitment."""
    commitment = received.signed.commitment
    return commitment.node, commitment.device


def _observation(member: Member, sight: Sight, epoch: EpochNumber, address: Address) -> Observation:
    received = (r for r in evidence.arrivals(member.engine, _windows(sight.state, epoch)) if r.first)
    completed = [JobId(job.job_id) for job in sight.state.jobs if job.state is JobState.COMPLETED]
    calls = evidence.roll_call_counts(member.engine, epoch)
    verdicts = job_store.verdicts(member.engine, completed)
    return Observation(
        epoch=epoch,
        member=address,
        arrivals=tuple(_arrival(r) for r in received),
        roll_calls=tuple(RollCall(node=node, present=present, total=total) for node, present, total in calls),
        jobs=tuple(JobFinding(job_id=job, outcome=outcome, reason=reason) for job, outcome, reason in verdicts),
    )


def _arrival(received: Received) -> Arrival:
    c = received.signed.commitment
    return Arrival(window_id=c.window_id, node=c.node, device=c.device, elapsed_ms=received.elapsed_ms)


def _windows(state: ChainState, epoch: EpochNumber) -> tuple[WindowRecord, ...]:
    return tuple(window for window in state.windows if epoch_of(window.window_id) == epoch)


def _ids(windows: Iterable[WindowRecord]) -> Iterable[WindowId]:
    return (window.window_id for window in windows)

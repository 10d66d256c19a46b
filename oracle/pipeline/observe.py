"""What this member saw of an epoch: its signed observation, and its early judgement of a window."""

from oracle.judge.windows import WindowEvidence, judge_windows, owed_shapes
from oracle.model import Arrival, Observation, RollCall, SignedObservation
from oracle.pipeline.holding import windows_of
from oracle.pipeline.measured import measurements_of
from oracle.pipeline.member import Member
from oracle.pipeline.names import OBSERVATION
from oracle.pipeline.sight import Sight
from oracle.publish.bundle import signed_observation_bytes
from oracle.publish.json_codec import parse_signed_proof
from oracle.publish.observation import content_hash, ordered_observation
from oracle.store import documents, evidence, liveness
from oracle.store import jobs as job_store
from oracle.store.evidence import Received
from swarm_chain.core.compute import ComputeWindow
from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.kinds import JobState, WindowState
from swarm_chain.core.model import Verdict
from swarm_chain.core.signing import observation_hash
from swarm_chain.core.units import Address, EpochNumber, JobId, WindowId


def keep_observation(member: Member, sight: Sight, epoch: EpochNumber) -> None:
    """Freezes and signs this member's observation of an ended epoch; it never changes afterwards.

    Raises:
        UnavailableError: a dry run has no key to sign with.
        InconsistentError: the key signed another one before (code "signed_before").
    """
    if member.signer is None:
        raise UnavailableError("dry run: an observation needs a key", code="dry_run", retry_after=60)
    own = member.signer.address
    observation = ordered_observation(_observation(member, sight, epoch, own))
    hashed = content_hash(observation)
    member.sign_log.check(own, epoch, hashed)
    signature = member.signer.sign_typed(member.desk.domain, observation_hash(epoch, own, hashed))
    content = signed_observation_bytes(SignedObservation(observation=observation, signature=signature))
    # The store first: a kill between the two leaves an observation to go on with, not a promise without one.
    documents.save_documents(member.engine, epoch, {OBSERVATION + own: content})
    member.sign_log.record(own, epoch, hashed)


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
        elapsed_ms={commitment_key(r): r.elapsed_ms for r in received if r.elapsed_ms is not None},
    )
    return judge_windows([judged], member.compute)


def commitment_key(received: Received) -> tuple[Address, int]:
    """(node, device) of a commitment."""
    commitment = received.signed.commitment
    return commitment.node, commitment.device


def _observation(member: Member, sight: Sight, epoch: EpochNumber, address: Address) -> Observation:
    received = (r for r in evidence.arrivals(member.engine, windows_of(sight.state, epoch)) if r.first)
    completed = [JobId(job.job_id) for job in sight.state.jobs if job.state is JobState.COMPLETED]
    calls = liveness.roll_call_counts(member.engine, epoch)
    return Observation(
        epoch=epoch,
        member=address,
        arrivals=tuple(_arrival(r, r.elapsed_ms) for r in received if r.elapsed_ms is not None),
        roll_calls=tuple(RollCall(node=node, present=present, total=total) for node, present, total in calls),
        jobs=job_store.verdicts(member.engine, completed),
        measurements=measurements_of(member, sight, epoch),
    )


def _arrival(received: Received, elapsed_ms: int) -> Arrival:
    c = received.signed.commitment
    return Arrival(window_id=c.window_id, node=c.node, device=c.device, elapsed_ms=elapsed_ms)

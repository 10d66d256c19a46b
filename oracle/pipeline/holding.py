"""All evidence of an epoch this member holds: what nodes sent it, what other members passed on."""

from collections.abc import Iterable
from functools import lru_cache

from oracle.consensus.bundle import EvidencePool
from oracle.consensus.completeness import Held
from oracle.model import SignedObservation
from oracle.pipeline.desk import Desk
from oracle.pipeline.names import OBSERVATION, SECOND_OBSERVATION, window_name
from oracle.publish.bundle import MAX_MEMBERS, parse_signed_observation
from oracle.publish.exchange import Evidence, Inventory, evidence_bytes, parse_evidence
from oracle.publish.json_codec import parse_signed_proof, parse_signed_receipt
from oracle.publish.observation import content_hash
from oracle.store import documents, evidence
from oracle.store import jobs as job_store
from oracle.store.evidence import Received
from swarm_chain.core.kinds import JobState, WindowState
from swarm_chain.core.model import ChainState, SignedCommitment, WindowRecord
from swarm_chain.core.units import Address, EpochNumber, Hash32, JobId, WindowId, epoch_of

_ROOTED = (WindowState.CLOSED, WindowState.DRAWN)


def windows_of(state: ChainState, epoch: EpochNumber) -> tuple[WindowRecord, ...]:
    """Windows of an epoch."""
    return tuple(window for window in state.windows if epoch_of(window.window_id) == epoch)


def kept_observations(desk: Desk, epoch: EpochNumber) -> tuple[SignedObservation, ...]:
    """Signed observations of an epoch: this member's and others', of a member that signed two both."""
    return tuple(map(parse_signed_observation, _observation_documents(desk, epoch)))


def keep_rooted(desk: Desk, window: WindowRecord, commitments: Iterable[SignedCommitment]) -> None:
    """Keeps the commitments a window's root was made of."""
    content = evidence_bytes(Evidence(commitments=tuple(commitments)))
    documents.save_documents(desk.engine, epoch_of(window.window_id), {window_name(window): content})


def rooted_commitments(desk: Desk, window: WindowRecord) -> tuple[SignedCommitment, ...] | None:
    """Commitments a closed window's root was made of; None if this member does not know all of them, or it is open."""
    if window.state not in _ROOTED:
        return None
    content = documents.document(desk.engine, epoch_of(window.window_id), window_name(window))
    return None if content is None else parse_evidence(content).commitments


def pool_of(desk: Desk, state: ChainState, epoch: EpochNumber) -> EvidencePool:
    """All kept evidence of an epoch.

    Args:
        desk: whose store is read.
        state: the chain at the reference block; names the seeds of the windows and the jobs whose receipts belong in.
        epoch: the ended epoch.
    """
    windows = windows_of(state, epoch)
    received = evidence.arrivals(desk.engine, windows)
    counted = tuple(signed for window in windows for signed in _counted(desk, window, received))
    completed = [job for job in state.jobs if job.state is JobState.COMPLETED]
    receipts = (job_store.receipt_document(desk.engine, job.job_id, job.receipt_digest) for job in completed)
    return EvidencePool(
        observations=kept_observations(desk, epoch),
        commitments=counted,
        doubles=tuple(r.signed for r in received if r.signed not in set(counted)),
        proofs=tuple(map(parse_signed_proof, evidence.proof_documents(desk.engine, _ids(windows)))),
        receipts=tuple(parse_signed_receipt(document) for document in receipts if document is not None),
    )


def held_of(desk: Desk, state: ChainState, epoch: EpochNumber) -> Held:
    """What a leader's bundle must contain, because nodes handed it in here.

    Args:
        desk: whose store is read.
        state: the chain at the reference block.
        epoch: the ended epoch.
    """
    windows = windows_of(state, epoch)
    pool = pool_of(desk, state, epoch)
    return Held(
        commitments=pool.commitments,
        proofs=evidence.own_proofs(desk.engine, _ids(windows)),
        receipts=frozenset(JobId(signed.receipt.job_id) for signed in pool.receipts),
    )


def inventory_of(desk: Desk, epoch: EpochNumber) -> Inventory:
    """Names of the evidence held of an epoch, and of the receipts the chain names.

    Observations are looked up first: what nodes sent before this member signed its own is always listed beside it.
    """
    state = desk.sight().state
    observations = frozenset(map(_observation_name, _observation_documents(desk, epoch)))
    windows = windows_of(state, epoch)
    commitments = (r.signed.commitment for r in evidence.arrivals(desk.engine, windows))
    receipts = (
        (job.job_id, job.receipt_digest)
        for job in state.jobs
        if job.state is JobState.COMPLETED
        and job_store.receipt_document(desk.engine, job.job_id, job.receipt_digest) is not None
    )
    return Inventory(
        commitments=frozenset((c.window_id, c.window_seed, c.node, c.device, c.root) for c in commitments),
        proofs=frozenset(evidence.proof_keys(desk.engine, _ids(windows))),
        receipts=frozenset(receipts),
        observations=observations,
    )


def evidence_of(desk: Desk, epoch: EpochNumber, wanted: Inventory) -> Evidence:
    """The signed messages of some names, as far as they are held."""
    windows = windows_of(desk.sight().state, epoch)
    received = [r.signed for r in evidence.arrivals(desk.engine, windows)] if wanted.commitments else []
    proofs = (evidence.proof_document(desk.engine, key) for key in sorted(wanted.proofs))
    receipts = (job_store.receipt_document(desk.engine, job, digest) for job, digest in sorted(wanted.receipts))
    return Evidence(
        commitments=tuple(signed for signed in received if _name(signed) in wanted.commitments),
        proofs=tuple(parse_signed_proof(document) for document in proofs if document is not None),
        receipts=tuple(parse_signed_receipt(document) for document in receipts if document is not None),
        observations=tuple(
            signed
            for signed in (kept_observations(desk, epoch) if wanted.observations else ())
            if (signed.observation.member, content_hash(signed.observation)) in wanted.observations
        ),
    )


def _observation_documents(desk: Desk, epoch: EpochNumber) -> list[bytes]:
    names = sorted(n for n in documents.names(desk.engine, epoch) if n.startswith((OBSERVATION, SECOND_OBSERVATION)))
    contents = (documents.document(desk.engine, epoch, name) for name in names)
    return [content for content in contents if content is not None]


@lru_cache(maxsize=4 * MAX_MEMBERS)
def _observation_name(content: bytes) -> tuple[Address, Hash32]:
    """Member and content hash of a kept observation; asked for again and again while a report is due."""
    observation = parse_signed_observation(content).observation
    return observation.member, content_hash(observation)


def _counted(desk: Desk, window: WindowRecord, received: Iterable[Received]) -> tuple[SignedCommitment, ...]:
    rooted = rooted_commitments(desk, window)
    if rooted is not None:
        return rooted
    return tuple(r.signed for r in received if r.first and r.signed.commitment.window_id == window.window_id)


def first_ones(desk: Desk, window: WindowRecord) -> tuple[SignedCommitment, ...]:
    """The first commitment of every device this member heard of in a window: what it would make a root of."""
    return tuple(r.signed for r in evidence.arrivals(desk.engine, [window]) if r.first)


def _name(signed: SignedCommitment) -> tuple[object, ...]:
    c = signed.commitment
    return c.window_id, c.window_seed, c.node, c.device, c.root


def _ids(windows: Iterable[WindowRecord]) -> list[WindowId]:
    return [window.window_id for window in windows]

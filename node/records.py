"""Rows of the state file as values: commitments and jobs."""

import json
import sqlite3
from dataclasses import dataclass

from node.gateway_model import GatewayJob
from node.gateways.records import gateway_jobs
from node.model import JobPhase, OwnCommitment, OwnJob, SignedReceipt
from node.state import deliveries
from node.transactions import pending_purposes
from node.wire import parse_receipt
from swarm_chain.core.encoding import canonical_json, to_hex
from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.messages import receipt_json
from swarm_chain.core.model import Commitment, SignedCommitment
from swarm_chain.core.units import Address, Hash32, JobId, Signature, Timestamp, WindowId

RECENT_COMMITMENTS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A commitment with what is needed to open it; `heads` are m·64 bytes, empty once forgotten."""

    signed: SignedCommitment
    heads: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitmentKey:
    """What a node commits to once: a device in one opening of a window. Opened anew, the window has another seed."""

    window_id: WindowId
    window_seed: Hash32
    device: int

    @property
    def subject(self) -> str:
        """Key of the commitment in `deliveries`."""
        return f"{self.window_id}/{to_hex(self.window_seed)}/{self.device}"


def key_of(commitment: Commitment) -> CommitmentKey:
    """Key of a commitment."""
    return CommitmentKey(window_id=commitment.window_id, window_seed=commitment.window_seed, device=commitment.device)


def save_commitment(state: sqlite3.Connection, run: StoredRun) -> SignedCommitment:
    """Store a commitment unless its window, seed and device have one.

    Returns:
        The one that is stored: only this may be sent.

    Raises:
        InconsistentError: another root is stored; this device computes one thing today and another tomorrow.
    """
    c = run.signed.commitment
    row = (c.window_id, c.device, c.m, c.n, c.steps, c.window_seed, c.root, run.signed.signature, run.heads)
    state.execute("INSERT INTO commitments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", row)
    stored = load_run(state, key_of(c), c.node).signed
    if stored.commitment.root != c.root:
        raise InconsistentError(
            f"window {c.window_id}, device {c.device}: another root is signed already, the new one is dropped",
            fix="run `swarm node bench`: the device may be faulty",
            code="second_root",
        )
    return stored


def load_run(state: sqlite3.Connection, key: CommitmentKey, node: Address) -> StoredRun:
    """The stored commitment of a device in one opening of a window.

    Raises:
        InconsistentError: there is none.
    """
    row = state.execute(
        "SELECT * FROM commitments WHERE window_id = ? AND window_seed = ? AND device = ?",
        (key.window_id, key.window_seed, key.device),
    ).fetchone()
    if row is None:
        raise InconsistentError(f"no commitment is stored for window {key.window_id}, device {key.device}")
    return StoredRun(signed=_signed(row, node), heads=row[8] or b"")


def own_commitments(state: sqlite3.Connection, node: Address) -> tuple[OwnCommitment, ...]:
    """Commitments that can still be opened, newest windows first, with who has them."""
    delivered, opened = deliveries(state, "commitment"), deliveries(state, "proof")
    rows = state.execute(
        "SELECT window_id, device, m, n, steps, window_seed, root, signature FROM commitments "
        "WHERE heads IS NOT NULL ORDER BY window_id DESC, device LIMIT ?",
        (RECENT_COMMITMENTS,),
    )
    signed = [_signed(row, node) for row in rows]
    subjects = [key_of(one.commitment).subject for one in signed]
    return tuple(
        OwnCommitment(
            signed=one, delivered=delivered.get(subject, frozenset()), opened=opened.get(subject, frozenset())
        )
        for one, subject in zip(signed, subjects, strict=True)
    )


def kept_heads(state: sqlite3.Connection, commitment: Commitment) -> bytes:
    """Heads this node signed a commitment over, m·64 bytes; empty if they are forgotten or another root is stored."""
    c = commitment
    row = state.execute(
        "SELECT heads FROM commitments WHERE window_id = ? AND window_seed = ? AND device = ? AND root = ?",
        (c.window_id, c.window_seed, c.device, c.root),
    ).fetchone()
    return b"" if row is None or row[0] is None else bytes(row[0])


def oldest_heads(state: sqlite3.Connection) -> WindowId | None:
    """Oldest window whose heads are kept."""
    (oldest,) = state.execute("SELECT min(window_id) FROM commitments WHERE heads IS NOT NULL").fetchone()
    return None if oldest is None else WindowId(oldest)


def forget_heads(state: sqlite3.Connection, before: WindowId) -> None:
    """Drop the heads of older windows; roots and signatures stay, so that no second root is ever signed."""
    state.execute("UPDATE commitments SET heads = NULL WHERE window_id < ?", (before,))


def purpose_of(function: str, job_id: JobId) -> str:
    """Purpose of a transaction about a job: one of a kind is under way at a time."""
    return f"{function}/{job_id}"


def save_job(state: sqlite3.Connection, job_id: JobId, phase: JobPhase, spec: object) -> None:
    """Start the record of a job; a known one changes its phase only."""
    document = canonical_json(spec).decode()
    state.execute(
        "INSERT INTO jobs (job_id, phase, spec) VALUES (?, ?, ?) ON CONFLICT (job_id) DO UPDATE SET phase = excluded.phase",
        (job_id, phase.value, document),
    )


def start_job(state: sqlite3.Connection, job_id: JobId, now: Timestamp) -> None:
    """Note when a job began to run; the first time counts."""
    state.execute(
        "UPDATE jobs SET phase = ?, started_at = CASE started_at WHEN 0 THEN ? ELSE started_at END WHERE job_id = ?",
        (JobPhase.RUNNING.value, now, job_id),
    )


def finish_job(state: sqlite3.Connection, signed: SignedReceipt, reason: str) -> None:
    """Store a signed receipt; from now on only this one is handed in."""
    receipt = canonical_json(receipt_json(signed.receipt)).decode()
    state.execute(
        "UPDATE jobs SET phase = ?, receipt = ?, signature = ?, contents = ?, reason = ? WHERE job_id = ? AND receipt IS NULL",
        (
            JobPhase.FINISHED.value,
            receipt,
            signed.signature,
            b"".join(signed.contents),
            reason,
            signed.receipt.job_id,
        ),
    )


def end_job(state: sqlite3.Connection, job_id: JobId, phase: JobPhase, reason: str) -> None:
    """Close or decline a job."""
    state.execute("UPDATE jobs SET phase = ?, reason = ? WHERE job_id = ?", (phase.value, reason, job_id))


def job_spec(state: sqlite3.Connection, job_id: JobId) -> tuple[object, Timestamp] | None:
    """Spec of a known job and when it began to run (zero: not yet); None if the job is unknown."""
    row = state.execute("SELECT spec, started_at FROM jobs WHERE job_id = ?", (job_id,)).fetchone()
    return None if row is None else (json.loads(row[0]), Timestamp(row[1]))


def own_jobs(state: sqlite3.Connection) -> tuple[OwnJob, ...]:
    """All jobs this node has worked on or declined, with who has receipt and checkpoints."""
    delivered, uploaded = deliveries(state, "receipt"), deliveries(state, "checkpoints")
    sending, gateways = pending_purposes(state), gateway_jobs(state)
    rows = state.execute("SELECT job_id, phase, receipt, signature, contents FROM jobs ORDER BY job_id")
    return tuple(
        OwnJob(
            job_id=JobId(job_id),
            phase=JobPhase(phase),
            signed=None if receipt is None else _signed_receipt(receipt, signature, contents, gateways.get(job_id)),
            delivered=delivered.get(str(job_id), frozenset()),
            uploaded=uploaded.get(str(job_id), frozenset()),
            sending=bool(sending & {purpose_of("accept", job_id), purpose_of("complete", job_id)}),
            gateway=gateways.get(job_id),
        )
        for job_id, phase, receipt, signature, contents in rows
    )


def _signed(row: tuple[object, ...], node: Address) -> SignedCommitment:
    numbers = [value for value in row[:5] if isinstance(value, int)]
    blobs = [value for value in row[5:8] if isinstance(value, bytes)]
    if len(numbers) != 5 or len(blobs) != 3:
        raise InconsistentError("the state file holds a malformed commitment", fix="restore it from a copy")
    commitment = Commitment(
        window_id=WindowId(numbers[0]),
        window_seed=Hash32(blobs[0]),
        node=node,
        device=numbers[1],
        m=numbers[2],
        n=numbers[3],
        steps=numbers[4],
        root=Hash32(blobs[1]),
    )
    return SignedCommitment(commitment=commitment, signature=Signature(blobs[2]))


def _signed_receipt(receipt: str, signature: bytes, contents: bytes, gateway: GatewayJob | None) -> SignedReceipt:
    return SignedReceipt(
        receipt=parse_receipt(json.loads(receipt)),
        signature=Signature(signature),
        contents=tuple(Hash32(contents[start : start + 32]) for start in range(0, len(contents), 32)),
        gateway_signature=None if gateway is None else gateway.signature,
    )

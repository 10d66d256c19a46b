"""Jobs a member judges: specs, receipts, uploaded checkpoints and inputs, and its own verdicts."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, and_, delete, func, select, update

from oracle.model import JobFinding, Mismatch
from oracle.store.engine import insert_new, writing
from oracle.store.tables import checkpoints, job_inputs, job_verdicts, receipts, specs
from swarm_chain.core.encoding import hash_from_hex, to_hex
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.units import Hash32, JobId, Timestamp

DELETE_AT_ONCE = 500  # names one statement may list


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecShelf:
    """Room for specs whose jobs nobody has posted yet: bytes in all, and seconds one may lie there."""

    max_bytes: int
    keep_for: int


def shelve_spec(
    engine: Engine, shelf: SpecShelf, spec: tuple[Hash32, bytes], now: Timestamp, posted: Iterable[Hash32]
) -> bool:
    """Keeps the canonical JSON of a spec under its hash; specs that lay too long without a job make room.

    Args:
        engine: the store.
        shelf: room for specs without a job.
        spec: hash and bytes.
        now: chain time.
        posted: hashes of the specs of all jobs; these stay and take no room.

    Returns:
        False if there is no room; True if it is kept, now or before.
    """
    spec_hash, document = spec
    kept_for_jobs = {to_hex(one) for one in posted}
    with writing(engine) as connection:
        waiting = connection.execute(select(specs.c.spec_hash, func.length(specs.c.document), specs.c.received_at))
        rows = [row for row in waiting if row[0] not in kept_for_jobs]
        old = [row[0] for row in rows if row[2] + shelf.keep_for <= now]
        for first in range(0, len(old), DELETE_AT_ONCE):
            connection.execute(delete(specs).where(specs.c.spec_hash.in_(old[first : first + DELETE_AT_ONCE])))
        used = sum(row[1] for row in rows if row[0] not in old)
        known = any(row[0] == to_hex(spec_hash) for row in rows if row[0] not in old)
        if not known and to_hex(spec_hash) not in kept_for_jobs and used + len(document) > shelf.max_bytes:
            return False
        insert_new(connection, specs, {"spec_hash": to_hex(spec_hash), "document": document, "received_at": now})
    return True


def spec_document(engine: Engine, spec_hash: Hash32) -> bytes | None:
    """Canonical JSON of a spec."""
    query = select(specs.c.document).where(specs.c.spec_hash == to_hex(spec_hash))
    with engine.connect() as connection:
        kept = connection.execute(query).scalar_one_or_none()
    return None if kept is None else bytes(kept)


def save_receipt(engine: Engine, job_id: JobId, digest: Hash32, document: bytes, room: int) -> bool | None:
    """Keeps a node's signed receipt under its digest.

    Args:
        engine: the store.
        job_id: the job.
        digest: what the node signed.
        document: canonical JSON {receipt, signature, checkpoints, gatewaySignature}.
        room: receipts a job may have.

    Returns:
        True if it is new, False if it was there, None if there is no room.
    """
    row = {"job_id": job_id, "receipt_digest": to_hex(digest), "document": document}
    query = select(receipts.c.receipt_digest).where(receipts.c.job_id == job_id)
    with writing(engine) as connection:
        kept = set(connection.execute(query).scalars())
        if to_hex(digest) in kept:
            return False
        return insert_new(connection, receipts, row) if len(kept) < room else None


def replace_receipt(engine: Engine, job_id: JobId, digest: Hash32, document: bytes) -> None:
    """Puts a receipt that the gateway signed in the place of one with the same digest, which does not cover that."""
    r = receipts.c
    with writing(engine) as connection:
        connection.execute(
            update(receipts)
            .where(and_(r.job_id == job_id, r.receipt_digest == to_hex(digest)))
            .values(document=document)
        )


def receipt_document(engine: Engine, job_id: JobId, digest: Hash32) -> bytes | None:
    """Canonical JSON {receipt, signature, checkpoints} of the receipt with this digest."""
    query = select(receipts.c.document).where(
        and_(receipts.c.job_id == job_id, receipts.c.receipt_digest == to_hex(digest))
    )
    with engine.connect() as connection:
        kept = connection.execute(query).scalar_one_or_none()
    return None if kept is None else bytes(kept)


def save_checkpoint(engine: Engine, job_id: JobId, position: int, content_hash: Hash32, content: bytes) -> bool:
    """Keeps a checkpoint whose place in the receipt's tree the caller has verified."""
    row = {"job_id": job_id, "position": position, "content_hash": to_hex(content_hash), "content": content}
    with writing(engine) as connection:
        return insert_new(connection, checkpoints, row)


def checkpoint_content(engine: Engine, job_id: JobId, position: int, content_hash: Hash32) -> bytes | None:
    """Bytes of a kept checkpoint."""
    c = checkpoints.c
    query = select(c.content).where(
        and_(c.job_id == job_id, c.position == position, c.content_hash == to_hex(content_hash))
    )
    with engine.connect() as connection:
        kept = connection.execute(query).scalar_one_or_none()
    return None if kept is None else bytes(kept)


def kept_checkpoints(engine: Engine, job_id: JobId) -> frozenset[int]:
    """Numbers of the checkpoints of a job that are here."""
    query = select(checkpoints.c.position).where(checkpoints.c.job_id == job_id)
    with engine.connect() as connection:
        return frozenset(connection.execute(query).scalars())


def save_input(engine: Engine, job_id: JobId, content_hash: Hash32, content: bytes, room: int) -> bool | None:
    """Keeps an input that the caller has found named by the job's spec.

    Args:
        engine: the store.
        job_id: the job.
        content_hash: of the bytes.
        content: the bytes.
        room: bytes the inputs of a job may have together.

    Returns:
        True if it is new, False if it was there, None if there is no room.
    """
    row = {"job_id": job_id, "content_hash": to_hex(content_hash), "content": content}
    query = select(func.sum(func.length(job_inputs.c.content))).where(job_inputs.c.job_id == job_id)
    with writing(engine) as connection:
        if content_hash in _input_hashes(connection, job_id):
            return False
        used = connection.execute(query).scalar_one() or 0
        return insert_new(connection, job_inputs, row) if used + len(content) <= room else None


def kept_inputs(engine: Engine, job_id: JobId) -> frozenset[Hash32]:
    """Content hashes of the inputs of a job that are here."""
    with engine.connect() as connection:
        return _input_hashes(connection, job_id)


def input_content(engine: Engine, job_id: JobId, content_hash: Hash32) -> bytes | None:
    """Bytes of a kept input."""
    c = job_inputs.c
    query = select(c.content).where(and_(c.job_id == job_id, c.content_hash == to_hex(content_hash)))
    with engine.connect() as connection:
        kept = connection.execute(query).scalar_one_or_none()
    return None if kept is None else bytes(kept)


def save_verdict(engine: Engine, digest: Hash32, finding: JobFinding) -> bool:
    """Keeps the member's verdict on a job and the receipt with this digest; the first one stands."""
    other = finding.mismatch
    row = {
        "job_id": finding.job_id,
        "receipt_digest": to_hex(digest),
        "outcome": finding.outcome.value,
        "reason": finding.reason,
        "content": other and other.content,
        "computed": other and to_hex(other.computed),
    }
    with writing(engine) as connection:
        return insert_new(connection, job_verdicts, row)


def verdicts(engine: Engine, job_ids: Iterable[JobId]) -> tuple[JobFinding, ...]:
    """What this member found on the jobs it has judged so far, ordered by job."""
    v = job_verdicts.c
    columns = (v.job_id, v.outcome, v.reason, v.content, v.computed)
    query = select(*columns).where(v.job_id.in_(list(job_ids))).order_by(v.job_id)
    with engine.connect() as connection:
        return tuple(
            JobFinding(
                job_id=JobId(job_id),
                outcome=Outcome(outcome),
                reason=reason,
                mismatch=computed and Mismatch(content=content, computed=hash_from_hex(computed)),
            )
            for job_id, outcome, reason, content, computed in connection.execute(query)
        )


def _input_hashes(connection: Connection, job_id: JobId) -> frozenset[Hash32]:
    query = select(job_inputs.c.content_hash).where(job_inputs.c.job_id == job_id)
    return frozenset(map(hash_from_hex, connection.execute(query).scalars()))

"""Jobs a member judges: specs, receipts, uploaded checkpoints and its own verdicts."""

from collections.abc import Iterable

from sqlalchemy import Engine, and_, select

from oracle.store.engine import insert_new
from oracle.store.tables import checkpoints, job_verdicts, receipts, specs
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.model import Outcome
from swarm_chain.core.units import Hash32, JobId


def save_spec(engine: Engine, spec_hash: Hash32, document: bytes) -> bool:
    """Keeps the canonical JSON of a spec under its hash; False if it was there."""
    with engine.begin() as connection:
        return insert_new(connection, specs, {"spec_hash": to_hex(spec_hash), "document": document})


def spec_document(engine: Engine, spec_hash: Hash32) -> bytes | None:
    """Canonical JSON of a spec."""
    query = select(specs.c.document).where(specs.c.spec_hash == to_hex(spec_hash))
    with engine.connect() as connection:
        kept = connection.execute(query).scalar_one_or_none()
    return None if kept is None else bytes(kept)


def save_receipt(engine: Engine, job_id: JobId, digest: Hash32, document: bytes) -> bool:
    """Keeps a node's signed receipt under its digest; False if it was there."""
    row = {"job_id": job_id, "receipt_digest": to_hex(digest), "document": document}
    with engine.begin() as connection:
        return insert_new(connection, receipts, row)


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
    with engine.begin() as connection:
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


def save_verdict(engine: Engine, job_id: JobId, digest: Hash32, outcome: Outcome, reason: str) -> bool:
    """Keeps the member's verdict on a job; the first one stands."""
    row = {"job_id": job_id, "receipt_digest": to_hex(digest), "outcome": outcome.value, "reason": reason}
    with engine.begin() as connection:
        return insert_new(connection, job_verdicts, row)


def verdicts(engine: Engine, job_ids: Iterable[JobId]) -> tuple[tuple[JobId, Outcome, str], ...]:
    """(job, outcome, reason) of the jobs judged so far, ordered by job."""
    v = job_verdicts.c
    query = select(v.job_id, v.outcome, v.reason).where(v.job_id.in_(list(job_ids))).order_by(v.job_id)
    with engine.connect() as connection:
        return tuple((JobId(job), Outcome(outcome), reason) for job, outcome, reason in connection.execute(query))

"""Contents and logs: nodes bring them while they work, customers read them."""

from pathlib import Path

from gateway.desk import Desk, kept_spec, refused, require_fresh, require_room
from gateway.store import jobs as store
from gateway.store.files import Incoming
from gateway.store.specs import find_spec
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.gateway import (
    MAX_LOG_TEXT_BYTES,
    JobAccess,
    JobContent,
    JobLog,
    access_digest,
    content_upload_digest,
    log_digest,
)
from swarm_chain.core.kinds import JobState
from swarm_chain.core.messages import Json
from swarm_chain.core.model import JobRecord
from swarm_chain.core.signing import require_signed_by
from swarm_chain.core.units import Address, JobId, Signature, Timestamp

RUNNING = (JobState.ACCEPTED, JobState.COMPLETED)


def job_of_node(desk: Desk, job_id: JobId, node: Address) -> JobRecord:
    """A job that a node has accepted.

    Raises:
        InvalidInputError: unknown, or another node's.
        UnavailableError: nobody has accepted it in the latest block this gateway has seen.
        RejectedError: it is over.
    """
    job = desk.sight().job(job_id)
    if job.state is JobState.POSTED:
        raise UnavailableError(
            f"job {job_id} is not accepted yet as this gateway sees the chain", code="not_accepted", retry_after=1
        )
    if job.node != node:
        raise InvalidInputError(f"job {job_id} is not node {node}'s", fix="leave it to its node", code="wrong_node")
    if kept_spec(desk, job.spec_hash) is None:
        raise InvalidInputError(f"job {job_id} did not come through this gateway", code="unknown_spec")
    return job


def check_content_claim(desk: Desk, job_id: JobId, node: Address, index: int, issued_at: Timestamp) -> JobRecord:
    """Checks what can be checked of a content before its bytes come.

    Raises:
        InvalidInputError: as `job_of_node`; no such content; not of now.
        RejectedError: the job is over, or its receipt is countersigned.
    """
    job = job_of_node(desk, job_id, node)
    require_fresh(issued_at, desk.sight().now)
    spec = find_spec(desk.database, job.spec_hash)
    if spec is None or not 0 <= index <= spec.units:
        raise InvalidInputError(f"job {job_id} has no content {index}", code="unknown_content")
    if job.state not in RUNNING:
        raise refused(f"job {job_id} is {job.state.name.lower()}", "job_over", "stop it")
    return job


def take_content(desk: Desk, content: JobContent, signature: Signature, incoming: Incoming) -> bool:
    """Keeps a content of a job that came whole.

    Args:
        desk: the gateway.
        content: what the node says it is; its hash is that of the bytes.
        signature: the node's.
        incoming: the bytes.

    Returns:
        False if it was here.

    Raises:
        InvalidInputError: as `check_content_claim`; not signed by the node.
        RejectedError: as `check_content_claim`.
        UnavailableError: no room.
    """
    check_content_claim(desk, content.job_id, content.node, content.index, content.issued_at)
    require_signed_by(content.node, content_upload_digest(desk.domain, content), signature)
    before = store.content_hashes(desk.database, content.job_id).get(content.index)
    if before == content.content_hash:
        return False
    if store.find_receipt(desk.database, content.job_id) is not None:
        raise refused(
            f"the receipt of job {content.job_id} is signed, its contents stand", "receipt_countersigned", "stop it"
        )
    _require_room(desk, content.job_id, incoming.size)
    incoming.keep(desk.files.content(content.job_id, content.content_hash))
    store.keep_content(desk.database, content.job_id, content.index, content.content_hash, incoming.size)
    if before is not None and before not in store.content_hashes(desk.database, content.job_id).values():
        desk.files.content(content.job_id, before).unlink(missing_ok=True)
    return True


def take_log(desk: Desk, entry: JobLog, text: str, signature: Signature) -> int:
    """Adds a text to a job's log.

    Returns:
        Bytes of the log now: the next offset.

    Raises:
        InvalidInputError: another node's job, not signed by it, not of now, too large.
        RejectedError: it belongs elsewhere (code log_offset, values.next), or the job is over.
    """
    raw = text.encode()
    job = job_of_node(desk, entry.job_id, entry.node)
    require_fresh(entry.issued_at, desk.sight().now)
    require_signed_by(entry.node, log_digest(desk.domain, entry), signature)
    if len(raw) > MAX_LOG_TEXT_BYTES or entry.offset + len(raw) > desk.lids.log_bytes:
        raise InvalidInputError(
            f"a text may have {MAX_LOG_TEXT_BYTES} bytes and the log {desk.lids.log_bytes}",
            fix="send less",
            code="too_large",
        )
    if keccak(store.read_log(desk.database, entry.job_id, entry.offset, len(raw))) == keccak(raw) and raw:
        return store.log_size(desk.database, entry.job_id)  # sent twice
    if job.state not in RUNNING:
        raise refused(f"job {entry.job_id} is {job.state.name.lower()}", "job_over", "stop it")
    size = store.append_log(desk.database, entry.job_id, entry.offset, raw)
    if size != entry.offset + len(raw):
        raise refused(
            f"the log of job {entry.job_id} has {size} bytes", "log_offset", f"go on at offset {size}", {"next": size}
        )
    return size


def require_access(desk: Desk, access: JobAccess, signature: Signature) -> JobRecord:
    """The job that its customer wants to read.

    Raises:
        InvalidInputError: unknown, another's, not signed by the customer, not of now.
    """
    job = desk.sight().job(access.job_id)
    require_fresh(access.issued_at, desk.sight().now)
    require_signed_by(access.customer, access_digest(desk.domain, access), signature)
    if job.customer != access.customer:
        raise InvalidInputError(
            f"job {job.job_id} is not {access.customer}'s", fix="sign with the key that posted it", code="wrong_signer"
        )
    return job


def content_path(desk: Desk, job_id: JobId, index: int) -> Path:
    """File of a content.

    Raises:
        InvalidInputError: it is not here yet (code unknown_content).
    """
    found = store.content_hashes(desk.database, job_id).get(index)
    if found is None:
        raise InvalidInputError(f"content {index} of job {job_id} is not here", fix="ask later", code="unknown_content")
    return desk.files.content(job_id, found)


def log_piece(desk: Desk, job: JobRecord, offset: int) -> Json:
    """The log of a job from a byte on, as much as one answer takes; whole characters.

    Args:
        desk: the gateway.
        job: whose.
        offset: 0, or the `next` of an earlier piece.

    Raises:
        InvalidInputError: it points into a character.
    """
    raw = store.read_log(desk.database, job.job_id, offset, MAX_LOG_TEXT_BYTES)
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        if error.start < len(raw) - 3:
            raise InvalidInputError(
                f"offset {offset} is inside a character", fix="use `next`", code="log_offset"
            ) from error
        raw = raw[: error.start]
        text = raw.decode()
    after = offset + len(raw)
    over = job.state not in (JobState.POSTED, JobState.ACCEPTED)
    ended = after >= store.log_size(desk.database, job.job_id) and (
        over or store.find_receipt(desk.database, job.job_id) is not None
    )
    return {"offset": offset, "next": after, "text": text, "ended": ended}


def _require_room(desk: Desk, job_id: JobId, size: int) -> None:
    require_room(desk, size)
    if store.stored_bytes(desk.database, job_id) + size > desk.lids.job_bytes:
        raise InvalidInputError(
            f"the contents of a job may have {desk.lids.job_bytes} bytes together",
            fix="end the job as failed",
            code="too_large",
        )

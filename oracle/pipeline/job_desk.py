"""Takes in what concerns jobs: specs, receipts and drawn checkpoints."""

from oracle.model import SignedReceipt
from oracle.pipeline.desk import Desk, require_node
from oracle.publish.json_codec import dump_signed_receipt, parse_signed_receipt
from oracle.store import jobs as store
from swarm_chain.core.checkpoints import (
    MAX_CHECKPOINT_BYTES,
    checkpoint_tree,
    content_hash,
    opens_checkpoint,
    path_hash,
)
from swarm_chain.core.encoding import canonical_json, keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.merkle import root
from swarm_chain.core.model import JobRecord
from swarm_chain.core.signing import checkpoint_digest, receipt_digest, require_signed_by
from swarm_chain.core.units import Hash32, JobId, Signature

MAX_SPEC_BYTES = 64 * 1024


def take_spec(desk: Desk, spec: dict[str, object]) -> Hash32:
    """Keeps a job spec under the hash of its canonical JSON.

    Raises:
        InvalidInputError: floats in it, or larger than 64 KiB.
    """
    document = canonical_json(spec)
    if len(document) > MAX_SPEC_BYTES:
        raise InvalidInputError(
            f"spec has {len(document)} bytes", fix=f"keep it below {MAX_SPEC_BYTES}", code="too_large"
        )
    spec_hash = keccak(document)
    store.save_spec(desk.engine, spec_hash, document)
    return spec_hash


def take_receipt(desk: Desk, job_id: JobId, signed: SignedReceipt) -> bool:
    """Keeps a node's receipt with the content hashes of its checkpoints.

    Returns:
        False if this receipt was there.

    Raises:
        InvalidInputError: another job's, another node's, not signed by it, or checkpoints that do not make the root.
    """
    receipt = signed.receipt
    job = require_job(desk, job_id)
    if receipt.job_id != job_id or receipt.spec_hash != job.spec_hash or receipt.node != job.node:
        raise InvalidInputError(f"the receipt is not for job {job_id} on its node", code="wrong_receipt")
    require_node(desk.sight(), receipt.node)
    digest = receipt_digest(desk.domain, receipt)
    require_signed_by(receipt.node, digest, signed.signature)
    if len(signed.checkpoints) != receipt.checkpoint_count:
        raise InvalidInputError("the receipt names another number of checkpoints", code="checkpoint_count")
    if receipt.checkpoint_count and root(checkpoint_tree(signed.checkpoints)) != receipt.checkpoint_root:
        raise InvalidInputError("the checkpoints do not make the receipt's root", code="checkpoint_root")
    return store.save_receipt(desk.engine, job_id, digest, dump_signed_receipt(signed))


def take_checkpoint(
    desk: Desk, job_id: JobId, index: int, content: bytes, path: tuple[Hash32, ...], signature: Signature
) -> bool:
    """Keeps an uploaded checkpoint that opens the root of the job's receipt.

    Returns:
        False if it was there.

    Raises:
        InvalidInputError: no receipt yet, not signed by the job's node, too large, or not the committed content.
    """
    if len(content) > MAX_CHECKPOINT_BYTES:
        raise InvalidInputError(f"a checkpoint may have {MAX_CHECKPOINT_BYTES} bytes", code="too_large")
    signed = receipt_of(desk, require_job(desk, job_id))
    node, hashed = signed.receipt.node, content_hash(content)
    require_signed_by(node, checkpoint_digest(desk.domain, job_id, node, index, hashed, path_hash(path)), signature)
    receipt = signed.receipt
    if not opens_checkpoint(receipt.checkpoint_root, receipt.checkpoint_count, index, hashed, path):
        raise InvalidInputError(f"this is not checkpoint {index} of job {job_id}", code="wrong_checkpoint")
    return store.save_checkpoint(desk.engine, job_id, index, hashed, content)


def require_job(desk: Desk, job_id: JobId) -> JobRecord:
    """A job the chain knows and a node has accepted.

    Raises:
        InvalidInputError: unknown, or nobody accepted it.
    """
    job = next((j for j in desk.sight().state.jobs if j.job_id == job_id), None)
    if job is None or job.node is None:
        raise InvalidInputError(f"job {job_id} is unknown or not accepted", code="unknown_job")
    return job


def receipt_of(desk: Desk, job: JobRecord) -> SignedReceipt:
    """The receipt whose digest the chain recorded.

    Raises:
        InvalidInputError: not completed on chain, or its receipt was never handed in.
    """
    document = store.receipt_document(desk.engine, job.job_id, job.receipt_digest)
    if document is None:
        raise InvalidInputError(f"job {job.job_id} has no receipt yet", code="no_receipt", fix="post the receipt first")
    return parse_signed_receipt(document)


def result_of(desk: Desk, job: JobRecord) -> bytes | None:
    """Bytes of the last checkpoint of a completed job, None while they are not uploaded."""
    signed = receipt_of(desk, job)
    last = signed.receipt.checkpoint_count - 1
    return store.checkpoint_content(desk.engine, job.job_id, last, signed.checkpoints[last]) if last >= 0 else None

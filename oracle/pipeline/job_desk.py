"""Takes in what concerns jobs: specs, receipts and drawn checkpoints."""

import json

from oracle.judge.training import is_countersigned
from oracle.model import SignedReceipt
from oracle.pipeline.desk import Desk, require_node
from oracle.publish.json_codec import dump_signed_receipt, parse_signed_receipt
from oracle.store import jobs as store
from oracle.store.jobs import SpecShelf
from swarm_chain.core.checkpoints import (
    MAX_CHECKPOINT_BYTES,
    checkpoint_tree,
    checkpoints_to_upload,
    content_hash,
    draw_segments,
    job_seed,
    opens_checkpoint,
    path_hash,
)
from swarm_chain.core.encoding import canonical_json, keccak, to_hex
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.jobs import MAX_SPEC_BYTES, JobSpec, parse_job_spec
from swarm_chain.core.merkle import root
from swarm_chain.core.model import JobRecord
from swarm_chain.core.signing import checkpoint_digest, receipt_digest, require_signed_by
from swarm_chain.core.units import Hash32, JobId, Signature
from swarm_chain.reference.programs.base import Program
from swarm_chain.reference.programs.registry import open_program

MAX_RECEIPTS = 8  # a node may correct itself before it completes a job on chain, but not for ever
DRAW_DELAY_BLOCKS = 2
SPEC_SHELF = SpecShelf(max_bytes=256 * 1024 * 1024, keep_for=24 * 3600)


def take_spec(desk: Desk, spec: dict[str, object]) -> Hash32:
    """Keeps a job spec under the hash of its canonical JSON.

    Raises:
        InvalidInputError: floats in it, or larger than 64 KiB.
        UnavailableError: too many specs wait for their jobs.
    """
    document = canonical_json(spec)
    if len(document) > MAX_SPEC_BYTES:
        raise InvalidInputError(
            f"spec has {len(document)} bytes", fix=f"keep it below {MAX_SPEC_BYTES}", code="too_large"
        )
    spec_hash = keccak(document)
    sight = desk.sight()
    posted = [job.spec_hash for job in sight.state.jobs]
    if not store.shelve_spec(desk.engine, SPEC_SHELF, (spec_hash, document), sight.now, posted):
        raise UnavailableError(
            "this member keeps no more specs of jobs that nobody posted",
            fix="try another member, or again later",
            code="specs_full",
            retry_after=600,
        )
    return spec_hash


def take_receipt(desk: Desk, job_id: JobId, signed: SignedReceipt) -> bool:
    """Keeps a node's receipt with the content hashes of its checkpoints.

    Returns:
        False if this receipt was there.

    Raises:
        InvalidInputError: another job's, another node's, not signed by it, not the one the chain names once it names one,
            one too many, or checkpoints that do not make the root.
    """
    receipt = signed.receipt
    job = require_job(desk, job_id)
    if receipt.job_id != job_id or receipt.spec_hash != job.spec_hash or receipt.node != job.node:
        raise InvalidInputError(f"the receipt is not for job {job_id} on its node", code="wrong_receipt")
    require_node(desk.sight(), receipt.node)
    digest = receipt_digest(desk.domain, receipt)
    require_signed_by(receipt.node, digest, signed.signature)
    if any(job.receipt_digest) and digest != job.receipt_digest:
        raise InvalidInputError(f"job {job_id} was completed with another receipt", code="wrong_receipt")
    if len(signed.checkpoints) != receipt.checkpoint_count:
        raise InvalidInputError("the receipt names another number of checkpoints", code="checkpoint_count")
    if receipt.checkpoint_count and root(checkpoint_tree(signed.checkpoints)) != receipt.checkpoint_root:
        raise InvalidInputError("the checkpoints do not make the receipt's root", code="checkpoint_root")
    saved = store.save_receipt(desk.engine, job_id, digest, dump_signed_receipt(signed), _room(job))
    if saved is False and _completes(desk, job, digest, signed):
        store.replace_receipt(desk.engine, job_id, digest, dump_signed_receipt(signed))
        return True
    if saved is None:
        raise InvalidInputError(
            f"job {job_id} has {MAX_RECEIPTS} receipts already",
            code="too_many_receipts",
            fix="complete the job on chain: the receipt named there is always taken",
        )
    return saved


def _completes(desk: Desk, job: JobRecord, digest: Hash32, signed: SignedReceipt) -> bool:
    # The digest does not cover the gateway's signature: whoever sends a receipt without it must not keep it out.
    kept = store.receipt_document(desk.engine, job.job_id, digest)
    before = kept and parse_signed_receipt(kept).gateway_signature
    if signed.gateway_signature is None or before == signed.gateway_signature:
        return False
    if store.spec_document(desk.engine, job.spec_hash) is None:
        return before is None
    gateway = spec_of(desk, job).gateway_address
    return gateway is not None and is_countersigned(signed, gateway, desk.domain)


def _room(job: JobRecord) -> int:
    # The one the chain names has passed the check above and always finds a place.
    return MAX_RECEIPTS + any(job.receipt_digest)


def take_checkpoint(
    desk: Desk, job_id: JobId, index: int, content: bytes, path: tuple[Hash32, ...], signature: Signature
) -> bool:
    """Keeps an uploaded checkpoint that opens the root of the job's receipt.

    Returns:
        False if it was there.

    Raises:
        InvalidInputError: no receipt yet, not drawn, not signed by the job's node, too large, or not the committed
            content.
        UnavailableError: the draw is not made here yet; the sender saw the chain first.
    """
    if len(content) > MAX_CHECKPOINT_BYTES:
        raise InvalidInputError(f"a checkpoint may have {MAX_CHECKPOINT_BYTES} bytes", code="too_large")
    job = require_job(desk, job_id)
    signed = receipt_of(desk, job)
    _require_drawn(desk, job, index, signed.receipt.checkpoint_count)
    node, hashed = signed.receipt.node, content_hash(content)
    require_signed_by(node, checkpoint_digest(desk.domain, job_id, node, index, hashed, path_hash(path)), signature)
    receipt = signed.receipt
    if not opens_checkpoint(receipt.checkpoint_root, receipt.checkpoint_count, index, hashed, path):
        raise InvalidInputError(f"this is not checkpoint {index} of job {job_id}", code="wrong_checkpoint")
    return store.save_checkpoint(desk.engine, job_id, index, hashed, content)


def _require_drawn(desk: Desk, job: JobRecord, index: int, count: int) -> None:
    drawn = drawn_segments(desk, job)
    if not drawn:
        raise UnavailableError(f"the segments of job {job.job_id} are not drawn here yet", retry_after=1)
    wanted = checkpoints_to_upload(map(program_of(desk, job).source, drawn), count)
    if index not in wanted:
        raise InvalidInputError(
            f"content {index} of job {job.job_id} was not drawn",
            code="not_drawn",
            fix="send what each drawn unit is computed from, and the last content",
            values={"drawn": list(wanted)},
        )


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


def spec_of(desk: Desk, job: JobRecord) -> JobSpec:
    """The spec of a job.

    Raises:
        InvalidInputError: it is no spec.
        UnavailableError: nobody left it here yet.
    """
    document = store.spec_document(desk.engine, job.spec_hash)
    if document is None:
        raise UnavailableError(f"the spec of job {job.job_id} is not here", code="no_spec", fix="post the spec first")
    return parse_job_spec(json.loads(document))


def program_of(desk: Desk, job: JobRecord) -> Program:
    """The program of a job, with its inputs read from the store when it asks for them.

    Raises:
        InvalidInputError: the spec is none, or the inputs are not what it wants.
        UnavailableError: spec or inputs were not handed in yet.
    """
    spec = spec_of(desk, job)
    lacking = frozenset(spec.input_hashes) - store.kept_inputs(desk.engine, job.job_id)
    if lacking:
        raise UnavailableError(
            f"{len(lacking)} inputs of job {job.job_id} are not here",
            code="no_inputs",
            fix="hand in the inputs first",
            retry_after=1,
        )
    return open_program(spec, lambda content: input_of(desk, job.job_id, content))


def input_of(desk: Desk, job_id: JobId, content: Hash32) -> bytes:
    """Bytes of an input that was handed in for a job.

    Raises:
        InvalidInputError: it was not.
    """
    found = store.input_content(desk.engine, job_id, content)
    if found is None:
        raise InvalidInputError(f"input {to_hex(content)} of job {job_id} is not here", code="unknown_input")
    return found


def result_of(desk: Desk, job: JobRecord) -> bytes | None:
    """Bytes of the last checkpoint of a completed job, None while they are not uploaded."""
    signed = receipt_of(desk, job)
    last = signed.receipt.checkpoint_count - 1
    return store.checkpoint_content(desk.engine, job.job_id, last, signed.checkpoints[last]) if last >= 0 else None


def drawn_segments(desk: Desk, job: JobRecord) -> tuple[int, ...]:
    """Segments of a completed job that are replayed; none while the deciding block does not exist or no run was kept."""
    sight = desk.sight()
    completed = sight.facts.completed_blocks.get(job.job_id)
    if completed is None or completed + DRAW_DELAY_BLOCKS > sight.latest.number:
        return ()
    segments = receipt_of(desk, job).receipt.checkpoint_count - 1
    if segments < 1:
        return ()
    deciding = desk.reader.block(completed + DRAW_DELAY_BLOCKS)
    return draw_segments(job_seed(deciding.hash, job.receipt_digest), job.job_id, segments)

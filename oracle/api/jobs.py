"""Jobs: specs, receipts, checkpoints, results."""

from fastapi import APIRouter, Response

from oracle.model import SignedReceipt
from oracle.pipeline.desk import Desk
from oracle.pipeline.job_desk import receipt_of, require_job, result_of, take_checkpoint, take_receipt, take_spec
from oracle.pipeline.replayer import drawn_segments
from oracle.publish.json_codec import receipt_json
from oracle.schemas import CheckpointBody, HexHash, ReceiptBody, SpecBody, signature_bytes
from oracle.store import jobs as store
from swarm_chain.core.encoding import hash_from_hex, to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.model import JobState
from swarm_chain.core.units import JobId


def spec_routes(desk: Desk) -> APIRouter:
    """Routes of job specs, kept under their hash."""
    router = APIRouter(prefix="/v1/jobs/specs", tags=["jobs"])

    @router.post("", status_code=201)
    def post_spec(body: SpecBody) -> dict[str, object]:
        return {"specHash": to_hex(take_spec(desk, body.spec))}

    @router.get("/{spec_hash}")
    def get_spec(spec_hash: HexHash) -> Response:
        document = store.spec_document(desk.engine, hash_from_hex(spec_hash))
        if document is None:
            raise InvalidInputError(f"no spec {spec_hash}", code="unknown_spec")
        return Response(document, media_type="application/json")

    return router


def job_routes(desk: Desk) -> APIRouter:
    """Routes of posted jobs: receipts, checkpoints, state, results."""
    router = APIRouter(prefix="/v1/jobs/{job_id}", tags=["jobs"])

    @router.post("/receipts", status_code=202)
    def post_receipt(job_id: int, body: ReceiptBody) -> dict[str, object]:
        signed = SignedReceipt(
            receipt=body.receipt.to_core(),
            signature=signature_bytes(body.signature),
            checkpoints=body.content_hashes(),
        )
        return {"duplicate": not take_receipt(desk, JobId(job_id), signed)}

    @router.post("/checkpoints", status_code=202)
    def post_checkpoint(job_id: int, body: CheckpointBody) -> dict[str, object]:
        content, path = body.content_bytes(), body.path_hashes()
        new = take_checkpoint(desk, JobId(job_id), body.index, content, path, signature_bytes(body.signature))
        return {"duplicate": not new}

    @router.get("")
    def get_job(job_id: int) -> dict[str, object]:
        return _job(desk, JobId(job_id))

    @router.get("/result")
    def get_result(job_id: int) -> Response:
        content = result_of(desk, require_job(desk, JobId(job_id)))
        if content is None:
            raise InvalidInputError(f"job {job_id} has no result yet", code="unknown_document")
        return Response(content, media_type="application/octet-stream")

    return router


def _job(desk: Desk, job_id: JobId) -> dict[str, object]:
    job = next((j for j in desk.sight().state.jobs if j.job_id == job_id), None)
    if job is None:
        raise InvalidInputError(f"job {job_id} is unknown", code="unknown_job")
    found = next(iter(store.verdicts(desk.engine, [job_id])), None)
    has_receipt = store.receipt_document(desk.engine, job_id, job.receipt_digest) is not None
    return {
        "jobId": job_id,
        "state": job.state.name.lower(),
        "specHash": to_hex(job.spec_hash),
        "receipt": receipt_json(receipt_of(desk, job).receipt) if has_receipt else None,
        "receiptDigest": to_hex(job.receipt_digest),
        "drawnSegments": list(drawn_segments(desk, job)) if has_receipt and job.state is JobState.COMPLETED else [],
        "verdict": found[1].value if found else None,
        "reason": found[2] if found else None,
    }

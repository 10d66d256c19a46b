"""Jobs: specs, receipts, checkpoints, inputs, results."""

from fastapi import APIRouter, Request, Response

from oracle.api.answers import POSTED, AcceptedAnswer, JobAnswer, JobPath, Json, SpecAnswer, errors, raw
from oracle.api.job_state import job_document
from oracle.api.rates import Rates, host_of
from oracle.model import SignedReceipt
from oracle.pipeline.desk import Desk
from oracle.pipeline.job_desk import (
    require_job,
    result_of,
    take_checkpoint,
    take_receipt,
    take_spec,
)
from oracle.pipeline.job_inputs import take_input
from oracle.schemas import CheckpointBody, ReceiptBody, SpecBody, UploadBody
from oracle.store import jobs as store
from swarm_chain.core.encoding import hash_from_hex, to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import Address, JobId
from swarm_chain.web.bodies import HexHash, signature_bytes
from swarm_chain.web.strict_json import StrictRoute


def spec_routes(desk: Desk, rates: Rates) -> APIRouter:
    """Routes of job specs, kept under their hash.

    Args:
        desk: where messages arrive.
        rates: anybody may post a spec, so each host only so often.
    """
    router = APIRouter(prefix="/v1/jobs/specs", tags=["jobs"], route_class=StrictRoute)

    @router.post("", status_code=201, response_model=SpecAnswer, responses=errors(*POSTED))
    def post_spec(body: SpecBody, request: Request) -> Json:
        """A job spec, before its job is posted on chain."""
        rates.specs.take(host_of(request), "")
        return {"specHash": to_hex(take_spec(desk, body.spec))}

    @router.get(
        "/{spec_hash}",
        response_class=Response,
        responses=errors(404) | raw("application/json", "Canonical JSON whose keccak256 is the hash."),
    )
    def get_spec(spec_hash: HexHash) -> Response:
        """The spec with this hash."""
        document = store.spec_document(desk.engine, hash_from_hex(spec_hash))
        if document is None:
            raise InvalidInputError(f"no spec {spec_hash}", code="unknown_spec", fix="post it first")
        return Response(document, media_type="application/json")

    return router


def job_routes(desk: Desk, rates: Rates) -> APIRouter:
    """Routes of posted jobs: receipts, checkpoints, state, results.

    Args:
        desk: where messages arrive.
        rates: buckets by host and node.
    """
    router = APIRouter(prefix="/v1/jobs/{job_id}", tags=["jobs"], route_class=StrictRoute)
    _add_uploads(router, desk, rates)

    @router.get("", response_model=JobAnswer, responses=errors(404, 503))
    def get_job(job_id: JobPath) -> Json:
        """What this member knows of a job, and its verdict."""
        return job_document(desk, JobId(job_id))

    @router.get(
        "/result",
        response_class=Response,
        responses=errors(404, 503) | raw("application/octet-stream", "Bytes of the last checkpoint."),
    )
    def get_result(job_id: JobPath) -> Response:
        """The result of a completed job; its hash is in the receipt."""
        content = result_of(desk, require_job(desk, JobId(job_id)))
        if content is None:
            raise InvalidInputError(f"job {job_id} has no result yet", code="unknown_document", fix="ask again later")
        return Response(content, media_type="application/octet-stream")

    return router


def _add_uploads(router: APIRouter, desk: Desk, rates: Rates) -> None:
    def charge(request: Request, node: str) -> None:
        rates.nodes.take(host_of(request), node if Address(node) in desk.sight().nodes else "")

    @router.post("/receipts", status_code=202, response_model=AcceptedAnswer, responses=errors(*POSTED, 404))
    def post_receipt(job_id: JobPath, body: ReceiptBody, request: Request) -> Json:
        """The signed outcome of a job, by the node that accepted it."""
        charge(request, body.receipt.node)
        signed = SignedReceipt(
            receipt=body.receipt.to_core(),
            signature=signature_bytes(body.signature),
            checkpoints=body.content_hashes(),
            gateway_signature=None if body.gateway_signature is None else signature_bytes(body.gateway_signature),
        )
        return {"duplicate": not take_receipt(desk, JobId(job_id), signed)}

    @router.post("/checkpoints", status_code=202, response_model=AcceptedAnswer, responses=errors(*POSTED, 404))
    def post_checkpoint(job_id: JobPath, body: CheckpointBody, request: Request) -> Json:
        """A drawn checkpoint, or the last one, of a job completed on chain."""
        charge(request, body.node)
        content, path = body.content_bytes(), body.path_hashes()
        new = take_checkpoint(desk, JobId(job_id), body.index, content, path, signature_bytes(body.signature))
        return {"duplicate": not new}

    @router.post(
        "/inputs/{content_hash}", status_code=202, response_model=AcceptedAnswer, responses=errors(*POSTED, 404)
    )
    def post_input(job_id: JobPath, content_hash: HexHash, body: UploadBody, request: Request) -> Json:
        """An input that the spec of a job completed on chain names."""
        charge(request, body.node)
        return {"duplicate": not take_input(desk, JobId(job_id), hash_from_hex(content_hash), body.content_bytes())}

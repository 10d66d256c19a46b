"""Routes of posted jobs: state, contents, log, receipt."""

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse

from gateway.api.limits import RateLimit, pieces
from gateway.api.schemas import (
    CustomerHeader,
    IndexPath,
    IssuedAtHeader,
    JobPath,
    LogBody,
    NodeHeader,
    OffsetQuery,
    ReceiptBody,
    SignatureHeader,
    receipt_of_job,
)
from gateway.planning import job_view
from gateway.receipts import ReceiptClaim, take_receipt
from gateway.service import Gateway
from gateway.uploads import check_content_claim, content_path, log_piece, require_access, take_content, take_log
from swarm_chain.core.checkpoints import MAX_CHECKPOINT_BYTES
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.gateway import JobAccess, JobContent, JobLog
from swarm_chain.core.messages import Json
from swarm_chain.core.units import Address, JobId, Timestamp
from swarm_chain.web.bodies import signature_bytes
from swarm_chain.web.strict_json import StrictRoute


def job_routes(gateway: Gateway, rates: RateLimit) -> APIRouter:
    """What nodes bring of jobs, and customers read.

    Args:
        gateway: what it speaks for.
        rates: buckets by host.
    """
    router = APIRouter(prefix="/v1/jobs/{job_id}", tags=["jobs"], route_class=StrictRoute)
    desk = gateway.desk

    @router.get("")
    def job(job_id: JobPath) -> Json:
        """What this gateway knows of a job, and what it waits for."""
        return job_view(desk, desk.sight().job(job_id))

    @router.post("/log")
    def post_log(job_id: JobPath, body: LogBody, request: Request) -> Json:
        """The next text of a job's log, by its node."""
        rates.take(request)
        entry = JobLog(
            job_id=JobId(job_id),
            node=Address(body.node),
            offset=body.offset,
            text_hash=keccak(body.text.encode()),
            issued_at=Timestamp(body.issued_at),
        )
        return {"next": take_log(desk, entry, body.text, signature_bytes(body.signature))}

    @router.post("/receipts")
    def post_receipt(job_id: JobPath, body: ReceiptBody, request: Request) -> Json:
        """The signed outcome of a job, by its node; the gateway's signature comes back."""
        rates.take(request)
        claim = ReceiptClaim(
            receipt=receipt_of_job(body, job_id),
            signature=signature_bytes(body.signature),
            checkpoints=body.content_hashes(),
        )
        return {"gatewaySignature": to_hex(take_receipt(desk, gateway.canaries, claim))}

    _add_contents(router, gateway, rates)
    _add_reading(router, gateway)
    return router


def _add_contents(router: APIRouter, gateway: Gateway, rates: RateLimit) -> None:
    desk = gateway.desk

    @router.put("/contents/{index}", status_code=201)
    async def put_content(
        job_id: JobPath,
        index: IndexPath,
        node: NodeHeader,
        issued_at: IssuedAtHeader,
        signature: SignatureHeader,
        request: Request,
    ) -> Json:
        """A content of a job, by its node."""
        rates.take(request)
        owner, at, job = Address(node), Timestamp(issued_at), JobId(job_id)
        await run_in_threadpool(check_content_claim, desk, job, owner, index, at)
        with desk.files.receive(MAX_CHECKPOINT_BYTES) as incoming:
            async for piece in pieces(request):
                incoming.add(piece)
            content = JobContent(job_id=job, node=owner, index=index, content_hash=incoming.hash, issued_at=at)
            new = await run_in_threadpool(take_content, desk, content, signature_bytes(signature), incoming)
        return {"duplicate": not new}


def _add_reading(router: APIRouter, gateway: Gateway) -> None:
    desk = gateway.desk

    @router.get("/contents/{index}", response_class=FileResponse)
    def get_content(
        job_id: JobPath,
        index: IndexPath,
        customer: CustomerHeader,
        issued_at: IssuedAtHeader,
        signature: SignatureHeader,
    ) -> FileResponse:
        """Bytes of a content, for the job's customer."""
        access = JobAccess(job_id=JobId(job_id), customer=Address(customer), issued_at=Timestamp(issued_at))
        job = require_access(desk, access, signature_bytes(signature))
        return FileResponse(content_path(desk, job.job_id, index), media_type="application/octet-stream")

    @router.get("/log")
    def get_log(
        job_id: JobPath,
        customer: CustomerHeader,
        issued_at: IssuedAtHeader,
        signature: SignatureHeader,
        offset: OffsetQuery = 0,
    ) -> Json:
        """The job's log from a byte on, for its customer."""
        access = JobAccess(job_id=JobId(job_id), customer=Address(customer), issued_at=Timestamp(issued_at))
        return log_piece(desk, require_access(desk, access, signature_bytes(signature)), offset)

"""Routes of customers before a job is posted: plans, specs, inputs."""

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse

from gateway.api.limits import RateLimit, pieces
from gateway.api.schemas import SpecBody
from gateway.desk import blob_path, take_blob, take_spec
from gateway.planning import make_plan
from gateway.service import Gateway
from swarm_chain.core.encoding import hash_from_hex, to_hex
from swarm_chain.core.gateway import plan_json
from swarm_chain.core.messages import Json
from swarm_chain.web.bodies import HexHash
from swarm_chain.web.strict_json import StrictRoute


def spec_routes(gateway: Gateway, rates: RateLimit) -> APIRouter:
    """Plans, specs and inputs.

    Args:
        gateway: what it speaks for.
        rates: anybody may ask, so each host only so often.
    """
    router = APIRouter(prefix="/v1", tags=["specs"], route_class=StrictRoute)
    desk = gateway.desk

    @router.post("/plans")
    def plan(body: SpecBody, request: Request) -> Json:
        """Where a job would run and what it would cost; nothing is kept."""
        rates.take(request)
        return plan_json(make_plan(desk, body.spec))

    @router.post("/specs", status_code=201)
    def spec(body: SpecBody, request: Request) -> Json:
        """A spec, before its job is posted on chain; kept, and handed to the members."""
        rates.take(request)
        kept = take_spec(desk, body.spec)
        gateway.members.hand(kept.spec_hash, kept.document)
        return {"specHash": to_hex(kept.spec_hash)}

    @router.put("/blobs/{content}", status_code=201)
    async def put_blob(content: HexHash, request: Request) -> Json:
        """An input; the hash is keccak256 of its bytes."""
        rates.take(request)
        with desk.files.receive(desk.lids.blob_bytes) as incoming:
            async for piece in pieces(request):
                incoming.add(piece)
            size = await run_in_threadpool(take_blob, desk, hash_from_hex(content), incoming)
        return {"size": size}

    @router.get("/blobs/{content}", response_class=FileResponse)
    def get_blob(content: HexHash) -> FileResponse:
        """Bytes of an input."""
        return FileResponse(blob_path(desk, hash_from_hex(content)), media_type="application/octet-stream")

    return router

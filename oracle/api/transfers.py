"""Payloads of bandwidth audits, as streams: neither way is ever held as a whole, and both are looked at as they pass.

GET  …/payload  bytes --as fast as the node takes them-->
POST …/upload   <--as fast as they come-- bytes, compared piece by piece, refused at the first wrong one
"""

import asyncio
from collections.abc import Callable

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from oracle.api.answers import POSTED, NothingAnswer, errors, raw
from oracle.api.rates import RateLimit, host_of
from oracle.pipeline.audits import Auditing
from oracle.pipeline.transfers import begin_download, begin_upload, end_upload, seats_of, sent_pieces
from oracle.store.evidence import Instant
from swarm_chain.core.encoding import hash_from_hex
from swarm_chain.core.errors import InvalidInputError, SwarmError
from swarm_chain.core.payload import UploadCheck
from swarm_chain.web.bodies import HexHash
from swarm_chain.web.errors import refusal

OCTETS = "application/octet-stream"
GATHERED = 256 * 1024  # bytes looked at together
_SENT = raw(OCTETS, "The payload.")
_UPLOADED = {"requestBody": {"required": True, "content": _SENT[200]["content"]}}


def transfer_routes(auditing: Auditing, rate: RateLimit) -> APIRouter:
    """Routes of the payloads of bandwidth audits; who knows an audit's id is its node.

    Args:
        auditing: the member.
        rate: buckets by host.
    """
    router = APIRouter(prefix="/v1/audits", tags=["audits"])
    seats, within_s = seats_of(auditing), auditing.desk.network.params.network.limit_ms / 1000

    @router.get(
        "/{audit_id}/payload", response_class=StreamingResponse, responses={**_SENT, **errors(404, 409, 429, 503)}
    )
    def get_payload(audit_id: HexHash, request: Request) -> StreamingResponse:
        """The payload; the clock runs from the first time it is asked for."""
        rate.take(host_of(request), "")
        payload = begin_download(auditing, seats, hash_from_hex(audit_id))
        headers = {"Content-Length": str(payload.size)}
        return PromptStream(sent_pieces(auditing, seats, payload), within_s, headers)

    @router.post(
        "/{audit_id}/upload",
        status_code=202,
        response_model=NothingAnswer,
        responses=errors(*POSTED, 404, 409),
        openapi_extra=_UPLOADED,
    )
    async def post_upload(audit_id: HexHash, request: Request) -> Response:
        """The payload's blocks in the drawn order; the clock stops at the last byte."""
        rate.take(host_of(request), "")
        wanted = hash_from_hex(audit_id)
        try:
            check = await run_in_threadpool(begin_upload, auditing, wanted)
            right, at_ms = await _compared(check, request, within_s, auditing.desk.clock.monotonic_ms)
            seats.give_back(wanted)
            at = Instant(boot=auditing.desk.boot, ms=at_ms)
            await run_in_threadpool(end_upload, auditing, wanted, at, right=right)
        except SwarmError as error:
            return _hung_up(error, request)
        return JSONResponse({}, status_code=202)

    return router


class PromptStream(StreamingResponse):
    """A stream that ends after so many seconds, whoever does not read it.

    Args:
        content: what is sent.
        within_s: how long that may take.
        headers: of the answer.
    """

    media_type = OCTETS

    def __init__(self, content: object, within_s: float, headers: dict[str, str]) -> None:
        super().__init__(content, headers=headers)  # type: ignore[arg-type]  # any iterator of bytes
        self._within_s = within_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with asyncio.timeout(self._within_s):
                await super().__call__(scope, receive, send)
        except TimeoutError:
            return  # the server closes what was not sent to its end


def _hung_up(error: SwarmError, request: Request) -> Response:
    """A refusal that ends the connection: what was still to come of the body is not read."""
    response = refusal(error, request.url.path)
    response.headers["Connection"] = "close"
    return response


async def _compared(
    check: UploadCheck, request: Request, within_s: float, monotonic_ms: Callable[[], int]
) -> tuple[bool, int]:
    """Whether a body is what it should be, and when its last byte was here.

    Raises:
        InvalidInputError: it did not come in time, or not to its end; another try may.
    """
    gathered = bytearray()
    at_ms = monotonic_ms()
    try:
        async with asyncio.timeout(within_s):
            async for piece in request.stream():
                gathered += piece
                at_ms = monotonic_ms() if piece else at_ms
                if len(gathered) >= GATHERED:
                    if not await run_in_threadpool(check.feed, bytes(gathered)):
                        return False, at_ms
                    gathered.clear()
    except (TimeoutError, ClientDisconnect) as error:
        raise InvalidInputError(
            f"the upload did not come within {within_s:g} s", code="too_slow", fix="claim what the line moves"
        ) from error
    return await run_in_threadpool(check.feed, bytes(gathered)) and check.complete, at_ms

"""Every error leaves as {"error", "message", "fix", "values"} with the status of its family."""

import uuid
from typing import cast

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from swarm_chain.core.errors import SwarmError

log = structlog.get_logger()

NOT_FOUND = frozenset(
    {
        "unknown_job",
        "unknown_window",
        "unknown_epoch",
        "unknown_document",
        "unknown_spec",
        "unknown_provider",
        "unknown_audit",
        "unknown_volume",
        "unknown_benchmark",
        "unknown_blob",
        "unknown_content",
    }
)
SHOWN = 200  # characters of a caller's own words that an answer repeats


def install_error_handlers(app: FastAPI) -> None:
    """Registers the handlers of the four families, of malformed bodies and of crashes."""
    app.add_exception_handler(SwarmError, _swarm_error)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _crash)


def status_of(error: SwarmError) -> int:
    """HTTP status of an error."""
    if error.code == "rate_limited":
        return 429
    if error.code == "too_large":
        return 413
    return 404 if error.code in NOT_FOUND else error.http_status


async def _swarm_error(request: Request, raised: Exception) -> JSONResponse:
    return refusal(cast(SwarmError, raised), request.url.path)  # Starlette types every handler for Exception


def refusal(error: SwarmError, path: str) -> JSONResponse:
    """Answer to a request that is refused; also said in the log.

    Args:
        error: why.
        path: what was asked for.
    """
    status = status_of(error)
    say = log.debug if status == 404 else log.info  # who waits for something asks for it all the time
    say("request_refused", path=path, status=status, code=error.code)
    retry = {"Retry-After": str(error.values["retryAfter"])} if "retryAfter" in error.values else {}
    return JSONResponse(error.as_dict(), status_code=status, headers=retry)


async def _malformed(request: Request, raised: Exception) -> JSONResponse:
    first = cast(RequestValidationError, raised).errors()[0]
    where = _shown(".".join(str(part) for part in first["loc"]))
    log.info("request_malformed", path=request.url.path, where=where, kind=first["type"])
    why = str(first.get("ctx", {}).get("error", "")) if first["type"] == "json_invalid" else ""
    document = {
        "error": "malformed",
        "message": f"{where}: {_shown(first['msg'])}" + (f": {_shown(why)}" if why else ""),
        "fix": "see /docs",
        "values": {"at": where},
    }
    return JSONResponse(document, status_code=422)


def _shown(text: str) -> str:
    # Names of unknown fields are the caller's: any length, and halves of characters that UTF-8 cannot write.
    return text[:SHOWN].encode("utf-8", "replace").decode()


async def _http_error(_request: Request, raised: Exception) -> JSONResponse:
    error = cast(HTTPException, raised)
    document = {"error": "http", "message": str(error.detail), "fix": "see /docs", "values": {}}
    return JSONResponse(document, status_code=error.status_code)


async def _crash(request: Request, error: Exception) -> JSONResponse:
    error_id = uuid.uuid4().hex[:12]
    log.error("request_crashed", path=request.url.path, error_id=error_id, exc_info=error)
    document = {
        "error": "internal",
        "message": f"this service failed on the request (id {error_id})",
        "fix": "tell the operator the id",
        "values": {"errorId": error_id},
    }
    return JSONResponse(document, status_code=500)

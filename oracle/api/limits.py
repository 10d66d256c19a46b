"""Refuses bodies before any work is done on them: too large, too slow, too deep, too many parts."""

import asyncio
import re
from collections.abc import Callable
from typing import cast

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES = 1024 * 1024
MAX_CHECKPOINT_BODY_BYTES = 17 * 1024 * 1024
MAX_HELD_BYTES = 256 * 1024 * 1024  # of all bodies that are being received or worked on
MAX_DEPTH = 8
MAX_PARTS = 65_536  # strings, lists and objects; the largest honest body, a receipt, has 8,200
BODY_WITHIN_S = 30
_ARRIVED = "arrived_ms"
_UPLOAD = re.compile(r"/v1/jobs/\d+/(checkpoints|inputs/0x[0-9a-f]{64})")
_STREAMED = re.compile(
    r"/v1/audits/0x[0-9a-f]{64}/upload"
)  # as large as the audit says; its route bounds it, and keeps none

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_OPENING = frozenset(b"[{")
_ALL_BUT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class BodyLimits:
    """ASGI middleware that buffers a body up to its limit and looks at its shape, so that no parser sees a bomb.

    It also notes when the last byte was there: what the body waits for afterwards is not its sender's doing.

    Args:
        app: what takes the body.
        monotonic_ms: the member's clock.
        within_s: how long a body may take.
    """

    def __init__(self, app: ASGIApp, monotonic_ms: Callable[[], int], within_s: float = BODY_WITHIN_S) -> None:
        self._app = app
        self._now = monotonic_ms
        self._within_s = within_s
        self._held_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (
            scope["type"] != "http"
            or scope["method"] in ("GET", "HEAD", "OPTIONS")
            or _STREAMED.fullmatch(scope["path"])
        ):
            await self._app(scope, receive, send)
            return
        limit = MAX_CHECKPOINT_BODY_BYTES if _UPLOAD.fullmatch(scope["path"]) else MAX_BODY_BYTES
        buffer = bytearray()
        try:
            refusal = await self._fill(buffer, limit, scope, receive)
            if refusal is None:
                scope.setdefault("state", {})[_ARRIVED] = self._now()
                await self._app(scope, _replay(bytes(buffer), receive), send)
            else:
                await refusal(scope, receive, send)
        except _GoneError:
            return  # nobody is left to answer
        finally:
            self._held_bytes -= len(buffer)

    async def _fill(self, buffer: bytearray, limit: int, scope: Scope, receive: Receive) -> JSONResponse | None:
        refusal = _header_fault(Headers(scope=scope), limit, takes_json=scope["method"] == "POST")
        if refusal is not None:
            return refusal
        try:
            async with asyncio.timeout(self._within_s):
                more = True
                while more:
                    more = await self._take(buffer, receive)
                    if len(buffer) > limit:
                        return _refuse(413, "too_large", f"a body may have {limit} bytes", "send less")
                    if self._held_bytes > MAX_HELD_BYTES:
                        return _refuse(503, "busy", "this member is taking in too much at once", "send it again later")
        except TimeoutError:
            return _refuse(408, "too_slow", f"a body must come within {self._within_s:g} s", "send it again")
        return _shape_fault(buffer)

    async def _take(self, buffer: bytearray, receive: Receive) -> bool:
        """Adds one more piece; False after the last one."""
        message = await receive()
        if message["type"] != "http.request":
            raise _GoneError
        piece = message.get("body", b"")
        buffer += piece
        self._held_bytes += len(piece)
        return bool(message.get("more_body"))


def arrived_ms(request: Request) -> int:
    """Monotonic milliseconds at which the last byte of a request's body was here."""
    return cast(int, request.scope["state"][_ARRIVED])


class _GoneError(Exception):
    """The sender hung up."""


def depth(body: bytes | bytearray) -> int:
    """Deepest nesting of a JSON text, counted outside strings.

    Args:
        body: raw bytes; need not be valid JSON.
    """
    deepest = level = 0
    for bracket in _STRING.sub(b"", body).translate(None, _ALL_BUT_BRACKETS):
        level += 1 if bracket in _OPENING else -1
        deepest = max(deepest, level)
    return deepest


def _header_fault(headers: Headers, limit: int, *, takes_json: bool) -> JSONResponse | None:
    declared = headers.get("content-length", "0")
    if not declared.isdecimal() or len(declared) > 12 or int(declared) > limit:
        return _refuse(413, "too_large", f"a body may have {limit} bytes", "send less")
    if headers.get("content-encoding", "identity") != "identity":
        return _refuse(415, "encoded", "a compressed body may be a bomb", "send plain JSON without Content-Encoding")
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if takes_json and kind != "application/json":
        return _refuse(415, "not_json", f"a body of type {kind[:40]!r}", "send application/json")
    return None


def _shape_fault(body: bytes | bytearray) -> JSONResponse | None:
    if sum(body.count(mark) for mark in (b'"', b"[", b"{", b"]", b"}")) > 2 * MAX_PARTS:
        return _refuse(422, "too_many_parts", f"a body may have {MAX_PARTS} strings, lists and objects", "send less")
    if depth(body) > MAX_DEPTH:
        return _refuse(422, "too_deep", f"a body may be {MAX_DEPTH} levels deep", "see /docs")
    return None


def _replay(body: bytes, receive: Receive) -> Receive:
    waiting = [body]

    async def replay() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return replay


def _refuse(status: int, code: str, message: str, fix: str) -> JSONResponse:
    return JSONResponse({"error": code, "message": message, "fix": fix, "values": {}}, status_code=status)

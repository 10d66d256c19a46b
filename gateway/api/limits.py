"""Refuses requests before any work is done on them: JSON bodies too large, too slow or too deep; too many at once.

Bytes of inputs and contents are not held in memory: their routes write them to disk as they come, under lids of their own.
"""

import asyncio
import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from threading import Lock

from fastapi import Request
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.packing import DEFLATE, Unpacker

MAX_BODY_BYTES = 1024 * 1024
MAX_BODIES = 64  # that are received or worked on at once
MAX_DEPTH = 32
BODY_WITHIN_S = 30.0
UPLOAD_WITHIN_S = 300.0
MAX_SENDERS = 100_000

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_ALL_BUT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class BodyLimits:
    """ASGI middleware that buffers the body of a POST up to its limit and looks at its shape; PUT passes through.

    Args:
        app: what takes the body.
        within_s: how long a body may take.
    """

    def __init__(self, app: ASGIApp, within_s: float = BODY_WITHIN_S) -> None:
        self._app = app
        self._within_s = within_s
        self._bodies = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        self._bodies += 1
        try:
            await self._passed(scope, receive, send)
        except _GoneError:
            return  # nobody is left to answer
        finally:
            self._bodies -= 1

    async def _passed(self, scope: Scope, receive: Receive, send: Send) -> None:
        buffer = bytearray()
        refusal = _header_fault(Headers(scope=scope)) or await self._fill(buffer, receive)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        await self._app(scope, _replay(bytes(buffer), receive), send)

    async def _fill(self, buffer: bytearray, receive: Receive) -> JSONResponse | None:
        if self._bodies > MAX_BODIES:
            return _refuse(503, "busy", "this gateway is taking in too much at once", "send it again later")
        try:
            async with asyncio.timeout(self._within_s):
                more = True
                while more and len(buffer) <= MAX_BODY_BYTES:
                    message = await receive()
                    if message["type"] != "http.request":
                        raise _GoneError
                    buffer += message.get("body", b"")
                    more = bool(message.get("more_body"))
        except TimeoutError:
            return _refuse(408, "too_slow", f"a body must come within {self._within_s:g} s", "send it again")
        if len(buffer) > MAX_BODY_BYTES:
            return _too_large()
        if depth(buffer) > MAX_DEPTH:
            return _refuse(422, "too_deep", f"a body may be nested {MAX_DEPTH} deep", "send it flatter")
        return None


class _GoneError(Exception):
    """The sender hung up."""


class RateLimit:
    """Token buckets by host; those not seen for longest are forgotten first, so memory is bounded.

    Args:
        monotonic_ms: the clock.
        per_second: tokens a bucket gains a second.
        burst: tokens a full bucket holds.
    """

    def __init__(self, monotonic_ms: Callable[[], int], *, per_second: int, burst: int) -> None:
        self._now = monotonic_ms
        self._per_second, self._burst = per_second, burst
        self._buckets: OrderedDict[str, tuple[int, int]] = OrderedDict()
        self._lock = Lock()

    def take(self, request: Request) -> None:
        """Spends one token of the host a request came from.

        Raises:
            UnavailableError: none is left (HTTP 429).
        """
        host = request.client.host if request.client else ""
        with self._lock:
            now = self._now()
            tokens, before = self._buckets.pop(host, (self._burst * 1000, now))
            tokens = min(self._burst * 1000, tokens + (now - before) * self._per_second)
            enough = tokens >= 1000
            self._buckets[host] = (tokens - 1000 * enough, now)
            if len(self._buckets) > MAX_SENDERS:
                self._buckets.popitem(last=False)
        if not enough:
            raise UnavailableError("too many messages from here", code="rate_limited", retry_after=1)


async def pieces(request: Request, within_s: float = UPLOAD_WITHIN_S) -> AsyncIterator[bytes]:
    """Body of an upload as it comes, unpacked if its sender packed it.

    Raises:
        UnavailableError: it takes too long.
        InvalidInputError: it is packed in a way unknown here, or broken.
    """
    unpacker = _unpacker(request.headers.get("content-encoding", "identity"))
    try:
        async with asyncio.timeout(within_s):
            async for piece in request.stream():
                for part in unpacker.add(piece) if unpacker else (piece,):
                    yield part
        if unpacker:
            unpacker.close()
    except TimeoutError as error:
        raise UnavailableError(f"an upload must come within {within_s:g} s", code="too_slow", retry_after=1) from error


def _unpacker(encoding: str) -> Unpacker | None:
    if encoding not in ("identity", DEFLATE):
        raise InvalidInputError(f"no Content-Encoding {encoding!r}", fix=f"use {DEFLATE}, or none", code="bad_encoding")
    return Unpacker() if encoding == DEFLATE else None


def depth(body: bytes | bytearray) -> int:
    """Deepest nesting of a JSON text, counted outside strings; it need not be valid."""
    deepest = level = 0
    for bracket in _STRING.sub(b"", body).translate(None, _ALL_BUT_BRACKETS):
        level += 1 if bracket in b"[{" else -1
        deepest = max(deepest, level)
    return deepest


def _header_fault(headers: Headers) -> JSONResponse | None:
    declared = headers.get("content-length", "0")
    if not declared.isdecimal() or len(declared) > 12 or int(declared) > MAX_BODY_BYTES:
        return _too_large()
    if headers.get("content-encoding", "identity") != "identity":
        return _refuse(415, "encoded", "a compressed body may be a bomb", "send plain JSON without Content-Encoding")
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        return _refuse(415, "not_json", f"a body of type {kind[:40]!r}", "send application/json")
    return None


def _replay(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _too_large() -> JSONResponse:
    return _refuse(413, "too_large", f"a body may have {MAX_BODY_BYTES} bytes", "send less")


def _refuse(status: int, code: str, message: str, fix: str) -> JSONResponse:
    return JSONResponse({"error": code, "message": message, "fix": fix, "values": {}}, status_code=status)

"""Refuses bodies before any work is done on them: too large, too deep, too often."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from swarm_chain.core.errors import UnavailableError

MAX_BODY_BYTES = 1024 * 1024
MAX_CHECKPOINT_BODY_BYTES = 17 * 1024 * 1024
MAX_DEPTH = 8
MAX_SENDERS = 100_000


class BodyLimits:
    """ASGI middleware that buffers a body up to its limit and checks its depth, so that no parser sees a bomb."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS"):
            await self._app(scope, receive, send)
            return
        limit = MAX_CHECKPOINT_BODY_BYTES if scope["path"].endswith("/checkpoints") else MAX_BODY_BYTES
        body = await _read(scope, receive, limit)
        if body is None:
            await _refuse(413, "too_large", f"a body may have {limit} bytes")(scope, receive, send)
        elif depth(body, MAX_DEPTH + 1) > MAX_DEPTH:
            await _refuse(422, "too_deep", f"a body may be {MAX_DEPTH} levels deep")(scope, receive, send)
        else:
            await self._app(scope, _replay(body), send)


def depth(body: bytes, stop: int) -> int:
    """Deepest nesting of a JSON text, counted outside strings, at most `stop`.

    Args:
        body: raw bytes; need not be valid JSON.
        stop: counting ends there.
    """
    deepest = level = 0
    in_string = escaped = False
    for byte in body:
        if in_string:
            in_string = escaped or byte != 0x22
            escaped = byte == 0x5C and not escaped
        elif byte == 0x22:
            in_string, escaped = True, False
        elif byte in b"[{":
            level += 1
            deepest = max(deepest, level)
            if deepest >= stop:
                return deepest
        elif byte in b"]}":
            level -= 1
    return deepest


@dataclass(slots=True)
class _Bucket:
    tokens: int
    refilled_ms: int


class RateLimit:
    """Token buckets by sender; the least recently seen senders are forgotten first, so memory is bounded."""

    def __init__(self, monotonic_ms: Callable[[], int], *, per_second: int, burst: int) -> None:
        self._now = monotonic_ms
        self._per_second = per_second
        self._burst = burst
        self._buckets: OrderedDict[tuple[str, str], _Bucket] = OrderedDict()

    def take(self, host: str, sender: str) -> None:
        """Spends one token of a sender.

        Args:
            host: network address the message came from, so that nobody can spend another's tokens.
            sender: node the message names.

        Raises:
            UnavailableError: none is left (HTTP 429).
        """
        now = self._now()
        bucket = self._buckets.pop((host, sender), None) or _Bucket(tokens=self._burst * 1000, refilled_ms=now)
        gained = (now - bucket.refilled_ms) * self._per_second
        bucket.tokens = min(self._burst * 1000, bucket.tokens + gained)
        bucket.refilled_ms = now
        self._buckets[host, sender] = bucket
        if len(self._buckets) > MAX_SENDERS:
            self._buckets.popitem(last=False)
        if bucket.tokens < 1000:
            raise UnavailableError("too many messages from this node", code="rate_limited", retry_after=1)
        bucket.tokens -= 1000


async def _read(scope: Scope, receive: Receive, limit: int) -> bytes | None:
    declared = Headers(scope=scope).get("content-length", "0")
    if not declared.isdecimal() or int(declared) > limit:
        return None
    parts, size = [], 0
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            return None
        if not message.get("more_body"):
            return b"".join(parts)


def _replay(body: bytes) -> Receive:
    sent = False

    async def receive() -> Message:
        nonlocal sent
        if sent:
            return {"type": "http.disconnect"}
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def _refuse(status: int, code: str, message: str) -> JSONResponse:
    return JSONResponse({"error": code, "message": message, "fix": "", "values": {}}, status_code=status)

"""Counts what came in: every posted message by kind, as accepted or by the code of its refusal, whoever refused it."""

import json
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

KINDS = {
    "heartbeats": "heartbeat",
    "commitments": "commitment",
    "proofs": "proof",
    "specs": "spec",
    "receipts": "receipt",
    "checkpoints": "checkpoint",
}
MAX_ERROR_BYTES = 64 * 1024


class CountedMessages:
    """ASGI middleware around all others, so that it sees their refusals too.

    Args:
        app: what it wraps.
        count: told (kind, "accepted" or the code of an error).
    """

    def __init__(self, app: ASGIApp, count: Callable[[str, str], None]) -> None:
        self._app = app
        self._count = count

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        kind = KINDS.get(scope["path"].rpartition("/")[2], "other")
        answer = _Answer()

        async def watched(message: Message) -> None:
            answer.note(message)
            await send(message)

        await self._app(scope, receive, watched)
        if answer.status:  # else the sender hung up
            self._count(kind, "accepted" if answer.status < 300 else _code(answer))


class _Answer:
    """Status of an answer, and the beginning of its body if it is an error."""

    def __init__(self) -> None:
        self.status = 0
        self.body = bytearray()

    def note(self, message: Message) -> None:
        """Takes in one message of the answer."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif self.status >= 300 and len(self.body) < MAX_ERROR_BYTES:
            self.body += message.get("body", b"")


def _code(answer: _Answer) -> str:
    try:
        document = json.loads(answer.body)
    except ValueError:
        return f"http_{answer.status}"
    code = document.get("error") if isinstance(document, dict) else None
    return code if isinstance(code, str) else f"http_{answer.status}"

"""How a member serves HTTP: who connects and says nothing holds no place that an honest node needs.

connected --whole head within HEAD_WITHIN_S--> request --answered--> waits for the next head, again for so long
    |
    +--too slow, or the oldest of too many that are silent--> hung up
"""

import asyncio
from collections import OrderedDict

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_CONNECTIONS = 4096
MAX_SILENT = 1024
HEAD_WITHIN_S = 10.0


def http_config(app: ASGIApp, head_within_s: float = HEAD_WITHIN_S) -> uvicorn.Config:
    """Settings of the HTTP server.

    Args:
        app: what answers.
        head_within_s: how long a connection may take from its start, or its last answer, to the end of a request's head.
    """
    return uvicorn.Config(
        app,
        http=_protocol(head_within_s),
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=5,
        limit_concurrency=MAX_CONNECTIONS,
    )


class _Silent:
    """Connections from which a request's head is due, the oldest first."""

    def __init__(self, head_within_s: float) -> None:
        self._within_s = head_within_s
        self._timers: OrderedDict[HttpToolsProtocol, asyncio.TimerHandle] = OrderedDict()

    def expect(self, connection: HttpToolsProtocol) -> None:
        """From now on a head is due."""
        self.heard(connection)
        self._timers[connection] = connection.loop.call_later(self._within_s, connection.transport.close)
        if len(self._timers) > MAX_SILENT:
            oldest, timer = self._timers.popitem(last=False)
            timer.cancel()
            oldest.transport.close()

    def heard(self, connection: HttpToolsProtocol) -> None:
        """A head came, or the connection is gone."""
        timer = self._timers.pop(connection, None)
        if timer is not None:
            timer.cancel()


def _protocol(head_within_s: float) -> type[asyncio.Protocol]:
    silent = _Silent(head_within_s)

    class Prompt(HttpToolsProtocol):
        """uvicorn's own protocol, which waits for a request's head for ever; its hooks are the only place to say no."""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
            super().connection_made(transport)
            silent.expect(self)

        def on_headers_complete(self) -> None:
            silent.heard(self)
            super().on_headers_complete()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if not self.transport.is_closing() and self.cycle.response_complete:
                silent.expect(self)

        def connection_lost(self, exc: Exception | None) -> None:
            silent.heard(self)
            super().connection_lost(exc)

    return Prompt

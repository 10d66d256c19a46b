"""Clients of HTTP applications in this process: no sockets, and one event loop for all of them.

A loop and a thread of its own for every request, as the client has it by default, costs more than the request.
"""

import atexit
from contextlib import ExitStack
from functools import cache

from anyio.from_thread import BlockingPortal, start_blocking_portal
from starlette.testclient import TestClient
from starlette.types import ASGIApp


def client_of(app: ASGIApp) -> TestClient:
    """A client that sees what a caller over the network would: an error nobody foresaw is an answer too."""
    client = TestClient(app, raise_server_exceptions=False)
    client.portal = _shared_loop()
    return client


@cache
def _shared_loop() -> BlockingPortal:
    stack = ExitStack()
    portal = stack.enter_context(start_blocking_portal())
    atexit.register(stack.close)
    return portal

"""`POST /v1/callbacks`: a node learns whether one of its ports is reachable from outside."""

import socket
from time import monotonic_ns

from fastapi import APIRouter, Request

from oracle.api.answers import POSTED, CallbackAnswer, Json, errors
from oracle.api.rates import RateLimit, Turns, host_of
from oracle.pipeline.callbacks import Callbacks, Called, take_callback
from oracle.schemas import CallbackBody
from swarm_chain.web.bodies import signature_bytes
from swarm_chain.web.strict_json import StrictRoute

AT_ONCE = 8  # calls wait for strangers: more of them would keep the threads that serve everybody else
CONNECT_S = 2


class TcpCaller:
    """Caller over TCP. It reads nothing: what answers cannot make it do anything."""

    def call(self, host: str, port: int, line: bytes, /) -> Called:
        """Connects, writes, closes; a few seconds at most."""
        began = monotonic_ns()
        try:
            with socket.create_connection((host, port), timeout=CONNECT_S) as connection:
                elapsed_ms = (monotonic_ns() - began) // 1_000_000
                connection.sendall(line)
        except OSError as error:
            return Called(elapsed_ms=0, problem=error.strerror or type(error).__name__)
        return Called(elapsed_ms=elapsed_ms)


def callback_routes(callbacks: Callbacks, rate: RateLimit) -> APIRouter:
    """The route.

    Args:
        callbacks: the member and what it calls with.
        rate: buckets by host; a node's own name buys no second one, for all of a host's calls go to that host.
    """
    router = APIRouter(prefix="/v1", tags=["nodes"], route_class=StrictRoute)
    turns = Turns(AT_ONCE)

    @router.post("/callbacks", response_model=CallbackAnswer, responses=errors(*POSTED))
    def post_callback(body: CallbackBody, request: Request) -> Json:
        """Connects to the sender's own address and the port it names, writes one line with its nonce, and says how it went."""
        host = host_of(request)
        rate.take(host, "")
        with turns.one():
            called = take_callback(callbacks, body.to_core(), signature_bytes(body.signature), host)
        return {"host": host, "reached": not called.problem, "elapsedMs": called.elapsed_ms, "problem": called.problem}

    return router

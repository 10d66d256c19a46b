"""A serving endpoint from its start to its end: the application on Ray Serve, and the HTTP server before it."""

import logging
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn
from fastapi import FastAPI

from node.serving.batches import Batching, TokenRequest
from node.serving.ingress import TokenSource, create_ingress
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.serving import ServingParams, model_name
from swarm_chain.core.units import Hash32
from swarm_chain.reference.tokenmodel import ModelSizes
from swarm_chain.web.listening import listening

KEPT_MODELS = 2  # of this epoch and the one before
DRAIN_S = 10  # for answers under way
START_S = 10
LISTEN_FIX = "set SWARM_SERVING_HOST and SWARM_SERVING_PORT to an address of this machine and a free port"
NODE_SHARE = 0.001  # of the resource Ray gives each machine: pins the replica to this one


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointOptions:
    """Where an endpoint listens and how it batches; `name` is the application's, unique in the Ray cluster."""

    name: str
    host: str
    port: int
    batching: Batching


class HttpEndpoint:
    """An application over HTTP; listens from its construction until `close`.

    Args:
        listener: from `listening`.
        app: such as `create_ingress` gives.
    """

    def __init__(self, listener: socket.socket, app: FastAPI) -> None:
        self._listener = listener
        config = uvicorn.Config(
            app, access_log=False, log_config=None, lifespan="off", timeout_graceful_shutdown=DRAIN_S, ws="none"
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._listener]}, name="serving", daemon=True
        )
        self._thread.start()
        _wait_until(lambda: self._server.started, START_S)

    @property
    def port(self) -> int:
        """Port it listens on."""
        port: int = self._listener.getsockname()[1]
        return port

    def close(self) -> None:
        """Takes no new connection, lets answers under way end, and stops."""
        self._server.should_exit = True
        self._thread.join(DRAIN_S + 2)
        self._listener.close()


class RayEndpoint:
    """The reference model on Ray Serve behind an HTTP endpoint; Ray must be connected.

    Args:
        options: name, place and batching.
        params: sizes of the model.

    Raises:
        InvalidInputError: it cannot listen there, or Ray Serve is not installed (exit 3).
        UnavailableError: Ray could not start the application.
    """

    def __init__(self, options: EndpointOptions, params: ServingParams) -> None:
        self._name = options.name
        listener = listening(
            options.host, options.port, LISTEN_FIX
        )  # first: nothing is started for a port that is taken
        try:
            self._handle = _deploy(options, params)
        except BaseException:
            listener.close()
            raise
        self._models: OrderedDict[str, Hash32] = OrderedDict()
        self._http = HttpEndpoint(listener, create_ingress(params, self._models, token_source(self._handle)))

    @property
    def port(self) -> int:
        """Port it listens on."""
        return self._http.port

    def serve_model(self, seed: Hash32) -> None:
        """Takes requests for the model of a seed from now on, beside the one before."""
        self._models[model_name(seed)] = seed
        self._models.move_to_end(model_name(seed))
        if len(self._models) > KEPT_MODELS:
            self._models.popitem(last=False)

    def close(self) -> None:
        """Lets answers under way end, then takes the application off the cluster; others' stay."""
        from ray import serve

        self._http.close()
        serve.delete(self._name)


def token_source(handle: Any) -> TokenSource:
    """Tokens of an application on Ray Serve, in chunks.

    Args:
        handle: of its deployment, as `start_application` gave it.
    """

    streamed, whole = handle.options(stream=True, _by_reference=False), whole_source(handle)

    async def tokens(request: TokenRequest) -> AsyncIterator[list[int]]:
        if not request.streamed:
            yield await whole(request)
            return
        with serve_faults():
            async for chunk in streamed.remote(request):
                yield chunk

    return tokens


def whole_source(handle: Any) -> Callable[[TokenRequest], Awaitable[list[int]]]:
    """Whole answers of an application on Ray Serve: all tokens, or the embedding of a request for none.

    Args:
        handle: as for `token_source`.
    """
    # Ray Serve's own gRPC between processes costs half of what an answer through Ray's object store does.
    asked = handle.options(method_name="whole", _by_reference=False)

    async def whole(request: TokenRequest) -> list[int]:
        with serve_faults():
            answer: list[int] = await asked.remote(request)
        return answer

    return whole


@contextmanager
def serve_faults() -> Iterator[None]:
    """Turns what Ray says of a replica into our own words: try again.

    Raises:
        UnavailableError: too many requests, or no replica.
    """
    from grpc.aio import AioRpcError
    from ray.exceptions import RayError
    from ray.serve.exceptions import BackPressureError, RayServeException

    try:
        yield
    except BackPressureError as error:
        raise UnavailableError("too many requests at once", code="busy", retry_after=1) from error
    except (RayError, RayServeException, AioRpcError) as error:
        raise UnavailableError("the model is not there", code="no_replica", retry_after=1) from error


def _deploy(options: EndpointOptions, params: ServingParams) -> Any:
    from ray.util import get_node_ip_address

    address: str = get_node_ip_address()  # type: ignore[no-untyped-call]  # Ray has no types for it
    placed = {"ray_actor_options": {"num_cpus": 0, "resources": {f"node:{address}": NODE_SHARE}}}
    return start_application(options.name, placed, params, options.batching)


def start_application(name: str, placed: Mapping[str, Any], sizes: ModelSizes, batching: Batching) -> Any:
    """Starts replicas of the token model on Ray Serve, without a route: HTTP comes through an ingress of our own.

    Args:
        name: of the application, unique in the cluster.
        placed: Ray Serve's options of the deployment: what a replica reserves, and how many there are.
        sizes: of the models.
        batching: bounds of a batch.

    Returns:
        Ray Serve's handle.

    Raises:
        InvalidInputError: Ray Serve is not installed (exit 3).
        UnavailableError: Ray could not start the application.
    """
    try:
        from ray import serve

        from node.serving.replica import deployment
    except ImportError as error:
        raise InvalidInputError(
            "Ray Serve is not installed",
            fix="pip install 'swarm[node]', or set SWARM_SERVING_RATE=0",
            code="no_serve",
            exit_code=3,
        ) from error
    logging.getLogger("ray.serve").setLevel(logging.WARNING)
    quiet = {"log_level": "WARNING", "enable_access_log": False}
    application = deployment.options(**placed).bind(sizes, batching)
    try:
        serve.start(proxy_location="Disabled", logging_config=quiet)
        return serve.run(application, name=name, route_prefix=None, logging_config=quiet)
    except (RuntimeError, ValueError) as error:
        raise UnavailableError(
            f"Ray Serve did not start: {str(error).splitlines()[0]}", code="serve_failed", fix="run `swarm node doctor`"
        ) from error


def _wait_until(ready: Callable[[], bool], for_s: float) -> None:
    until = time.monotonic() + for_s
    while not ready():
        if time.monotonic() > until:
            raise UnavailableError("the HTTP server did not start", code="serve_failed")
        time.sleep(0.01)

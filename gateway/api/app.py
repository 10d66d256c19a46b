"""The HTTP application of a gateway."""

from fastapi import FastAPI

from gateway.api.jobs import job_routes
from gateway.api.limits import BodyLimits, RateLimit
from gateway.api.nodes import node_routes
from gateway.api.specs import spec_routes
from gateway.service import Gateway
from swarm_chain.web.errors import install_error_handlers

DESCRIPTION = """Jobs of customers on nodes of one Ray cluster. Messages carry their own EIP-712 signature (domain:
ChallengeBeacon); times are chain time; wei are decimal strings. Every error is {"error", "message", "fix", "values"}."""


def create_app(gateway: Gateway) -> FastAPI:
    """The application.

    Args:
        gateway: what it speaks for.
    """
    app = FastAPI(title="Swarm gateway", version="1", description=DESCRIPTION, redoc_url=None)
    app.add_middleware(BodyLimits)
    install_error_handlers(app)
    now = gateway.clock.monotonic_ms
    app.include_router(node_routes(gateway, RateLimit(now, per_second=20, burst=100)))
    app.include_router(spec_routes(gateway, RateLimit(now, per_second=5, burst=100)))
    app.include_router(job_routes(gateway, RateLimit(now, per_second=100, burst=1000)))
    return app

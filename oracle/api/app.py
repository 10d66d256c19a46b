"""The HTTP application of a member."""

from collections.abc import Mapping

from fastapi import FastAPI

from oracle.api.errors import install_error_handlers
from oracle.api.jobs import job_routes, spec_routes
from oracle.api.limits import BodyLimits, RateLimit
from oracle.api.nodes import node_routes
from oracle.api.public import epoch_routes, public_routes
from oracle.pipeline.member import Member
from swarm_chain.core.units import Address

MESSAGES_PER_SECOND = 20
BURST = 60


def create_app(member: Member, contracts: Mapping[str, Address]) -> FastAPI:
    """The application.

    Args:
        member: the member it speaks for.
        contracts: addresses by name, for `/v1/status`.
    """
    app = FastAPI(title="Swarm oracle", version="1", redoc_url=None)
    limit = RateLimit(member.clock.monotonic_ms, per_second=MESSAGES_PER_SECOND, burst=BURST)
    app.add_middleware(BodyLimits)
    install_error_handlers(app)
    app.include_router(public_routes(member, contracts))
    app.include_router(node_routes(member.desk, limit))
    app.include_router(spec_routes(member.desk))
    app.include_router(job_routes(member.desk))
    app.include_router(epoch_routes(member))
    return app

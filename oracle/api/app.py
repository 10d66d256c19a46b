"""The HTTP application of a member."""

from collections.abc import Mapping

from fastapi import Depends, FastAPI, Request

from oracle.api.audits import audit_routes
from oracle.api.benchmarks import benchmark_routes
from oracle.api.callbacks import TcpCaller, callback_routes
from oracle.api.classes import class_routes
from oracle.api.commitments import CommitmentInbox, CommitmentLane
from oracle.api.counting import CountedMessages
from oracle.api.jobs import job_routes, spec_routes
from oracle.api.limits import BodyLimits
from oracle.api.links import link_routes
from oracle.api.nodes import node_routes
from oracle.api.peers import peer_routes
from oracle.api.proven import proven_routes
from oracle.api.public import epoch_routes, public_routes
from oracle.api.rates import RateLimit, Rates
from oracle.api.serving import serving_routes
from oracle.api.transfers import transfer_routes
from oracle.api.volumes import volume_routes
from oracle.pipeline.callbacks import Callbacks, Caller
from oracle.pipeline.member import Member
from swarm_chain.core.units import Address
from swarm_chain.web.errors import install_error_handlers

DESCRIPTION = """What a member of the oracle takes in from nodes and serves to everybody. Node messages carry their own
EIP-712 signature (domain: ChallengeBeacon); times are chain time; wei and large integers are decimal strings.
Every error is {"error", "message", "fix", "values"}."""


_TCP = TcpCaller()


def create_app(member: Member, contracts: Mapping[str, Address], caller: Caller = _TCP) -> FastAPI:
    """The application.

    Args:
        member: the member it speaks for.
        contracts: addresses by name, for `/v1/status`.
        caller: connects to nodes that ask to be called back.
    """

    async def require_acting(request: Request) -> None:
        # What a node says is taken in by the process that acts; it asks another member where this one stands by.
        if request.method == "POST":
            member.keeper.require()

    app = FastAPI(
        title="Swarm oracle",
        version="1",
        description=DESCRIPTION,
        redoc_url=None,
        dependencies=[Depends(require_acting)],
    )
    rates = _rates(member)
    inbox = CommitmentInbox(member.desk, rates.nodes)
    app.add_middleware(CommitmentLane, inbox=inbox, keeper=member.keeper)
    app.add_middleware(BodyLimits, monotonic_ms=member.clock.monotonic_ms)
    app.add_middleware(CountedMessages, count=member.metrics.intake.took)
    install_error_handlers(app)
    app.include_router(node_routes(member.desk, rates, inbox))  # first, because routes are tried in this order
    app.include_router(public_routes(member, contracts))
    app.include_router(spec_routes(member.desk, rates))
    app.include_router(job_routes(member.desk, rates))
    app.include_router(audit_routes(member.auditing, rates.nodes))
    calling = Callbacks(desk=member.desk, member=member.address, caller=caller)
    app.include_router(callback_routes(calling, rates.callbacks))
    app.include_router(volume_routes(member.volumes, rates.blocks, member.keeper.require))
    app.include_router(transfer_routes(member.auditing, rates.nodes))
    app.include_router(serving_routes(member.probing, rates.nodes))
    app.include_router(link_routes(member.linking, rates.nodes))
    app.include_router(peer_routes(member.desk, rates))
    app.include_router(class_routes(member, rates))
    app.include_router(proven_routes(member, rates))
    app.include_router(benchmark_routes(member, rates))
    app.include_router(epoch_routes(member, rates))
    return app


def _rates(member: Member) -> Rates:
    now = member.clock.monotonic_ms
    return Rates(
        nodes=RateLimit(now, per_second=20, burst=60),
        specs=RateLimit(now, per_second=1, burst=20),
        answers=RateLimit(now, per_second=10, burst=40),
        peers=RateLimit(now, per_second=100, burst=400),
        callbacks=RateLimit(now, per_second=1, burst=5),
        benchmarks=RateLimit(now, per_second=1, burst=5),
        blocks=RateLimit(now, per_second=100, burst=400),  # of a MiB each, and their confirmations
    )

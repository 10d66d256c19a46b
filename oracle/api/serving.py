"""Serving: nodes offer an endpoint for an epoch; anybody sees what this member's probes found."""

from fastapi import APIRouter, Request

from oracle.api.answers import POSTED, Answer, Json, NothingAnswer, errors
from oracle.api.rates import RateLimit, host_of
from oracle.pipeline.probes import Probing, take_offer
from oracle.schemas import OfferBody
from oracle.store.serving import Probe, probes_of
from swarm_chain.core.units import Address
from swarm_chain.web.bodies import HexAddress, signature_bytes
from swarm_chain.web.strict_json import StrictRoute

LISTED = 64


class ProbeAnswer(Answer):
    """A probe; times in us from the scheduled moment of a request, at the lowest rate; None: not measured."""

    epoch: int
    claim: int
    outcome: str
    reason: str
    units: int
    error_bps: int | None
    p50_us: int | None
    p95_us: int | None
    p99_us: int | None
    ttft_us: int | None


class ProbesAnswer(Answer):
    """GET /v1/probes/{node}."""

    probes: list[ProbeAnswer]


def serving_routes(probing: Probing, rate: RateLimit) -> APIRouter:
    """Routes of serving.

    Args:
        probing: the member.
        rate: buckets by host and node.
    """
    router = APIRouter(prefix="/v1", tags=["serving"], route_class=StrictRoute)

    @router.post("/offers", status_code=202, response_model=NothingAnswer, responses=errors(*POSTED, 404))
    def post_offer(body: OfferBody, request: Request) -> Json:
        """Takes an offer; the endpoint is probed when this member's turn comes."""
        node = body.offer.node
        rate.take(host_of(request), node if Address(node) in probing.desk.sight().nodes else "")
        take_offer(probing, body.to_core(), signature_bytes(body.signature))
        return {}

    @router.get("/probes/{node}", response_model=ProbesAnswer, responses=errors(429))
    def probes_of_node(node: HexAddress, request: Request) -> Json:
        """The newest probes of a node by this member, and why one proved less than was offered."""
        rate.take(host_of(request), "")
        return {"probes": [_probe(one) for one in probes_of(probing.desk.engine, Address(node), LISTED)]}

    return router


def _probe(probe: Probe) -> Json:
    found = probe.finding
    return {
        "epoch": probe.epoch,
        "claim": probe.claim,
        "outcome": found.outcome.value,
        "reason": found.reason,
        "units": found.units,
        "errorBps": found.error_bps,
        "p50Us": found.p50_us,
        "p95Us": found.p95_us,
        "p99Us": found.p99_us,
        "ttftUs": found.ttft_us,
    }

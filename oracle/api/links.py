"""Links: nodes announce where they answer pings, ask whom to ping, and hand in what pairs of them found."""

from typing import Any

from fastapi import APIRouter, Request

from oracle.api.answers import POSTED, Answer, EpochPath, Json, NothingAnswer, errors
from oracle.api.rates import RateLimit, host_of
from oracle.link_schemas import EndpointBody, LinkBody
from oracle.pipeline.links import Linking, peers_of, take_endpoint, take_link
from swarm_chain.core.messages import signed_endpoint_json, signed_link_json
from swarm_chain.core.units import Address, EpochNumber
from swarm_chain.web.bodies import HexAddress, signature_bytes
from swarm_chain.web.strict_json import StrictRoute


class PeerAnswer(Answer):
    """A drawn peer: where it answers, signed by it, and what is known of the link; null: nothing yet."""

    endpoint: dict[str, Any]
    signature: str
    link: dict[str, Any] | None


class PeersAnswer(Answer):
    """GET /v1/links/{epoch}/peers/{node}."""

    peers: list[PeerAnswer]


def link_routes(linking: Linking, rate: RateLimit) -> APIRouter:
    """Routes of links.

    Args:
        linking: the member.
        rate: buckets by host and node.
    """
    router = APIRouter(prefix="/v1/links", tags=["links"], route_class=StrictRoute)

    def take(request: Request, node: str) -> None:
        rate.take(host_of(request), node if Address(node) in linking.desk.sight().nodes else "")

    @router.post("/endpoints", status_code=202, response_model=NothingAnswer, responses=errors(*POSTED, 404))
    def post_endpoint(body: EndpointBody, request: Request) -> Json:
        """Takes in where a node answers pings in the next epoch."""
        take(request, body.endpoint.node)
        take_endpoint(linking, body.to_core(), signature_bytes(body.signature))
        return {}

    @router.get("/{epoch}/peers/{node}", response_model=PeersAnswer, responses=errors(429, 503))
    def peers_of_node(epoch: EpochPath, node: HexAddress, request: Request) -> Json:
        """Whom a node pings in an epoch; also where one end leaves what it proposes to the other."""
        take(request, node)
        found = peers_of(linking, EpochNumber(epoch), Address(node))
        return {
            "peers": [
                {
                    **signed_endpoint_json(one.peer.endpoint, one.peer.signature),
                    "link": None if one.link is None else signed_link_json(one.link),
                }
                for one in found
            ]
        }

    @router.post("", status_code=202, response_model=NothingAnswer, responses=errors(*POSTED, 404))
    def post_link(body: LinkBody, request: Request) -> Json:
        """Takes in a report of a drawn pair: proposed by its first end, or signed by both."""
        take(request, body.report.first)
        take_link(linking, body.to_core())
        return {}

    return router

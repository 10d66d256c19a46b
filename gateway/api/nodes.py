"""Routes of the gateway itself and of nodes."""

from fastapi import APIRouter, Request

from gateway.api.limits import RateLimit
from gateway.api.schemas import AnnouncementBody
from gateway.desk import candidates_now, take_announcement
from gateway.model import Candidate
from gateway.planning import assignments_of
from gateway.service import Gateway
from swarm_chain.core.gateway import announcement_json
from swarm_chain.core.messages import Json
from swarm_chain.core.units import Address
from swarm_chain.web.bodies import HexAddress, signature_bytes
from swarm_chain.web.strict_json import StrictRoute


def node_routes(gateway: Gateway, rates: RateLimit) -> APIRouter:
    """Who this gateway is, which nodes it has, and what they should accept.

    Args:
        gateway: what it speaks for.
        rates: buckets by host.
    """
    router = APIRouter(prefix="/v1", tags=["nodes"], route_class=StrictRoute)
    desk = gateway.desk

    @router.get("/gateway")
    def who() -> Json:
        """Address whose signature receipts need, and terms."""
        return {
            "address": desk.signer.address,
            "chainId": gateway.chain_id,
            "rayAddress": gateway.ray_address,
            "feeBps": desk.terms.fee_bps,
            "minPriceWei": str(desk.terms.min_price_wei),
        }

    @router.post("/nodes")
    def announce(body: AnnouncementBody, request: Request) -> Json:
        """What a node offers, signed by it; said again before it expires."""
        rates.take(request)
        take_announcement(desk, body.announcement.to_core(), signature_bytes(body.signature))
        return {"rayAddress": gateway.ray_address}

    @router.get("/nodes")
    def nodes() -> list[Json]:
        """Announced nodes that may be given jobs."""
        return [_shown(one) for one in candidates_now(desk)]

    @router.get("/nodes/{node}/assignments")
    def assignments(node: HexAddress) -> list[Json]:
        """Posted jobs a node should accept."""
        return assignments_of(desk, Address(node))

    return router


def _shown(one: Candidate) -> Json:
    said = announcement_json(one.announcement)
    return {
        "node": one.node,
        "provider": one.provider,
        "region": one.region,
        "hardwareClass": int(one.hardware_class),
        **{name: said[name] for name in ("cpus", "gpus", "memoryMb", "diskMb", "priceWei", "expiresAt")},
        "jobs": one.jobs,
        "measured": dict(one.measured),
    }

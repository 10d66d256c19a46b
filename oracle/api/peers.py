"""What members ask of each other. All of it is public: it will be in the bundle, and every message carries a signature."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from pydantic import Field, Strict

from oracle.api.answers import POSTED, EpochPath, errors, raw
from oracle.api.rates import Rates, host_of
from oracle.pipeline.desk import Desk
from oracle.pipeline.exchange import NAMES_AT_ONCE
from oracle.pipeline.holding import evidence_of, inventory_of, rooted_commitments
from oracle.publish.exchange import Evidence, evidence_bytes, inventory_json, parse_inventory
from swarm_chain.core.encoding import canonical_json
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import EpochNumber
from swarm_chain.web.bodies import Body, HexAddress, HexHash, Uint53
from swarm_chain.web.strict_json import StrictRoute

WindowPath = Annotated[int, Path(ge=0, lt=2**53, description="Window id.")]
DeviceNumber = Annotated[int, Field(ge=0, lt=64)]
JSON = "application/json"
_ROW = Strict(False)  # JSON has lists only; what is in them stays strict


CommitmentName = Annotated[tuple[Uint53, HexHash, HexAddress, DeviceNumber, HexHash], _ROW]
ProofName = Annotated[tuple[Uint53, HexAddress, DeviceNumber], _ROW]
ReceiptName = Annotated[tuple[Uint53, HexHash], _ROW]
ObservationName = Annotated[tuple[HexAddress, HexHash], _ROW]


class InventoryBody(Body):
    """Names of signed messages, as `GET /v1/epochs/{epoch}/evidence` lists them."""

    commitments: Annotated[list[CommitmentName], Field(max_length=NAMES_AT_ONCE)]
    proofs: Annotated[list[ProofName], Field(max_length=NAMES_AT_ONCE)]
    receipts: Annotated[list[ReceiptName], Field(max_length=NAMES_AT_ONCE)]
    observations: Annotated[list[ObservationName], Field(max_length=NAMES_AT_ONCE)]


def peer_routes(desk: Desk, rates: Rates) -> APIRouter:
    """Routes for other members.

    Args:
        desk: whose evidence is shown.
        rates: listing costs work, so each host only so often.
    """
    router = APIRouter(prefix="/v1", tags=["members"], route_class=StrictRoute)

    @router.get("/epochs/{epoch}/evidence", response_class=Response, responses=errors(429, 503) | raw(JSON, "Names."))
    def inventory(epoch: EpochPath, request: Request) -> Response:
        """Names of the signed messages this member holds of an epoch."""
        rates.peers.take(host_of(request), "")
        return _canonical(canonical_json(inventory_json(inventory_of(desk, EpochNumber(epoch)))))

    @router.post("/epochs/{epoch}/evidence", response_class=Response, responses=_POSTED | raw(JSON, "Signed messages."))
    def messages(epoch: EpochPath, body: InventoryBody, request: Request) -> Response:
        """The signed messages of some names; those not held are left out."""
        rates.peers.take(host_of(request), "")
        wanted = parse_inventory(canonical_json(body.model_dump(mode="json")))
        return _canonical(evidence_bytes(evidence_of(desk, EpochNumber(epoch), wanted)))

    @router.get(
        "/windows/{window}/commitments",
        response_class=Response,
        responses=errors(404, 429, 503) | raw(JSON, "Signed commitments, in the order of the root's leaves."),
    )
    def commitments(window: WindowPath, request: Request) -> Response:
        """The commitments a closed window's root was made of."""
        rates.peers.take(host_of(request), "")
        record = next((w for w in desk.sight().state.windows if w.window_id == window), None)
        rooted = None if record is None else rooted_commitments(desk, record)
        if rooted is None:
            raise InvalidInputError(f"the commitments of window {window} are not here", code="unknown_document")
        return _canonical(evidence_bytes(Evidence(commitments=rooted)))

    return router


def _canonical(content: bytes) -> Response:
    return Response(content, media_type=JSON)


_POSTED = errors(*POSTED)

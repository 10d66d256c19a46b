"""Volumes: a node asks for what it is to keep, fetches blocks, and confirms what is on its disk."""

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Request, Response

from oracle.api.answers import POSTED, Json, VolumeAnswer, VolumesAnswer, errors, raw
from oracle.api.rates import RateLimit, Turns, host_of
from oracle.pipeline.volumes import Volumes, left_to_send, take_blocks, take_confirmation, take_opening
from oracle.schemas import ConfirmationBody, VolumeRequestBody
from oracle.store.volumes import KeptVolume, volumes_of
from swarm_chain.core.encoding import hash_from_hex, to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import Address
from swarm_chain.core.volumes import MAX_SENT_AT_ONCE, BlocksRequest
from swarm_chain.web.bodies import HexAddress, HexHash, HexSignature, signature_bytes
from swarm_chain.web.strict_json import StrictRoute

LISTED = 64
AT_ONCE = 8  # answers of a MiB under way, that is what they take of memory
BYTES = "application/octet-stream"

First = Annotated[int, Query(ge=0, lt=2**40, description="Number of the first block.")]
Count = Annotated[int, Query(ge=1, le=MAX_SENT_AT_ONCE, description="Number of blocks.")]
Signed = Annotated[HexSignature, Header(description="The node's signature over BlocksRequest.")]


def volume_routes(volumes: Volumes, rate: RateLimit, require_acting: Callable[[], object]) -> APIRouter:
    """Routes of volumes.

    Args:
        volumes: the member.
        rate: buckets by host and node.
        require_acting: raises where another process acts for this member: what is sent must be booked.
    """
    router = APIRouter(prefix="/v1/volumes", tags=["volumes"], route_class=StrictRoute)
    _add_blocks(router, volumes, rate, require_acting)

    @router.post("", response_model=VolumeAnswer, responses=errors(*POSTED))
    def post_request(body: VolumeRequestBody, request: Request) -> Json:
        """The node's volume, opened if it has none; the same request gets the same answer."""
        node = Address(body.request.node)
        rate.take(host_of(request), node if node in volumes.desk.sight().nodes else "")
        return _volume(volumes, take_opening(volumes, body.to_core(), signature_bytes(body.signature)))

    @router.get("/{node}", response_model=VolumesAnswer, responses=errors(429))
    def volumes_of_node(node: HexAddress, request: Request) -> Json:
        """Volumes this member gave a node, newest first; of a retired one the key that anyone can repeat its audits with."""
        rate.take(host_of(request), "")
        return {"volumes": [_volume(volumes, one) for one in volumes_of(volumes.desk.engine, Address(node), LISTED)]}

    @router.post("/{volume_id}/confirmations", response_model=VolumeAnswer, responses=errors(*POSTED, 404))
    def post_confirmation(volume_id: HexHash, body: ConfirmationBody, request: Request) -> Json:
        """So many blocks are on the node's disk: audits cover them from now on, and they are never sent again."""
        rate.take(host_of(request), "")
        if body.confirmation.volume != volume_id:
            raise InvalidInputError("path and body name different volumes", fix="name the same one", code="bad_volume")
        return _volume(volumes, take_confirmation(volumes, body.to_core(), signature_bytes(body.signature)))

    return router


def _add_blocks(router: APIRouter, volumes: Volumes, rate: RateLimit, require_acting: Callable[[], object]) -> None:
    turns = Turns(AT_ONCE)

    @router.get(
        "/{volume_id}/blocks",
        response_class=Response,
        responses={**errors(404, 429, 503), **raw(BYTES, "count blocks of 4096 bytes.")},
    )
    def get_blocks(
        volume_id: Annotated[HexHash, Path()], first: First, count: Count, swarm_signature: Signed, request: Request
    ) -> Response:
        """Blocks that are not confirmed yet, made when they are asked for."""
        require_acting()
        rate.take(host_of(request), "")
        wanted = BlocksRequest(volume_id=hash_from_hex(volume_id), first=first, count=count)
        with turns.one():
            content = take_blocks(volumes, wanted, signature_bytes(swarm_signature))
        return Response(content, media_type=BYTES)


def _volume(volumes: Volumes, kept: KeptVolume) -> Json:
    return {
        "volumeId": to_hex(kept.volume_id),
        "member": kept.member,
        "node": kept.node,
        "epoch": kept.epoch,
        "index": kept.number,
        "keyHash": to_hex(kept.key_hash),
        "confirmed": kept.ledger.confirmed,
        "sent": kept.ledger.sent,
        "left": left_to_send(volumes, kept),
        "retired": kept.retired,
        "key": None if kept.key is None else to_hex(kept.key),
    }

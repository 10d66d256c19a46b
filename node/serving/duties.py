"""Carries out what `serving_steps` asks for."""

import structlog

from node.memory import Memory
from node.model import OfferServing, View
from node.tools import Tools
from swarm_chain.core.serving import ServingOffer, model_seed, offer_hash

log = structlog.get_logger()


def offer_serving(tools: Tools, memory: Memory, view: View, action: OfferServing) -> None:
    """Serves the epoch's model beside the one before, and tells a member where and how fast.

    Raises:
        SwarmError: the member is away, or refuses.
    """
    serving = tools.serving
    if serving is None:
        return
    serving.endpoint.serve_model(model_seed(tools.deployment.chain_id, tools.beacon, action.epoch, action.epoch_seed))
    offers = serving.members[action.member]
    offer = ServingOffer(
        epoch=action.epoch,
        node=tools.node,
        url=serving.url,
        rate=serving.rate,
        issued_at=view.block.timestamp,
        member=offers.address(),
    )
    offers.offer(offer, tools.signer.sign_typed(tools.domain, offer_hash(offer)))
    memory.offered.add((action.epoch, action.member))
    log.info("serving_offered", epoch=action.epoch, member=action.member, url=serving.url, rate=serving.rate)

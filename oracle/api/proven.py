"""`GET /v1/proven/{node}`: what the newest accepted report proves of a node, whatever the node says of itself."""

from fastapi import APIRouter, Request
from pydantic import Field

from oracle.api.answers import Answer, Json, errors
from oracle.api.classes import newest_report
from oracle.api.rates import Rates, Turns, host_of
from oracle.pipeline.member import Member
from oracle.publish.classes import proven_of
from swarm_chain.core.units import Address
from swarm_chain.web.bodies import HexAddress


class ProvenAnswer(Answer):
    """What the network measured of a node."""

    epoch: int = Field(description="Of the newest accepted report.")
    units: dict[str, int] = Field(description="By category, in its unit; one that is missing was not proven.")


def proven_routes(member: Member, rates: Rates) -> APIRouter:
    """The route.

    Args:
        member: whose published epochs are read.
        rates: buckets by host.
    """
    router = APIRouter(prefix="/v1/proven", tags=["public"])
    turns = Turns(1)  # reading a large epoch's verdicts takes a while, making them again after a restart much longer

    @router.get("/{node}", response_model=ProvenAnswer, responses=errors(404, 429, 503))
    def proven_of_node(node: HexAddress, request: Request) -> Json:
        """What the newest accepted report proves of a node, by category; nothing of a node it does not know."""
        rates.answers.take(host_of(request), "")
        with turns.one():
            return proven_json(member, Address(node))

    return router


def proven_json(member: Member, node: Address) -> Json:
    """Epoch and units by category of a node.

    Args:
        member: whose published epochs are read.
        node: address of its key.

    Raises:
        UnavailableError: no report was accepted yet.
        InvalidInputError: this member did not publish the newest one.
    """
    facts = newest_report(member).facts
    units = {category.value: units for category, units in proven_of(node, facts).items()}
    return {"epoch": facts.epoch, "units": units}

"""What oracle members proved of this node in the newest accepted report; asked once, before it joins a gateway's cluster.

members --GET /v1/proven/{node}--> units by category of each --lower middle--> units that become labels (node.cluster)
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from types import MappingProxyType

import structlog

from node.oracle_client import JsonHttp
from node.wire import parse_proven
from swarm_chain.core.errors import SwarmError
from swarm_chain.core.kinds import Category
from swarm_chain.core.units import Address

log = structlog.get_logger()

Get = Callable[[str], Mapping[str, object]]


def proven_units(urls: Sequence[str], node: Address) -> Mapping[Category, int]:
    """What members at these URLs proved of a node.

    Args:
        urls: their bases.
        node: address of the node key.

    Returns:
        As `ask_proven`.
    """
    with ExitStack() as stack:
        return ask_proven({url: stack.enter_context(closing(JsonHttp(url))).get for url in urls}, node)


def ask_proven(members: Mapping[str, Get], node: Address) -> Mapping[Category, int]:
    """Asks every member what the newest accepted report proves of a node; who cannot say has no say.

    Args:
        members: JSON object at a path of each; raises SwarmError.
        node: address of the node key.

    Returns:
        Units above zero by category, of each the lower middle of what they say, as gateways take it; empty if none says.
    """
    said = []
    for name, get in members.items():
        try:
            said.append(parse_proven(get(f"/v1/proven/{node}")))
        except SwarmError as error:
            log.info("proven_not_told", member=name, code=error.code, reason=error.message)
    if not said:
        log.warning("labels_not_measured", node=node, reason="no member says what it proved", members=sorted(members))
    return MappingProxyType(_middle(said))


def _middle(said: Sequence[Mapping[Category, int]]) -> dict[Category, int]:
    found = {
        category: sorted(one.get(category, 0) for one in said)[(len(said) - 1) // 2] for category in Category if said
    }
    return {category: units for category, units in found.items() if units}

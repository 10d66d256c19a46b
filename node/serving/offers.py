"""What an agent serves with: the endpoint, and the members it is offered to."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Protocol

from node.audits.claims import ClaimGrounds
from node.config import NodeSettings
from node.oracle_client import HttpOracleAudits, JsonHttp
from node.serving.batches import Batching
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.serving import ServingOffer, require_endpoint, require_rate
from swarm_chain.core.units import Address, Hash32, Signature


class Endpoint(Protocol):
    """Something that serves models over HTTP."""

    def serve_model(self, seed: Hash32) -> None:
        """Takes requests for the model of a seed, beside the one before."""
        ...

    def close(self) -> None:
        """Lets answers under way end, and stops."""
        ...


class OracleOffers(Protocol):
    """How one oracle member takes offers."""

    def address(self) -> Address:
        """The member's; UnavailableError if it has no key."""
        ...

    def offer(self, offer: ServingOffer, signature: Signature) -> None:
        """Hands in an offer; can be done again."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """An endpoint as it is offered: where, at which rate, requests/s, and to whom, by name."""

    endpoint: Endpoint
    url: str
    rate: int
    members: Mapping[str, OracleOffers]


class HttpOracleOffers:
    """OracleOffers over HTTP."""

    def __init__(self, http: JsonHttp) -> None:
        self._http = http

    def address(self) -> Address:
        """The member's address."""
        return HttpOracleAudits(self._http).address()

    def offer(self, offer: ServingOffer, signature: Signature) -> None:
        """Hands in an offer."""
        fields = {
            "epoch": offer.epoch,
            "node": offer.node,
            "url": offer.url,
            "rate": offer.rate,
            "issuedAt": offer.issued_at,
            "member": offer.member,
        }
        self._http.post("/v1/offers", {"offer": fields, "signature": to_hex(signature)})


def started_serving(grounds: ClaimGrounds, stack: ExitStack) -> Serving | None:
    """Starts serving if the settings claim a rate; Ray must be connected.

    Args:
        grounds: settings, node and params.
        stack: closes what was started.

    Raises:
        InvalidInputError: the rate or the URL cannot be offered, it cannot listen, or Ray Serve is missing (exit 3).
        UnavailableError: Ray Serve does not start.
    """
    settings, params = grounds.settings, grounds.params.serving
    if not settings.serving_rate:
        return None
    require_rate(params, settings.serving_rate)
    if settings.serving_url:
        require_endpoint(settings.serving_url, private=bool(params.private_hosts))
    from node.serving.endpoint import EndpointOptions, RayEndpoint

    options = EndpointOptions(
        name=f"swarm-{grounds.node.lower()}",
        host=settings.serving_host,
        port=settings.serving_port,
        batching=Batching(max_batch_size=settings.serving_batch),
    )
    endpoint = RayEndpoint(options, params)
    stack.callback(endpoint.close)
    url = settings.serving_url or _url(settings, endpoint.port)
    require_endpoint(url, private=bool(params.private_hosts))
    return Serving(endpoint=endpoint, url=url, rate=settings.serving_rate, members=_members(settings, stack))


def _members(settings: NodeSettings, stack: ExitStack) -> Mapping[str, OracleOffers]:
    members = {}
    for url in settings.oracle_urls:
        http = JsonHttp(url)
        stack.callback(http.close)
        members[url] = HttpOracleOffers(http)
    return members


def _url(settings: NodeSettings, port: int) -> str:
    host = f"[{settings.serving_host}]" if ":" in settings.serving_host else settings.serving_host
    return f"http://{host}:{port}"

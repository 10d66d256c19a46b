"""What members say of this node's links, and how it talks to them: over HTTP, strictly read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from node.oracle_client import HttpOracleAudits, JsonHttp
from swarm_chain.core.encoding import address_bytes, checksum_address
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.links import LinkReport, SignedLink
from swarm_chain.core.messages import signed_endpoint_json, signed_link_json
from swarm_chain.core.pings import MAX_HOST, LinkEndpoint
from swarm_chain.core.units import Address, EpochNumber, Signature, Timestamp

MAX_PEERS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkPeer:
    """A drawn peer as one member tells: where it answers, signed by it, and what is known of the link."""

    endpoint: LinkEndpoint
    signature: Signature
    link: SignedLink | None


class OracleLinks(Protocol):
    """How one oracle member takes part in links."""

    def address(self) -> Address:
        """The member's, which it pings with; UnavailableError if it has no key."""
        ...

    def announce(self, endpoint: LinkEndpoint, signature: Signature) -> None:
        """Says where this node answers pings in the next epoch; can be said again."""
        ...

    def peers(self, epoch: EpochNumber, node: Address) -> tuple[LinkPeer, ...]:
        """Whom the node pings in an epoch; UnavailableError before its seed is known."""
        ...

    def report(self, signed: SignedLink) -> None:
        """Hands in a proposal, or what both ends signed; can be done again."""
        ...


class HttpOracleLinks:
    """OracleLinks over HTTP."""

    def __init__(self, http: JsonHttp) -> None:
        self._http = http

    def address(self) -> Address:
        """The member's address."""
        return HttpOracleAudits(self._http).address()

    def announce(self, endpoint: LinkEndpoint, signature: Signature) -> None:
        """Says where this node answers pings in the next epoch."""
        self._http.post("/v1/links/endpoints", signed_endpoint_json(endpoint, signature))

    def peers(self, epoch: EpochNumber, node: Address) -> tuple[LinkPeer, ...]:
        """Whom the node pings in an epoch."""
        return parse_peers(self._http.get(f"/v1/links/{epoch}/peers/{node}"))

    def report(self, signed: SignedLink) -> None:
        """Hands in a proposal, or what both ends signed."""
        self._http.post("/v1/links", signed_link_json(signed))


def parse_peers(answer: Mapping[str, object]) -> tuple[LinkPeer, ...]:
    """Peers of GET /v1/links/{epoch}/peers/{node}; who signed what is not checked here.

    Raises:
        UnavailableError: the member's answer is none.
    """
    try:
        return tuple(_peer(one) for one in _Peers.model_validate(answer).peers)
    except (ValidationError, InvalidInputError) as error:
        raise UnavailableError(
            "the member's answer has no proper peers",
            fix="check that its version fits this node's",
            code="bad_answer",
        ) from error


class _Fields(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, alias_generator=to_camel)


_Number = Annotated[int, Field(ge=0, lt=2**53)]
_Hex = Annotated[str, Field(pattern=r"^0x[0-9a-f]{130}$")]
_Node = Annotated[str, Field(pattern=r"^0x[0-9a-fA-F]{40}$")]


class _Endpoint(_Fields):
    epoch: _Number
    node: _Node
    host: Annotated[str, Field(max_length=MAX_HOST)]
    port: _Number
    issued_at: _Number


class _Report(_Fields):
    epoch: _Number
    first: _Node
    second: _Node
    rtt_us: _Number
    jitter_us: _Number
    loss_ppm: _Number
    throughput_mbps: _Number | None


class _Link(_Fields):
    report: _Report
    first_signature: _Hex
    second_signature: _Hex | None


class _Peer(_Fields):
    endpoint: _Endpoint
    signature: _Hex
    link: _Link | None


class _Peers(_Fields):
    peers: Annotated[list[_Peer], Field(max_length=MAX_PEERS)]


def _peer(one: _Peer) -> LinkPeer:
    e = one.endpoint
    endpoint = LinkEndpoint(
        epoch=EpochNumber(e.epoch),
        node=_address(e.node),
        host=e.host,
        port=e.port,
        issued_at=Timestamp(e.issued_at),
    )
    return LinkPeer(
        endpoint=endpoint, signature=_signature(one.signature), link=None if one.link is None else _link(one.link)
    )


def _link(one: _Link) -> SignedLink:
    r = one.report
    report = LinkReport(
        epoch=EpochNumber(r.epoch),
        first=_address(r.first),
        second=_address(r.second),
        rtt_us=r.rtt_us,
        jitter_us=r.jitter_us,
        loss_ppm=r.loss_ppm,
        throughput_mbps=r.throughput_mbps,
    )
    second = None if one.second_signature is None else _signature(one.second_signature)
    return SignedLink(report=report, first=_signature(one.first_signature), second=second)


def _address(text: str) -> Address:
    return checksum_address(address_bytes(Address(text)))


def _signature(text: str) -> Signature:
    return Signature(bytes.fromhex(text[2:]))

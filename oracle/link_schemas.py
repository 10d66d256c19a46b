"""Shapes of the HTTP bodies of links; as strict as all others."""

from typing import Annotated

from pydantic import Field, StringConstraints

from swarm_chain.core.links import LinkReport, SignedLink
from swarm_chain.core.pings import MAX_HOST, LinkEndpoint
from swarm_chain.core.units import Address, EpochNumber, Timestamp
from swarm_chain.web.bodies import Body, HexAddress, HexSignature, Uint32, Uint53, signature_bytes


class EndpointFields(Body):
    """LinkEndpoint."""

    epoch: Uint32
    node: HexAddress
    host: Annotated[str, StringConstraints(max_length=MAX_HOST)]
    port: Annotated[int, Field(ge=0, lt=2**16)]
    issued_at: Uint53


class EndpointBody(Body):
    """POST /v1/links/endpoints."""

    endpoint: EndpointFields
    signature: HexSignature

    def to_core(self) -> LinkEndpoint:
        """The core value of this body."""
        e = self.endpoint
        return LinkEndpoint(
            epoch=EpochNumber(e.epoch),
            node=Address(e.node),
            host=e.host,
            port=e.port,
            issued_at=Timestamp(e.issued_at),
        )


class LinkFields(Body):
    """LinkReport."""

    epoch: Uint32
    first: HexAddress
    second: HexAddress
    rtt_us: Uint32
    jitter_us: Uint32
    loss_ppm: Uint32
    throughput_mbps: Uint32 | None


class LinkBody(Body):
    """POST /v1/links; without the second signature it is a proposal."""

    report: LinkFields
    first_signature: HexSignature
    second_signature: HexSignature | None

    def to_core(self) -> SignedLink:
        """The core value of this body; InvalidInputError outside its bounds."""
        r = self.report
        report = LinkReport(
            epoch=EpochNumber(r.epoch),
            first=Address(r.first),
            second=Address(r.second),
            rtt_us=r.rtt_us,
            jitter_us=r.jitter_us,
            loss_ppm=r.loss_ppm,
            throughput_mbps=r.throughput_mbps,
        )
        second = None if self.second_signature is None else signature_bytes(self.second_signature)
        return SignedLink(report=report, first=signature_bytes(self.first_signature), second=second)

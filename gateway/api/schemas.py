"""Bodies and headers as they arrive: nothing is converted, nothing unknown is accepted."""

from typing import Annotated, Any

from fastapi import Header, Path, Query
from pydantic import Field, StringConstraints

from swarm_chain.core.checkpoints import MAX_CHECKPOINTS
from swarm_chain.core.encoding import hash_from_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.gateway import (
    CUSTOMER_HEADER,
    ISSUED_AT_HEADER,
    MAX_REGION,
    NODE_HEADER,
    SIGNATURE_HEADER,
    NodeAnnouncement,
)
from swarm_chain.core.kinds import HardwareClass
from swarm_chain.core.model import Receipt
from swarm_chain.core.units import Address, Hash32, Timestamp, Wei
from swarm_chain.web.bodies import Body, HexAddress, HexHash, HexSignature, ReceiptFields, Uint32, Uint53

WeiText = Annotated[str, StringConstraints(pattern=r"^(0|[1-9][0-9]{0,38})$")]

JobPath = Annotated[int, Path(ge=1, lt=2**53, description="Job id of JobEscrow.")]
IndexPath = Annotated[int, Path(ge=0, lt=MAX_CHECKPOINTS, description="Number of a content.")]
OffsetQuery = Annotated[int, Query(ge=0, lt=2**53, description="Byte of the log to begin at.")]
NodeHeader = Annotated[HexAddress, Header(alias=NODE_HEADER)]
CustomerHeader = Annotated[HexAddress, Header(alias=CUSTOMER_HEADER)]
IssuedAtHeader = Annotated[int, Header(alias=ISSUED_AT_HEADER, ge=0, lt=2**53)]
SignatureHeader = Annotated[HexSignature, Header(alias=SIGNATURE_HEADER)]


class AnnouncementFields(Body):
    """NodeAnnouncement."""

    node: HexAddress
    region: Annotated[str, StringConstraints(min_length=1, max_length=MAX_REGION)]
    hardware_class: Annotated[int, Field(ge=1, le=len(HardwareClass))]
    cpus: Uint32
    gpus: Uint32
    memory_mb: Uint53
    disk_mb: Uint53
    price_wei: WeiText
    issued_at: Uint53
    expires_at: Uint53

    def to_core(self) -> NodeAnnouncement:
        """The core value of these fields.

        Raises:
            InvalidInputError: a field is out of range.
        """
        return NodeAnnouncement(
            node=Address(self.node),
            region=self.region,
            hardware_class=HardwareClass(self.hardware_class),
            cpus=self.cpus,
            gpus=self.gpus,
            memory_mb=self.memory_mb,
            disk_mb=self.disk_mb,
            price_wei=Wei(int(self.price_wei)),
            issued_at=Timestamp(self.issued_at),
            expires_at=Timestamp(self.expires_at),
        )


class AnnouncementBody(Body):
    """POST /v1/nodes."""

    announcement: AnnouncementFields
    signature: HexSignature


class SpecBody(Body):
    """POST /v1/plans and /v1/specs; the spec itself is checked by its program."""

    spec: dict[str, Any]


class LogBody(Body):
    """POST /v1/jobs/{id}/log."""

    node: HexAddress
    offset: Uint53
    text: str
    issued_at: Uint53
    signature: HexSignature


class ReceiptBody(Body):
    """POST /v1/jobs/{id}/receipts."""

    receipt: ReceiptFields
    signature: HexSignature
    checkpoints: Annotated[list[HexHash], Field(max_length=MAX_CHECKPOINTS)]

    def content_hashes(self) -> tuple[Hash32, ...]:
        """Hashes of all contents, in order."""
        return tuple(map(hash_from_hex, self.checkpoints))


def receipt_of_job(body: ReceiptBody, job_id: int) -> Receipt:
    """The receipt of a body.

    Raises:
        InvalidInputError: it is another job's.
    """
    receipt = body.receipt.to_core()
    if receipt.job_id != job_id:
        raise InvalidInputError(f"the receipt is not for job {job_id}", code="wrong_receipt")
    return receipt

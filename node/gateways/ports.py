"""One gateway by its two sides, and what goes there. Every message can be sent again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from node.gateway_model import Errand, Offer
from node.gateways.blobs import BlobCache
from node.model import SignedReceipt
from swarm_chain.core.errors import SwarmError
from swarm_chain.core.gateway import JobContent, JobLog, NodeAnnouncement
from swarm_chain.core.units import Address, Hash32, JobId, Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentUpload:
    """A content of a job with the node key's signature over its JobContent."""

    said: JobContent
    content: bytes
    signature: Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class LogUpload:
    """The next text of a job's log with the node key's signature over its JobLog."""

    said: JobLog
    text: str
    signature: Signature


class GatewayDesk(Protocol):
    """Where a gateway and a node find each other. Every method raises UnavailableError while the gateway is away."""

    def address(self) -> Address:
        """The gateway's: whose signature receipts need."""
        ...

    def announce(self, announcement: NodeAnnouncement, signature: Signature) -> None:
        """Says what this node offers."""
        ...

    def assignments(self, node: Address) -> tuple[JobId, ...]:
        """Posted jobs a node should accept."""
        ...


class GatewayInbox(Protocol):
    """What a gateway gives and takes of a job; UnavailableError while it is away."""

    def blob(self, content: Hash32, most: int) -> bytes:
        """An input of at most `most` bytes, checked against its hash. InvalidInputError: it has none, or a larger one."""
        ...

    def content(self, upload: ContentUpload) -> None:
        """Hands in a content."""
        ...

    def log(self, upload: LogUpload) -> int:
        """Hands in a piece of the log; gives how many bytes of it the gateway has now."""
        ...

    def receipt(self, signed: SignedReceipt) -> Signature:
        """Hands in a receipt; gives the gateway's signature, unchecked. RejectedError: it does not sign, and says why."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """One gateway."""

    desk: GatewayDesk
    inbox: GatewayInbox


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedErrand:
    """What came of an errand: what its work found, or the error."""

    errand: Errand
    found: object = None
    error: SwarmError | None = None


class Courier(Protocol):
    """Runs errands beside the agent, so that no slow gateway keeps it from its windows."""

    @property
    def busy(self) -> frozenset[Errand]:
        """What is under way."""
        ...

    def start(self, errand: Errand, work: Callable[[], object]) -> None:
        """Begins and returns at once."""
        ...

    def finished(self) -> tuple[FinishedErrand, ...]:
        """What ended since the last call."""
        ...

    def close(self) -> None:
        """Begins nothing more."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateways:
    """The gateways this node works for, by URL; what it offers them; inputs at hand; folder of its jobs."""

    known: Mapping[str, Gateway]
    courier: Courier
    offer: Offer
    inputs: BlobCache
    jobs: Path

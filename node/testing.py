"""Stand-ins for what is around a node, shipped so that whoever builds on the ports can test without a GPU or a gateway."""

from collections.abc import Callable
from dataclasses import dataclass, field

from node.gateway_model import Errand
from node.gateways.ports import ContentUpload, FinishedErrand, LogUpload
from node.inventory import Gpu, GpuErrors, GpuFacts, GpuProcess
from node.model import SignedReceipt
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError, RejectedError, SwarmError, UnavailableError
from swarm_chain.core.gateway import NodeAnnouncement, announcement_digest, content_upload_digest, log_digest
from swarm_chain.core.signing import receipt_digest, receipt_hash, require_signed_by
from swarm_chain.core.units import Address, Hash32, JobId, Signature
from swarm_chain.ports import Signer


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedGpus:
    """GpuReader on values that were written down; a GPU with a `fault` tells its facts and then no longer answers.

    `away` is why the driver itself does not answer, empty if it does.
    """

    gpus: tuple[Gpu, ...] = ()
    version: str = "580.95.05"
    away: str = ""

    def driver(self) -> str:
        """Version of the driver."""
        if self.away:
            raise UnavailableError(self.away)
        return self.version

    def count(self) -> int:
        """Number of GPUs."""
        return len(self.gpus)

    def facts(self, index: int) -> GpuFacts:
        """Name, identity and size of a GPU."""
        return self.gpus[index].facts

    def errors(self, index: int) -> GpuErrors:
        """Error counters of a GPU."""
        if self.gpus[index].fault:
            raise UnavailableError(self.gpus[index].fault)
        return self.gpus[index].errors

    def processes(self, index: int) -> tuple[GpuProcess, ...]:
        """Processes that compute on a GPU."""
        return self.gpus[index].processes


@dataclass(slots=True, kw_only=True)
class GatewayInMemory:
    """GatewayDesk and GatewayInbox in this process: checks signatures, keeps what it takes, signs once it has everything.

    `away` is why it does not answer, `unwilling` why it signs no receipt; empty if it does.
    """

    signer: Signer
    domain: Hash32
    away: str = ""
    unwilling: str = ""
    assigned: dict[Address, tuple[JobId, ...]] = field(default_factory=dict)
    blobs: dict[Hash32, bytes] = field(default_factory=dict)
    announced: list[NodeAnnouncement] = field(default_factory=list)
    contents: dict[tuple[JobId, int], bytes] = field(default_factory=dict)
    logs: dict[JobId, str] = field(default_factory=dict)
    uploads: list[tuple[JobId, int]] = field(default_factory=list)
    receipts: list[SignedReceipt] = field(default_factory=list)

    def address(self) -> Address:
        """The gateway's."""
        self._require_here()
        return self.signer.address

    def announce(self, announcement: NodeAnnouncement, signature: Signature) -> None:
        """Takes what a node offers."""
        self._require_here()
        require_signed_by(announcement.node, announcement_digest(self.domain, announcement), signature)
        self.announced.append(announcement)

    def assignments(self, node: Address) -> tuple[JobId, ...]:
        """Jobs a node should accept."""
        self._require_here()
        return self.assigned.get(node, ())

    def blob(self, content: Hash32, most: int) -> bytes:
        """An input."""
        self._require_here()
        if content not in self.blobs or len(self.blobs[content]) > most:
            raise InvalidInputError(f"no input 0x{content.hex()} of at most {most} bytes", code="unknown_input")
        return self.blobs[content]

    def content(self, upload: ContentUpload) -> None:
        """Takes a content."""
        self._require_here()
        require_signed_by(upload.said.node, content_upload_digest(self.domain, upload.said), upload.signature)
        if keccak(upload.content) != upload.said.content_hash:
            raise InvalidInputError("the content has another hash", code="wrong_content")
        self.contents[upload.said.job_id, upload.said.index] = upload.content
        self.uploads.append((upload.said.job_id, upload.said.index))

    def log(self, upload: LogUpload) -> int:
        """Takes a piece of a log where it is the next."""
        self._require_here()
        require_signed_by(upload.said.node, log_digest(self.domain, upload.said), upload.signature)
        known = self.logs.get(upload.said.job_id, "")
        if upload.said.offset == len(known.encode()):
            self.logs[upload.said.job_id] = known = known + upload.text
        return len(known.encode())

    def receipt(self, signed: SignedReceipt) -> Signature:
        """Signs a receipt whose contents are all here."""
        self._require_here()
        receipt = signed.receipt
        require_signed_by(receipt.node, receipt_digest(self.domain, receipt), signed.signature)
        here = [self.contents.get((receipt.job_id, index)) for index in range(len(signed.contents))]
        if [content and keccak(content) for content in here] != list(signed.contents):
            raise RejectedError("contents are missing", code="contents_missing")
        if self.unwilling:
            raise RejectedError(self.unwilling, code="canary_failed")
        self.receipts.append(signed)
        return self.signer.sign_typed(self.domain, receipt_hash(receipt))

    def _require_here(self) -> None:
        if self.away:
            raise UnavailableError(self.away, code="gateway_unreachable")


class InlineCourier:
    """Courier in this process: an errand is done when `finished` is asked for."""

    def __init__(self) -> None:
        self._waiting: dict[Errand, Callable[[], object]] = {}

    @property
    def busy(self) -> frozenset[Errand]:
        """What is under way."""
        return frozenset(self._waiting)

    def start(self, errand: Errand, work: Callable[[], object]) -> None:
        """Begins."""
        self._waiting[errand] = work

    def finished(self) -> tuple[FinishedErrand, ...]:
        """What ended since the last call."""
        done, self._waiting = self._waiting, {}
        return tuple(_ran(errand, work) for errand, work in done.items())

    def close(self) -> None:
        """Begins nothing more."""
        self._waiting.clear()


def _ran(errand: Errand, work: Callable[[], object]) -> FinishedErrand:
    try:
        return FinishedErrand(errand=errand, found=work())
    except SwarmError as error:
        return FinishedErrand(errand=errand, error=error)

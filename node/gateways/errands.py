"""What an errand does at a gateway, beside the agent: no state file here, only what it is given."""

from collections.abc import Callable
from dataclasses import dataclass

from node.gateway_model import Handed, Offer
from node.gateways.blobs import BlobCache
from node.gateways.ports import ContentUpload, Gateway, GatewayInbox, LogUpload
from node.jobs.folder import JobFolder
from node.model import SignedReceipt
from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError, RejectedError, UnavailableError
from swarm_chain.core.gateway import (
    MAX_LOG_TEXT_BYTES,
    JobContent,
    JobLog,
    NodeAnnouncement,
    announcement_hash,
    content_upload_hash,
    log_hash,
)
from swarm_chain.core.signing import receipt_digest, require_signed_by
from swarm_chain.core.units import Address, Hash32, JobId, Signature, Timestamp
from swarm_chain.ports import Signer

PIECES = 16  # contents, and pieces of the log, of one errand: what was handed in is noted after each


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """Who signs, for which domain, and what chain time it is now: that of the last block, and what passed since."""

    signer: Signer
    domain: Hash32
    now: Callable[[], Timestamp]

    def sign(self, struct_hash: Hash32) -> Signature:
        """The node key's signature of a message of this protocol."""
        return self.signer.sign_typed(self.domain, struct_hash)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A job to hand in: where its files are, what its gateway has, how many contents there will be (None: unknown yet)."""

    job_id: JobId
    folder: JobFolder
    handed: Handed
    count: int | None


def announce(gateway: Gateway, seal: Seal, offer: Offer, lasts: int) -> Timestamp:
    """Say what this node offers; gives until when that holds.

    Args:
        gateway: whom to tell.
        seal: of this node.
        offer: what it has.
        lasts: seconds.
    """
    now = seal.now()
    said = NodeAnnouncement(
        node=seal.signer.address,
        region=offer.region,
        hardware_class=offer.hardware_class,
        cpus=offer.cpus,
        gpus=offer.gpus,
        memory_mb=offer.memory_mb,
        disk_mb=offer.disk_mb,
        price_wei=offer.price_wei,
        issued_at=now,
        expires_at=Timestamp(now + lasts),
    )
    gateway.desk.announce(said, seal.sign(announcement_hash(said)))
    return said.expires_at


def ask(gateway: Gateway, node: Address) -> tuple[Address, frozenset[JobId]]:
    """Who the gateway is, and which jobs this node should accept."""
    return gateway.desk.address(), frozenset(gateway.desk.assignments(node))


def fetch(gateway: Gateway, inputs: BlobCache, wanted: tuple[Hash32, ...]) -> None:
    """Bring inputs here; those that are here stay.

    Raises:
        InvalidInputError: the gateway has one not, or they are more than this node keeps.
    """
    inputs.read(wanted)  # used just now: others go first
    for content in wanted:
        if not inputs.has(content):
            inputs.keep(content, gateway.inbox.blob(content, inputs.most), wanted)


def hand_in(gateway: Gateway, seal: Seal, delivery: Delivery) -> Handed:
    """Hand in the next contents and the next of the log; gives how much the gateway has then."""
    contents = delivery.handed.contents
    for index in range(contents, contents + PIECES):
        content = delivery.folder.kept(index)
        if content is None:
            break
        _hand_in_content(gateway.inbox, seal, delivery.job_id, index, content)
        contents = index + 1
    log, said = _hand_in_log(gateway.inbox, seal, delivery)
    all_there = delivery.count is not None and contents >= delivery.count
    return Handed(contents=contents, log=log, whole=all_there and said)


def countersign(gateway: Gateway, named: Address, domain: Hash32, signed: SignedReceipt) -> Signature:
    """Have a receipt signed by its gateway.

    Args:
        gateway: where.
        named: address the spec names.
        domain: of node messages.
        signed: by the node.

    Raises:
        RejectedError: it does not sign.
        UnavailableError: it gives a signature that is not its own.
    """
    given = gateway.inbox.receipt(signed)
    try:
        require_signed_by(named, receipt_digest(domain, signed.receipt), given)
    except InvalidInputError as error:
        raise UnavailableError(f"the gateway's signature is none: {error.message}", code="bad_answer") from error
    return given


def _hand_in_content(inbox: GatewayInbox, seal: Seal, job_id: JobId, index: int, content: bytes) -> None:
    said = JobContent(
        job_id=job_id,
        node=seal.signer.address,
        index=index,
        content_hash=content_hash(content),
        issued_at=seal.now(),
    )
    inbox.content(ContentUpload(said=said, content=content, signature=seal.sign(content_upload_hash(said))))


def _hand_in_log(inbox: GatewayInbox, seal: Seal, delivery: Delivery) -> tuple[int, bool]:
    """How many bytes of the log the gateway has, and whether that is all it will have."""
    has = delivery.handed.log
    for _ in range(PIECES):
        text = delivery.folder.log_text(has, MAX_LOG_TEXT_BYTES)
        if not text:
            return has, True
        said = JobLog(
            job_id=delivery.job_id,
            node=seal.signer.address,
            offset=has,
            text_hash=keccak(text.encode()),
            issued_at=seal.now(),
        )
        try:
            has = inbox.log(LogUpload(said=said, text=text, signature=seal.sign(log_hash(said))))
        except (InvalidInputError, RejectedError):
            return has, True  # a log that is refused keeps nobody from being paid
    return has, False

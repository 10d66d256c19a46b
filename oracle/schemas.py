"""Shapes of every HTTP body: strict types, bounded sizes, no unknown fields; parsed values come out as core values."""

import base64
import binascii
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from swarm_chain.core.audits import AuditAnswer, AuditRequest
from swarm_chain.core.callbacks import CallbackRequest
from swarm_chain.core.checkpoints import MAX_CHECKPOINT_BYTES, MAX_CHECKPOINTS
from swarm_chain.core.encoding import hash_from_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Category
from swarm_chain.core.model import Commitment, Heartbeat, Opening, Proof, SignedCommitment, SignedProof
from swarm_chain.core.serving import MAX_URL, ServingOffer
from swarm_chain.core.units import Address, EpochNumber, Hash32, Signature, Timestamp, WindowId
from swarm_chain.core.volumes import BlocksConfirmed, VolumeRequest
from swarm_chain.web.bodies import (
    Body,
    HexAddress,
    HexHash,
    HexSignature,
    ReceiptFields,
    Uint32,
    Uint53,
    signature_bytes,
)

MAX_DEVICES = 64
MAX_DRAWS = 64
MAX_PATH = 32
HEAD_BYTES = 64

HexHead = Annotated[str, StringConstraints(pattern=r"^0x[0-9a-f]{128}$")]
PathHashes = Annotated[list[HexHash], Field(max_length=MAX_PATH)]


class CommitmentFields(Body):
    """ComputeCommitment."""

    window_id: Uint53
    window_seed: HexHash
    node: HexAddress
    device: Annotated[int, Field(ge=0, lt=MAX_DEVICES)]
    m: Uint32
    n: Uint32
    steps: Uint32
    root: HexHash


class CommitmentBody(Body):
    """POST /v1/commitments."""

    commitment: CommitmentFields
    signature: HexSignature

    def to_core(self) -> SignedCommitment:
        """The core value of this body."""
        c = self.commitment
        commitment = Commitment(
            window_id=WindowId(c.window_id),
            window_seed=hash_from_hex(c.window_seed),
            node=Address(c.node),
            device=c.device,
            m=c.m,
            n=c.n,
            steps=c.steps,
            root=hash_from_hex(c.root),
        )
        return SignedCommitment(commitment=commitment, signature=signature_bytes(self.signature))


class OpeningFields(Body):
    """One drawn row."""

    row: Uint32
    head: HexHead
    path: PathHashes


class ProofFields(Body):
    """ComputeProof with its openings."""

    window_id: Uint53
    node: HexAddress
    device: Annotated[int, Field(ge=0, lt=MAX_DEVICES)]
    root: HexHash
    openings: Annotated[list[OpeningFields], Field(min_length=1, max_length=MAX_DRAWS)]


class ProofBody(Body):
    """POST /v1/proofs."""

    proof: ProofFields
    signature: HexSignature

    def to_core(self) -> SignedProof:
        """The core value of this body."""
        p = self.proof
        openings = tuple(
            Opening(row=o.row, head=bytes.fromhex(o.head[2:]), path=tuple(map(hash_from_hex, o.path)))
            for o in p.openings
        )
        proof = Proof(
            window_id=WindowId(p.window_id),
            node=Address(p.node),
            device=p.device,
            root=hash_from_hex(p.root),
            openings=openings,
        )
        return SignedProof(proof=proof, signature=signature_bytes(self.signature))


class HeartbeatFields(Body):
    """Heartbeat."""

    node: HexAddress
    sequence: Uint53
    issued_at: Uint53
    expires_at: Uint53


class HeartbeatBody(Body):
    """POST /v1/heartbeats."""

    heartbeat: HeartbeatFields
    signature: HexSignature

    def to_core(self) -> tuple[Heartbeat, Signature]:
        """The core value of this body and its signature."""
        h = self.heartbeat
        heartbeat = Heartbeat(
            node=Address(h.node),
            sequence=h.sequence,
            issued_at=Timestamp(h.issued_at),
            expires_at=Timestamp(h.expires_at),
        )
        return heartbeat, signature_bytes(self.signature)


class ReceiptBody(Body):
    """POST /v1/jobs/{id}/receipts."""

    receipt: ReceiptFields
    signature: HexSignature
    checkpoints: Annotated[list[HexHash], Field(max_length=MAX_CHECKPOINTS)]
    gateway_signature: HexSignature | None = None

    def content_hashes(self) -> tuple[Hash32, ...]:
        """Content hashes of all checkpoints, in order."""
        return tuple(map(hash_from_hex, self.checkpoints))


class UploadBody(Body):
    """What every upload for a job has; POST /v1/jobs/{id}/inputs/{hash}."""

    node: HexAddress
    content: Annotated[str, StringConstraints(max_length=MAX_CHECKPOINT_BYTES // 3 * 4 + 4)]

    def content_bytes(self) -> bytes:
        """The uploaded bytes.

        Raises:
            InvalidInputError: the text is no base64.
        """
        try:
            return base64.b64decode(self.content, validate=True)
        except binascii.Error as error:
            raise InvalidInputError("content is no base64", fix="send standard base64 with padding") from error


class CheckpointBody(UploadBody):
    """POST /v1/jobs/{id}/checkpoints."""

    index: Annotated[int, Field(ge=0, lt=MAX_CHECKPOINTS)]
    path: PathHashes
    signature: HexSignature

    def path_hashes(self) -> tuple[Hash32, ...]:
        """Siblings, the leaf's own first."""
        return tuple(map(hash_from_hex, self.path))


class AuditRequestFields(Body):
    """AuditRequest."""

    window_id: Uint53
    node: HexAddress
    device: Annotated[int, Field(ge=0, lt=MAX_DEVICES)]
    category: Literal["memory", "serving", "storage", "network", "training"]
    claim: Uint53
    member: HexAddress


class AuditRequestBody(Body):
    """POST /v1/audits."""

    request: AuditRequestFields
    signature: HexSignature

    def to_core(self) -> AuditRequest:
        """The core value of this body."""
        r = self.request
        return AuditRequest(
            window_id=WindowId(r.window_id),
            node=Address(r.node),
            device=r.device,
            category=Category(r.category),
            claim=r.claim,
            member=Address(r.member),
        )


class AuditAnswerFields(Body):
    """AuditAnswer."""

    audit_id: HexHash
    root: HexHash


class AuditAnswerBody(Body):
    """POST /v1/audits/answers."""

    answer: AuditAnswerFields
    signature: HexSignature

    def to_core(self) -> AuditAnswer:
        """The core value of this body."""
        return AuditAnswer(audit_id=hash_from_hex(self.answer.audit_id), root=hash_from_hex(self.answer.root))


class AuditOpeningsBody(Body):
    """POST /v1/audits/{id}/openings; each category has openings of its own, which its judge reads."""

    openings: Annotated[list[dict[str, object]], Field(min_length=1, max_length=MAX_DRAWS)]


class CallbackFields(Body):
    """CallbackRequest."""

    node: HexAddress
    member: HexAddress
    port: Annotated[int, Field(ge=1, le=65535)]
    nonce: HexHash
    issued_at: Uint53
    expires_at: Uint53


class CallbackBody(Body):
    """POST /v1/callbacks."""

    request: CallbackFields
    signature: HexSignature

    def to_core(self) -> CallbackRequest:
        """The core value of this body."""
        r = self.request
        return CallbackRequest(
            node=Address(r.node),
            member=Address(r.member),
            port=r.port,
            nonce=hash_from_hex(r.nonce),
            issued_at=Timestamp(r.issued_at),
            expires_at=Timestamp(r.expires_at),
        )


class VolumeRequestFields(Body):
    """VolumeRequest."""

    node: HexAddress
    member: HexAddress
    index: Uint32


class VolumeRequestBody(Body):
    """POST /v1/volumes."""

    request: VolumeRequestFields
    signature: HexSignature

    def to_core(self) -> VolumeRequest:
        """The core value of this body."""
        r = self.request
        return VolumeRequest(node=Address(r.node), member=Address(r.member), index=r.index)


class ConfirmationFields(Body):
    """BlocksConfirmed."""

    volume: HexHash
    blocks: Uint53


class ConfirmationBody(Body):
    """POST /v1/volumes/{id}/confirmations."""

    confirmation: ConfirmationFields
    signature: HexSignature

    def to_core(self) -> BlocksConfirmed:
        """The core value of this body."""
        return BlocksConfirmed(volume_id=hash_from_hex(self.confirmation.volume), blocks=self.confirmation.blocks)


class OfferFields(Body):
    """ServingOffer."""

    epoch: Uint32
    node: HexAddress
    url: Annotated[str, StringConstraints(max_length=MAX_URL)]
    rate: Uint32
    issued_at: Uint53
    member: HexAddress


class OfferBody(Body):
    """POST /v1/offers."""

    offer: OfferFields
    signature: HexSignature

    def to_core(self) -> ServingOffer:
        """The core value of this body."""
        o = self.offer
        return ServingOffer(
            epoch=EpochNumber(o.epoch),
            node=Address(o.node),
            url=o.url,
            rate=o.rate,
            issued_at=Timestamp(o.issued_at),
            member=Address(o.member),
        )


class SpecBody(Body):
    """POST /v1/jobs/specs; the spec itself is checked by its kind when a job is planned and run."""

    spec: dict[str, object]

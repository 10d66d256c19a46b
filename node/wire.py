"""JSON of the messages a node sends and of the answers it reads (docs/spec/protocol.md, HTTP API)."""

import base64
from collections.abc import Mapping

from node.model import DevicePlan, SignedReceipt
from node.ports import BegunAudit, CheckpointUpload, EpochProof, InputUpload
from swarm_chain.core.audits import AuditAnswer, AuditRequest
from swarm_chain.core.compute import ComputeShape
from swarm_chain.core.encoding import hash_from_hex, to_hex
from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.kinds import Category, JobKind, WindowState
from swarm_chain.core.messages import Json, receipt_json, signed_commitment_json, signed_proof_json
from swarm_chain.core.model import Heartbeat, Receipt, SettlementLeaf, SignedCommitment, SignedProof, WindowRecord
from swarm_chain.core.units import (
    UINT128_MAX,
    Address,
    BlockNumber,
    Hash32,
    JobId,
    ProviderId,
    Signature,
    Timestamp,
    Wei,
    WindowId,
)

MAX_LISTED = 4096
MAX_DIGITS = 39  # of a uint128
MAX_UNITS = 2**53


def heartbeat_body(heartbeat: Heartbeat, signature: Signature) -> Json:
    """Body of POST /v1/heartbeats."""
    fields: Json = {
        "node": heartbeat.node,
        "sequence": heartbeat.sequence,
        "issuedAt": heartbeat.issued_at,
        "expiresAt": heartbeat.expires_at,
    }
    return {"heartbeat": fields, "signature": to_hex(signature)}


def commitment_body(signed: SignedCommitment) -> Json:
    """Body of POST /v1/commitments."""
    return signed_commitment_json(signed)


def proof_body(signed: SignedProof) -> Json:
    """Body of POST /v1/proofs."""
    return signed_proof_json(signed)


def audit_request_body(request: AuditRequest, signature: Signature) -> Json:
    """Body of POST /v1/audits."""
    fields = {
        "windowId": request.window_id,
        "node": request.node,
        "device": request.device,
        "category": request.category.value,
        "claim": request.claim,
        "member": request.member,
    }
    return {"request": fields, "signature": to_hex(signature)}


def audit_answer_body(answer: AuditAnswer, signature: Signature) -> Json:
    """Body of POST /v1/audits/answers."""
    fields = {"auditId": to_hex(answer.audit_id), "root": to_hex(answer.root)}
    return {"answer": fields, "signature": to_hex(signature)}


def parse_asked_in_ms(answer: Mapping[str, object]) -> int:
    """How long a member that took a request waits until it asks.

    Raises:
        UnavailableError: it is no answer of POST /v1/audits.
    """
    return _integer(answer, "askedInMs")


def parse_audit_id(answer: Mapping[str, object]) -> Hash32:
    """Id of an audit that a member took a request for.

    Raises:
        UnavailableError: it is none.
    """
    return hash_from_hex(_text(answer, "auditId"))


def parse_begun_audit(answer: Mapping[str, object]) -> BegunAudit:
    """Answer of POST /v1/audits, with the nonce of GET /v1/audits/{auditId}/nonce if it was not told at once.

    Raises:
        UnavailableError: it is none.
    """
    return BegunAudit(
        audit_id=parse_audit_id(answer),
        nonce=hash_from_hex(_text(answer, "nonce")),
        limit_ms=_integer(answer, "limitMs"),
    )


def parse_draw(answer: Mapping[str, object]) -> Hash32:
    """The draw of an answer of POST /v1/audits/answers.

    Raises:
        UnavailableError: it is none.
    """
    return hash_from_hex(_text(answer, "draw"))


def parse_receipt(fields: Mapping[str, object]) -> Receipt:
    """The receipt `receipt_json` wrote."""
    return Receipt(
        job_id=JobId(_integer(fields, "jobId")),
        kind=JobKind(_integer(fields, "kind")),
        node=Address(_text(fields, "node")),
        spec_hash=hash_from_hex(_text(fields, "specHash")),
        input_digest=hash_from_hex(_text(fields, "inputDigest")),
        output_digest=hash_from_hex(_text(fields, "outputDigest")),
        checkpoint_root=hash_from_hex(_text(fields, "checkpointRoot")),
        checkpoint_count=_integer(fields, "checkpointCount"),
        device_seconds=_integer(fields, "deviceSeconds"),
        started_at=Timestamp(_integer(fields, "startedAt")),
        finished_at=Timestamp(_integer(fields, "finishedAt")),
        exit_code=_integer(fields, "exitCode"),
    )


def gateway_receipt_body(signed: SignedReceipt) -> Json:
    """Body of a gateway's POST /v1/jobs/{id}/receipts."""
    return {
        "receipt": receipt_json(signed.receipt),
        "signature": to_hex(signed.signature),
        "checkpoints": [to_hex(content) for content in signed.contents],
    }


def receipt_body(signed: SignedReceipt) -> Json:
    """Body of a member's POST /v1/jobs/{id}/receipts."""
    given = signed.gateway_signature
    return gateway_receipt_body(signed) | {"gatewaySignature": None if given is None else to_hex(given)}


def checkpoint_body(upload: CheckpointUpload) -> Json:
    """Body of POST /v1/jobs/{id}/checkpoints."""
    return {
        "node": upload.node,
        "index": upload.index,
        "content": base64.b64encode(upload.content).decode("ascii"),
        "path": [to_hex(sibling) for sibling in upload.path],
        "signature": to_hex(upload.signature),
    }


def input_body(upload: InputUpload) -> Json:
    """Body of POST /v1/jobs/{id}/inputs/{hash}."""
    return {"node": upload.node, "content": base64.b64encode(upload.content).decode("ascii")}


def parse_windows(answer: Mapping[str, object]) -> tuple[WindowRecord, ...]:
    """Windows of GET /v1/windows/current; only what a node may act on before its own endpoint knows."""
    return tuple(
        WindowRecord(
            window_id=WindowId(_integer(window, "windowId")),
            state=_state(window),
            window_seed=hash_from_hex(_text(window, "windowSeed")),
            draw_seed=hash_from_hex(_text(window, "drawSeed")),
            opened_at=Timestamp(_integer(window, "openedAt")),
            opened_block=BlockNumber(0),
        )
        for window in _objects(answer, "windows")
    )


def parse_plans(answer: Mapping[str, object]) -> tuple[DevicePlan, ...]:
    """Plans of GET /v1/plans/{node}; the shape checks itself."""
    return tuple(
        DevicePlan(
            device=_integer(plan, "device"),
            shape=ComputeShape(m=_integer(plan, "m"), n=_integer(plan, "n"), steps=_integer(plan, "steps")),
        )
        for plan in _objects(answer, "plans")
    )


def parse_epoch_proof(answer: Mapping[str, object]) -> EpochProof:
    """Leaf and path of GET /v1/epochs/{e}/proofs/{provider}."""
    leaf, path = answer.get("leaf"), answer.get("path")
    if not isinstance(leaf, Mapping) or not isinstance(path, list) or len(path) > MAX_LISTED:
        raise _unreadable("leaf or path")
    return EpochProof(
        leaf=SettlementLeaf(
            provider_id=ProviderId(_integer(leaf, "providerId")),
            cum_reward_wei=_wei(leaf, "cumRewardWei"),
            cum_penalty_wei=_wei(leaf, "cumPenaltyWei"),
        ),
        path=tuple(hash_from_hex(str(sibling)) for sibling in path),
    )


def parse_proven(answer: Mapping[str, object]) -> Mapping[Category, int]:
    """Units by category of GET /v1/proven/{node}; categories this node does not know are left out."""
    units = answer.get("units")
    if not isinstance(units, Mapping):
        raise _unreadable("units")
    found = {category: _integer(units, category.value) for category in Category if category.value in units}
    for category, proven in found.items():
        if not 0 <= proven < MAX_UNITS:
            raise _unreadable(category.value)
    return found


def _state(window: Mapping[str, object]) -> WindowState:
    name = _text(window, "state").upper()
    if name not in WindowState.__members__:
        raise _unreadable("state")
    return WindowState[name]


def _objects(answer: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    found = answer.get(name)
    if not isinstance(found, list) or len(found) > MAX_LISTED:
        raise _unreadable(name)
    if not all(isinstance(item, Mapping) for item in found):
        raise _unreadable(name)
    return found


def _integer(fields: Mapping[str, object], name: str) -> int:
    value = fields.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _unreadable(name)
    return value


def _text(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise _unreadable(name)
    return value


def _wei(fields: Mapping[str, object], name: str) -> Wei:
    text = _text(fields, name)
    if not (text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS) or int(text) > UINT128_MAX:
        raise _unreadable(name)
    return Wei(int(text))


def _unreadable(name: str) -> UnavailableError:
    return UnavailableError(
        f"the member's answer has no proper {name}", fix="check that its version fits this node's", code="bad_answer"
    )

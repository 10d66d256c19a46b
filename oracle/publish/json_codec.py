"""Signed messages of nodes as JSON, the way they travel and the way the bundle keeps them."""

from oracle.model import SignedReceipt
from oracle.publish import fields as f
from swarm_chain.core.checkpoints import MAX_CHECKPOINTS
from swarm_chain.core.compute import HEAD_BYTES
from swarm_chain.core.encoding import address_bytes, canonical_json, to_hex
from swarm_chain.core.kinds import JobKind
from swarm_chain.core.messages import receipt_json, signed_proof_json
from swarm_chain.core.model import Commitment, Opening, Proof, Receipt, SignedCommitment, SignedProof
from swarm_chain.core.units import JobId, Timestamp, WindowId

MAX_DEVICE = 63
MAX_OPENINGS = 64
MAX_PATH = 32


def read_signed_commitment(value: object, where: str) -> SignedCommitment:
    """Read what `signed_commitment_json` wrote.

    Raises:
        InvalidInputError: anything else.
    """
    outer = f.fields(value, where, "commitment", "signature")
    names = ("windowId", "windowSeed", "node", "device", "m", "n", "steps", "root")
    c = f.fields(outer["commitment"], where, *names)
    commitment = Commitment(
        window_id=WindowId(f.integer(c["windowId"], f"{where}.windowId")),
        window_seed=f.hash32(c["windowSeed"], f"{where}.windowSeed"),
        node=f.address(c["node"], f"{where}.node"),
        device=f.integer(c["device"], f"{where}.device", MAX_DEVICE),
        m=f.integer(c["m"], f"{where}.m", f.UINT32_MAX),
        n=f.integer(c["n"], f"{where}.n", f.UINT32_MAX),
        steps=f.integer(c["steps"], f"{where}.steps", f.UINT32_MAX),
        root=f.hash32(c["root"], f"{where}.root"),
    )
    return SignedCommitment(commitment=commitment, signature=f.signature(outer["signature"], f"{where}.signature"))


def read_signed_proof(value: object, where: str) -> SignedProof:
    """Read what `signed_proof_json` wrote.

    Raises:
        InvalidInputError: anything else.
    """
    outer = f.fields(value, where, "proof", "signature")
    p = f.fields(outer["proof"], where, "windowId", "node", "device", "root", "openings")
    proof = Proof(
        window_id=WindowId(f.integer(p["windowId"], f"{where}.windowId")),
        node=f.address(p["node"], f"{where}.node"),
        device=f.integer(p["device"], f"{where}.device", MAX_DEVICE),
        root=f.hash32(p["root"], f"{where}.root"),
        openings=f.rows(p["openings"], f"{where}.openings", _read_opening, MAX_OPENINGS),
    )
    return SignedProof(proof=proof, signature=f.signature(outer["signature"], f"{where}.signature"))


def dump_signed_proof(signed: SignedProof) -> bytes:
    """Canonical JSON of a signed proof."""
    return canonical_json(signed_proof_json(signed))


def parse_signed_proof(data: bytes) -> SignedProof:
    """Read what `dump_signed_proof` wrote.

    Raises:
        InvalidInputError: anything else.
    """
    return read_signed_proof(f.load_canonical(data, "proof"), "proof")


def signed_receipt_json(signed: SignedReceipt) -> f.Json:
    """A signed receipt and its checkpoints' content hashes as JSON."""
    return {
        "receipt": receipt_json(signed.receipt),
        "signature": to_hex(signed.signature),
        "checkpoints": [to_hex(content) for content in signed.checkpoints],
        "gatewaySignature": None if signed.gateway_signature is None else to_hex(signed.gateway_signature),
    }


def read_signed_receipt(value: object, where: str) -> SignedReceipt:
    """Read what `signed_receipt_json` wrote.

    Raises:
        InvalidInputError: anything else.
    """
    outer = f.fields(value, where, "receipt", "signature", "checkpoints", "gatewaySignature")
    countersigned = outer["gatewaySignature"]
    return SignedReceipt(
        receipt=_read_receipt(outer["receipt"], f"{where}.receipt"),
        signature=f.signature(outer["signature"], f"{where}.signature"),
        checkpoints=f.rows(outer["checkpoints"], f"{where}.checkpoints", f.hash32, MAX_CHECKPOINTS),
        gateway_signature=None if countersigned is None else f.signature(countersigned, f"{where}.gatewaySignature"),
    )


def dump_signed_receipt(signed: SignedReceipt) -> bytes:
    """Canonical JSON of a signed receipt."""
    return canonical_json(signed_receipt_json(signed))


def parse_signed_receipt(data: bytes) -> SignedReceipt:
    """Read what `dump_signed_receipt` wrote.

    Raises:
        InvalidInputError: anything else.
    """
    return read_signed_receipt(f.load_canonical(data, "receipt"), "receipt")


def commitment_key(signed: SignedCommitment) -> tuple[int, bytes, int]:
    """Order of commitments in a bundle: window, node bytes, device."""
    return signed.commitment.window_id, address_bytes(signed.commitment.node), signed.commitment.device


def proof_key(signed: SignedProof) -> tuple[int, bytes, int]:
    """Order of proofs in a bundle: window, node bytes, device."""
    return signed.proof.window_id, address_bytes(signed.proof.node), signed.proof.device


def _read_opening(value: object, where: str) -> Opening:
    o = f.fields(value, where, "row", "head", "path")
    return Opening(
        row=f.integer(o["row"], f"{where}.row", f.UINT32_MAX),
        head=f.raw(o["head"], f"{where}.head", HEAD_BYTES),
        path=f.rows(o["path"], f"{where}.path", f.hash32, MAX_PATH),
    )


def _read_receipt(value: object, where: str) -> Receipt:
    names = ("jobId", "kind", "node", "specHash", "inputDigest", "outputDigest", "checkpointRoot", "checkpointCount")
    r = f.fields(value, where, *names, "deviceSeconds", "startedAt", "finishedAt", "exitCode")
    return Receipt(
        job_id=JobId(f.integer(r["jobId"], f"{where}.jobId")),
        kind=JobKind(f.integer(r["kind"], f"{where}.kind", max(JobKind), min(JobKind))),
        node=f.address(r["node"], f"{where}.node"),
        spec_hash=f.hash32(r["specHash"], f"{where}.specHash"),
        input_digest=f.hash32(r["inputDigest"], f"{where}.inputDigest"),
        output_digest=f.hash32(r["outputDigest"], f"{where}.outputDigest"),
        checkpoint_root=f.hash32(r["checkpointRoot"], f"{where}.checkpointRoot"),
        checkpoint_count=f.integer(r["checkpointCount"], f"{where}.checkpointCount", MAX_CHECKPOINTS),
        device_seconds=f.integer(r["deviceSeconds"], f"{where}.deviceSeconds"),
        started_at=Timestamp(f.integer(r["startedAt"], f"{where}.startedAt")),
        finished_at=Timestamp(f.integer(r["finishedAt"], f"{where}.finishedAt")),
        exit_code=f.integer(r["exitCode"], f"{where}.exitCode", f.UINT32_MAX),
    )

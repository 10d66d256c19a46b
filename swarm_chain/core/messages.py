"""Signed messages of nodes as JSON: the way they travel, and the way the evidence bundle keeps them."""

from swarm_chain.core.encoding import to_hex
from swarm_chain.core.links import SignedLink
from swarm_chain.core.model import Receipt, SignedCommitment, SignedProof
from swarm_chain.core.pings import LinkEndpoint
from swarm_chain.core.units import Signature

Json = dict[str, object]


def signed_commitment_json(signed: SignedCommitment) -> Json:
    """A signed commitment as JSON."""
    c = signed.commitment
    commitment = {
        "windowId": c.window_id,
        "windowSeed": to_hex(c.window_seed),
        "node": c.node,
        "device": c.device,
        "m": c.m,
        "n": c.n,
        "steps": c.steps,
        "root": to_hex(c.root),
    }
    return {"commitment": commitment, "signature": to_hex(signed.signature)}


def signed_proof_json(signed: SignedProof) -> Json:
    """A signed proof as JSON."""
    p = signed.proof
    proof = {
        "windowId": p.window_id,
        "node": p.node,
        "device": p.device,
        "root": to_hex(p.root),
        "openings": [
            {"row": o.row, "head": to_hex(o.head), "path": [to_hex(node) for node in o.path]} for o in p.openings
        ],
    }
    return {"proof": proof, "signature": to_hex(signed.signature)}


def receipt_json(receipt: Receipt) -> Json:
    """A receipt as JSON, without signature."""
    return {
        "jobId": receipt.job_id,
        "kind": int(receipt.kind),
        "node": receipt.node,
        "specHash": to_hex(receipt.spec_hash),
        "inputDigest": to_hex(receipt.input_digest),
        "outputDigest": to_hex(receipt.output_digest),
        "checkpointRoot": to_hex(receipt.checkpoint_root),
        "checkpointCount": receipt.checkpoint_count,
        "deviceSeconds": receipt.device_seconds,
        "startedAt": receipt.started_at,
        "finishedAt": receipt.finished_at,
        "exitCode": receipt.exit_code,
    }


def signed_endpoint_json(endpoint: LinkEndpoint, signature: Signature) -> Json:
    """A signed endpoint of links as JSON."""
    fields = {
        "epoch": endpoint.epoch,
        "node": endpoint.node,
        "host": endpoint.host,
        "port": endpoint.port,
        "issuedAt": endpoint.issued_at,
    }
    return {"endpoint": fields, "signature": to_hex(signature)}


def signed_link_json(signed: SignedLink) -> Json:
    """A report of a link as JSON, with the signatures it has."""
    r = signed.report
    fields = {
        "epoch": r.epoch,
        "first": r.first,
        "second": r.second,
        "rttUs": r.rtt_us,
        "jitterUs": r.jitter_us,
        "lossPpm": r.loss_ppm,
        "throughputMbps": r.throughput_mbps,
    }
    second = None if signed.second is None else to_hex(signed.second)
    return {"report": fields, "firstSignature": to_hex(signed.first), "secondSignature": second}

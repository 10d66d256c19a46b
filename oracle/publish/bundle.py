"""Bytes of the evidence bundle: every signed fact a report follows from, in one order."""

from oracle.model import Bundle, DoubleObservation, Equivocation, SignedObservation
from oracle.publish import fields as f
from oracle.publish import json_codec as codec
from oracle.publish.observation import observation_json, read_observation
from swarm_chain.core.encoding import address_bytes, canonical_json, to_hex
from swarm_chain.core.messages import signed_commitment_json, signed_proof_json
from swarm_chain.core.model import BlockRef
from swarm_chain.core.units import BlockNumber, EpochNumber, Timestamp

DOMAIN = "swarm/bundle/v1"
MAX_MEMBERS = 64
_LISTS = ("observations", "commitments", "proofs", "equivocations", "receipts", "doubleObservations")
_HEAD = ("domain", "chainId", "epoch", "refBlock", "paramsVersion", "previousManifestHash")


def bundle_bytes(bundle: Bundle) -> bytes:
    """Canonical JSON of a bundle (protocol.md, Documents of an epoch)."""
    return canonical_json(
        {
            "domain": DOMAIN,
            "chainId": bundle.chain_id,
            "epoch": bundle.epoch,
            "refBlock": block_json(bundle.ref_block),
            "paramsVersion": bundle.params_version,
            "previousManifestHash": to_hex(bundle.previous_manifest_hash),
            "observations": [signed_observation_json(signed) for signed in bundle.observations],
            "commitments": [signed_commitment_json(signed) for signed in bundle.commitments],
            "proofs": [signed_proof_json(signed) for signed in bundle.proofs],
            "equivocations": [
                [signed_commitment_json(pair.first), signed_commitment_json(pair.second)]
                for pair in bundle.equivocations
            ],
            "receipts": [codec.signed_receipt_json(signed) for signed in bundle.receipts],
            "doubleObservations": [
                [signed_observation_json(pair.first), signed_observation_json(pair.second)]
                for pair in bundle.double_observations
            ],
        }
    )


def parse_bundle(data: bytes) -> Bundle:
    """Read what `bundle_bytes` wrote; signatures are `consensus.bundle`'s to check.

    Args:
        data: the published bytes.

    Raises:
        InvalidInputError: anything else, or lists that are not ordered.
    """
    b = f.fields(f.load_canonical(data, "bundle"), "bundle", *_HEAD, *_LISTS)
    f.require_constant(b["domain"], "bundle.domain", DOMAIN)
    bundle = Bundle(
        chain_id=f.integer(b["chainId"], "bundle.chainId"),
        epoch=EpochNumber(f.integer(b["epoch"], "bundle.epoch", f.UINT32_MAX)),
        ref_block=read_block(b["refBlock"], "bundle.refBlock"),
        params_version=f.integer(b["paramsVersion"], "bundle.paramsVersion", f.UINT32_MAX),
        previous_manifest_hash=f.hash32(b["previousManifestHash"], "bundle.previousManifestHash"),
        observations=f.rows(b["observations"], "bundle.observations", read_signed_observation, MAX_MEMBERS),
        commitments=f.rows(b["commitments"], "bundle.commitments", codec.read_signed_commitment),
        proofs=f.rows(b["proofs"], "bundle.proofs", codec.read_signed_proof),
        equivocations=f.rows(b["equivocations"], "bundle.equivocations", _read_equivocation),
        receipts=f.rows(b["receipts"], "bundle.receipts", codec.read_signed_receipt),
        double_observations=f.rows(b["doubleObservations"], "bundle.doubleObservations", _read_double, MAX_MEMBERS),
    )
    require_ordered(bundle)
    return bundle


def require_ordered(bundle: Bundle) -> None:
    """Refuse a bundle whose lists are not in the only order they may have, or name something twice.

    Raises:
        InvalidInputError: a list is out of order.
    """
    members = ((address_bytes(signed.observation.member),) for signed in bundle.observations)
    f.require_ascending(members, "bundle.observations")
    f.require_ascending(map(codec.commitment_key, bundle.commitments), "bundle.commitments")
    f.require_ascending(map(codec.proof_key, bundle.proofs), "bundle.proofs")
    pairs = (codec.commitment_key(pair.first) for pair in bundle.equivocations)
    f.require_ascending(pairs, "bundle.equivocations")
    f.require_ascending(((signed.receipt.job_id,) for signed in bundle.receipts), "bundle.receipts")
    doubles = ((address_bytes(pair.first.observation.member),) for pair in bundle.double_observations)
    f.require_ascending(doubles, "bundle.doubleObservations")


def signed_observation_bytes(signed: SignedObservation) -> bytes:
    """Canonical JSON {content, signature} of one member's observation."""
    return canonical_json(signed_observation_json(signed))


def parse_signed_observation(data: bytes) -> SignedObservation:
    """Read what `signed_observation_bytes` wrote.

    Raises:
        InvalidInputError: anything else.
    """
    return read_signed_observation(f.load_canonical(data, "observation"), "observation")


def block_json(block: BlockRef) -> f.Json:
    """A block as JSON."""
    return {"number": block.number, "hash": to_hex(block.hash), "timestamp": block.timestamp}


def read_block(value: object, where: str) -> BlockRef:
    """Read what `block_json` wrote.

    Raises:
        InvalidInputError: anything else.
    """
    b = f.fields(value, where, "number", "hash", "timestamp")
    return BlockRef(
        number=BlockNumber(f.integer(b["number"], f"{where}.number")),
        hash=f.hash32(b["hash"], f"{where}.hash"),
        timestamp=Timestamp(f.integer(b["timestamp"], f"{where}.timestamp")),
    )


def signed_observation_json(signed: SignedObservation) -> f.Json:
    """A signed observation as JSON."""
    return {"content": observation_json(signed.observation), "signature": to_hex(signed.signature)}


def read_signed_observation(value: object, where: str) -> SignedObservation:
    """Read what `signed_observation_json` wrote.

    Raises:
        InvalidInputError: anything else.
    """
    outer = f.fields(value, where, "content", "signature")
    return SignedObservation(
        observation=read_observation(outer["content"], f"{where}.content"),
        signature=f.signature(outer["signature"], f"{where}.signature"),
    )


def _read_double(value: object, where: str) -> DoubleObservation:
    first, second = f.row(value, where, 2)
    return DoubleObservation(
        first=read_signed_observation(first, f"{where}[0]"), second=read_signed_observation(second, f"{where}[1]")
    )


def _read_equivocation(value: object, where: str) -> Equivocation:
    first, second = f.row(value, where, 2)
    return Equivocation(
        first=codec.read_signed_commitment(first, f"{where}[0]"),
        second=codec.read_signed_commitment(second, f"{where}[1]"),
    )

"""Bytes that members ask of each other: which evidence they hold of an epoch, and the signed messages themselves."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from oracle.model import SignedObservation, SignedReceipt
from oracle.publish import fields as f
from oracle.publish import json_codec as codec
from oracle.publish.bundle import MAX_MEMBERS, read_signed_observation, signed_observation_json
from swarm_chain.core.encoding import canonical_json, to_hex
from swarm_chain.core.messages import signed_commitment_json, signed_proof_json
from swarm_chain.core.model import SignedCommitment, SignedProof
from swarm_chain.core.units import Address, Hash32, JobId, WindowId

MAX_LISTED = 1_000_000  # names an inventory may hold
CommitmentId = tuple[WindowId, Hash32, Address, int, Hash32]  # window, its seed, node, device, root
ProofId = tuple[WindowId, Address, int]
ReceiptId = tuple[JobId, Hash32]
ObservationId = tuple[Address, Hash32]  # member, content hash
Name = TypeVar("Name", CommitmentId, ProofId, ReceiptId, ObservationId)
_LISTS = ("commitments", "proofs", "receipts", "observations")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """Names of the evidence a member holds of an epoch."""

    commitments: frozenset[CommitmentId] = frozenset()
    proofs: frozenset[ProofId] = frozenset()
    receipts: frozenset[ReceiptId] = frozenset()
    observations: frozenset[ObservationId] = frozenset()

    def without(self, other: "Inventory") -> "Inventory":
        """What is in this one only."""
        return Inventory(
            commitments=self.commitments - other.commitments,
            proofs=self.proofs - other.proofs,
            receipts=self.receipts - other.receipts,
            observations=self.observations - other.observations,
        )

    def portions(self, most: int) -> Iterable["Inventory"]:
        """Inventories of at most `most` names each, together this one; observations come last."""
        for commitments in _slices(self.commitments, most):
            yield Inventory(commitments=commitments)
        for proofs in _slices(self.proofs, most):
            yield Inventory(proofs=proofs)
        for receipts in _slices(self.receipts, most):
            yield Inventory(receipts=receipts)
        for observations in _slices(self.observations, most):
            yield Inventory(observations=observations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Signed messages of nodes and members; what they are worth is the reader's to check."""

    commitments: tuple[SignedCommitment, ...] = ()
    proofs: tuple[SignedProof, ...] = ()
    receipts: tuple[SignedReceipt, ...] = ()
    observations: tuple[SignedObservation, ...] = ()


def inventory_json(inventory: Inventory) -> f.Json:
    """An inventory as JSON, ordered."""
    return {
        "commitments": [
            [window, to_hex(seed), node, device, to_hex(root)]
            for window, seed, node, device, root in sorted(inventory.commitments)
        ],
        "proofs": [list(key) for key in sorted(inventory.proofs)],
        "receipts": [[job, to_hex(digest)] for job, digest in sorted(inventory.receipts)],
        "observations": [[member, to_hex(content)] for member, content in sorted(inventory.observations)],
    }


def parse_inventory(data: bytes) -> Inventory:
    """Read the canonical JSON of `inventory_json`.

    Raises:
        InvalidInputError: anything else.
    """
    i = f.fields(f.load_canonical(data, "inventory"), "inventory", *_LISTS)
    return Inventory(
        commitments=frozenset(f.rows(i["commitments"], "commitments", _commitment_id, MAX_LISTED)),
        proofs=frozenset(f.rows(i["proofs"], "proofs", _proof_id, MAX_LISTED)),
        receipts=frozenset(f.rows(i["receipts"], "receipts", _receipt_id, MAX_LISTED)),
        observations=frozenset(f.rows(i["observations"], "observations", _observation_id, 2 * MAX_MEMBERS)),
    )


def evidence_bytes(evidence: Evidence) -> bytes:
    """Canonical JSON of signed messages."""
    return canonical_json(
        {
            "commitments": [signed_commitment_json(signed) for signed in evidence.commitments],
            "proofs": [signed_proof_json(signed) for signed in evidence.proofs],
            "receipts": [codec.signed_receipt_json(signed) for signed in evidence.receipts],
            "observations": [signed_observation_json(signed) for signed in evidence.observations],
        }
    )


def parse_evidence(data: bytes) -> Evidence:
    """Read what `evidence_bytes` wrote.

    Raises:
        InvalidInputError: anything else.
    """
    e = f.fields(f.load_canonical(data, "evidence"), "evidence", *_LISTS)
    return Evidence(
        commitments=f.rows(e["commitments"], "commitments", codec.read_signed_commitment, MAX_LISTED),
        proofs=f.rows(e["proofs"], "proofs", codec.read_signed_proof, MAX_LISTED),
        receipts=f.rows(e["receipts"], "receipts", codec.read_signed_receipt, MAX_LISTED),
        observations=f.rows(e["observations"], "observations", read_signed_observation, 2 * MAX_MEMBERS),
    )


def _slices(names: frozenset[Name], most: int) -> Iterable[frozenset[Name]]:
    ordered = sorted(names)
    for first in range(0, len(ordered), most):
        yield frozenset(ordered[first : first + most])


def _commitment_id(value: object, where: str) -> CommitmentId:
    window, seed, node, device, root = f.row(value, where, 5)
    return (
        WindowId(f.integer(window, where)),
        f.hash32(seed, where),
        f.address(node, where),
        f.integer(device, where, codec.MAX_DEVICE),
        f.hash32(root, where),
    )


def _proof_id(value: object, where: str) -> ProofId:
    window, node, device = f.row(value, where, 3)
    return WindowId(f.integer(window, where)), f.address(node, where), f.integer(device, where, codec.MAX_DEVICE)


def _receipt_id(value: object, where: str) -> ReceiptId:
    job, digest = f.row(value, where, 2)
    return JobId(f.integer(job, where)), f.hash32(digest, where)


def _observation_id(value: object, where: str) -> ObservationId:
    member, content = f.row(value, where, 2)
    return f.address(member, where), f.hash32(content, where)

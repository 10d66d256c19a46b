"""Signed evidence in what an oracle member publishes: the bundle of an epoch and the member's verdicts.

Only what proves itself is taken over: signatures and roots are checked here, and whatever else a document says is left out.
Source: docs/spec/protocol.md "Documents of an epoch".
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swarm_chain.core.encoding import address_bytes, checksum_address, hash_from_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.model import Commitment, Opening, Proof, SignedCommitment
from swarm_chain.core.signing import commitment_digest, recover, require_signed_by
from swarm_chain.core.units import Address, EpochNumber, Hash32, Signature, WindowId
from swarm_chain.core.verdicts import PassedVerdicts, SignedVerdicts, verdicts_digest

_STUMBLES = (AttributeError, KeyError, TypeError, ValueError, OverflowError)
ProofKey = tuple[WindowId, Address, int, Hash32]


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochEvidence:
    """What the nodes themselves signed in an epoch, with the openings of the commitments that were opened."""

    epoch: EpochNumber
    commitments: tuple[SignedCommitment, ...]
    equivocations: tuple[tuple[SignedCommitment, SignedCommitment], ...]
    proofs: Mapping[ProofKey, Proof]

    def openings(self, commitment: Commitment) -> tuple[Opening, ...]:
        """Rows that were opened of a commitment; whether they are true, or lead to its root, is not said."""
        c = commitment
        proof = self.proofs.get((c.window_id, c.node, c.device, c.root))
        return proof.openings if proof else ()


def parse_evidence(data: bytes, chain_id: int, domain: Hash32) -> EpochEvidence:
    """Read a bundle.

    Args:
        data: the bytes of `GET /v1/epochs/{e}/bundle`, or of a file with them.
        chain_id: chain the bundle must be of.
        domain: EIP-712 domain separator of ChallengeBeacon on that chain.

    Returns:
        Every commitment and pair whose signatures are the node's; others prove nothing and are left out.

    Raises:
        InvalidInputError: no bundle of this chain.
    """
    document = _object(data, "bundle")
    if document.get("domain") != "swarm/bundle/v1" or document.get("chainId") != chain_id:
        raise _bad("bundle", f"it is no bundle of chain {chain_id}")
    try:
        proofs = [_proof(item["proof"]) for item in document["proofs"]]
        pairs = [(_signed(first), _signed(second)) for first, second in document["equivocations"]]
        return EpochEvidence(
            epoch=EpochNumber(int(document["epoch"])),
            commitments=tuple(_genuine(map(_signed, document["commitments"]), domain)),
            equivocations=tuple(pair for pair in pairs if len(list(_genuine(pair, domain))) == len(pair)),
            proofs={(proof.window_id, proof.node, proof.device, proof.root): proof for proof in proofs},
        )
    except _STUMBLES as error:
        raise _bad("bundle", f"it is malformed ({type(error).__name__}: {error})") from error


def parse_verdicts(data: bytes, domain: Hash32) -> SignedVerdicts:
    """Read a member's verdicts of an epoch.

    Args:
        data: the bytes of `GET /v1/epochs/{e}/verdicts`.
        domain: EIP-712 domain separator of ChallengeBeacon.

    Raises:
        InvalidInputError: malformed, not signed by the member it names, or another root than that of the list.
    """
    d = _object(data, "verdicts")
    try:
        verdicts = PassedVerdicts(
            epoch=EpochNumber(int(d["epoch"])),
            member=_address(d["member"]),
            draws=int(d["draws"]),
            passed_root=hash_from_hex(d["passedRoot"]),
        )
        passed = tuple(map(hash_from_hex, d["passed"]))
        signature = _signature(d["signature"])
    except _STUMBLES as error:
        raise _bad("verdicts", f"they are malformed ({type(error).__name__}: {error})") from error
    require_signed_by(verdicts.member, verdicts_digest(domain, verdicts), signature)
    return SignedVerdicts(verdicts=verdicts, passed=passed, signature=signature)


def _signed(value: Mapping[str, Any]) -> SignedCommitment:
    c = value["commitment"]
    commitment = Commitment(
        window_id=WindowId(int(c["windowId"])),
        window_seed=hash_from_hex(c["windowSeed"]),
        node=_address(c["node"]),
        device=int(c["device"]),
        m=int(c["m"]),
        n=int(c["n"]),
        steps=int(c["steps"]),
        root=hash_from_hex(c["root"]),
    )
    return SignedCommitment(commitment=commitment, signature=_signature(value["signature"]))


def _proof(p: Mapping[str, Any]) -> Proof:
    return Proof(
        window_id=WindowId(int(p["windowId"])),
        node=_address(p["node"]),
        device=int(p["device"]),
        root=hash_from_hex(p["root"]),
        openings=tuple(_opening(item) for item in p["openings"]),
    )


def _opening(o: Mapping[str, Any]) -> Opening:
    path = tuple(map(hash_from_hex, o["path"]))
    return Opening(row=int(o["row"]), head=bytes.fromhex(o["head"].removeprefix("0x")), path=path)


def _genuine(
    found: Iterator[SignedCommitment] | Sequence[SignedCommitment], domain: Hash32
) -> Iterator[SignedCommitment]:
    for signed in found:
        try:
            signer = recover(commitment_digest(domain, signed.commitment), signed.signature)
        except InvalidInputError:
            continue  # what nobody signed proves nothing
        if signer == signed.commitment.node:
            yield signed


def _address(text: str) -> Address:
    return checksum_address(address_bytes(Address(text)))


def _signature(text: str) -> Signature:
    return Signature(bytes.fromhex(text.removeprefix("0x")))


def _object(data: bytes, what: str) -> dict[str, Any]:
    try:
        document = json.loads(data)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise _bad(what, "it is no JSON") from error
    if not isinstance(document, dict):
        raise _bad(what, "it is no JSON object")
    return document


def _bad(what: str, why: str) -> InvalidInputError:
    fix = "name the URL of an oracle member, or a file with what it published"
    return InvalidInputError(f"{what}: {why}", fix=fix, code="bad_document")

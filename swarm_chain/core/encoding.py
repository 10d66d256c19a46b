"""Bytes the protocol hashes: fixed words by concatenation, leaves, the report and canonical JSON."""

import json
import re
from collections.abc import Collection, Sequence
from hashlib import sha256

from sha3 import keccak_256  # safe-pysha3: 6 to 8 times faster per hash than the default backend

from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.model import Commitment, JobOutcome, Opening, Report, SettlementLeaf, Violation
from swarm_chain.core.units import Address, Hash32

_PLAIN = frozenset({int, str, bool, type(None)})
_HEX = re.compile(r"0x[0-9a-fA-F]+")
SETTLEMENT_TAG = "Swarm/Settlement/v1"
VIOLATION_TAG = "Swarm/Violation/v1"
JOB_TAG = "Swarm/Job/v1"
SETTLEMENT_LEAF_TYPES = ("bytes32", "uint256", "uint128", "uint128")


def keccak(data: bytes) -> Hash32:
    """Keccak-256 (Ethereum's) of the bytes."""
    return Hash32(keccak_256(data).digest())


def sha256_digest(data: bytes) -> Hash32:
    """SHA-256 of the bytes; used for everything that is published, so that a CIDv1(raw) is the same hash."""
    return Hash32(sha256(data).digest())


def word(value: int | bool | str | bytes) -> bytes:
    """One 32-byte ABI word of a non-negative integer, a bool, an address or a bytes32.

    Args:
        value: int in [0, 2^256), bool, 0x-address of 20 bytes, or exactly 32 bytes.

    Raises:
        InvalidInputError: anything else; shorter bytesN must be padded by the caller, who knows the type.
    """
    if isinstance(value, str):
        return address_bytes(Address(value)).rjust(32, b"\0")
    if isinstance(value, bytes):
        if len(value) != 32:
            raise InvalidInputError(f"expected 32 bytes, got {len(value)}")
        return value
    if not 0 <= value < 2**256:
        raise InvalidInputError(f"{value} is not a uint256")
    return int(value).to_bytes(32, "big")


def words(*values: int | bool | str | bytes) -> bytes:
    """abi.encode of static values: their words, one after the other."""
    return b"".join(map(word, values))


def address_bytes(address: Address) -> bytes:
    """The 20 bytes of a 0x-address.

    Raises:
        InvalidInputError: not 20 bytes of hex behind 0x.
    """
    raw = _from_hex(address)
    if len(raw) != 20:
        raise InvalidInputError(f"{address!r} is no address", fix="give 0x followed by 40 hex digits")
    return raw


def checksum_address(raw: bytes) -> Address:
    """EIP-55 address of 20 bytes."""
    text = raw.hex()
    mask = keccak(text.encode()).hex()
    return Address("0x" + "".join([c.upper() if m > "7" else c for c, m in zip(text, mask, strict=False)]))


def hash_from_hex(text: str) -> Hash32:
    """32 bytes from 0x-hex.

    Raises:
        InvalidInputError: not 0x followed by 64 hex digits.
    """
    raw = _from_hex(text)
    if len(raw) != 32:
        raise InvalidInputError(f"{text[:80]!r} is no 32-byte hash", fix="give 0x followed by 64 hex digits")
    return Hash32(raw)


def to_hex(raw: bytes) -> str:
    """0x-hex, lower case."""
    return "0x" + raw.hex()


def leaf_domain(tag: str, chain_id: int, contract: Address) -> Hash32:
    """keccak256(abi.encode(tag, chainId, contract)) for a tag of at most 32 bytes (one dynamic string).

    Source: contracts.md, section Settlement.
    """
    raw = tag.encode()
    if not 0 < len(raw) <= 32:
        raise InvalidInputError(f"tag {tag!r} must have 1 to 32 bytes")
    return keccak(words(96, chain_id, contract, len(raw)) + raw.ljust(32, b"\0"))


def double_hash(encoded: bytes) -> Hash32:
    """OpenZeppelin's standard leaf: keccak256(bytes.concat(keccak256(encoded)))."""
    return keccak(keccak(encoded))


def settlement_leaf(domain: Hash32, leaf: SettlementLeaf) -> Hash32:
    """Leaf of a provider in the settlement tree."""
    return double_hash(words(domain, leaf.provider_id, leaf.cum_reward_wei, leaf.cum_penalty_wei))


def violation_leaf(domain: Hash32, violation: Violation) -> Hash32:
    """Leaf of a violation in the outcomes tree."""
    return double_hash(
        words(
            domain,
            violation.provider_id,
            violation.violation_class,
            violation.severity,
            violation.epoch,
            violation.offence_at,
            violation.amount_wei,
            violation.suspended_for,
            violation.evidence_hash,
        )
    )


def case_id(violation: Violation) -> Hash32:
    """Id of the case a violation may open: keccak256(abi.encode(providerId, class, epoch, evidenceHash))."""
    return keccak(words(violation.provider_id, violation.violation_class, violation.epoch, violation.evidence_hash))


def job_leaf(domain: Hash32, outcome: JobOutcome) -> Hash32:
    """Leaf of a judged job in the outcomes tree."""
    return double_hash(words(domain, outcome.job_id, outcome.receipt_digest, outcome.pay_wei))


def report_hash(report: Report) -> Hash32:
    """What members vote on: keccak256(abi.encode(report)), every field one word."""
    return keccak(
        words(
            report.epoch,
            report.ref_block,
            report.ref_block_hash,
            report.params_version,
            report.root,
            report.leaf_count,
            report.total_reward_wei,
            report.total_penalty_wei,
            report.outcomes_root,
            report.manifest_hash,
        )
    )


def openings_hash(openings: Sequence[Opening]) -> Hash32:
    """keccak256 over row (uint32, big-endian), head and path of every opening, in order; signed in ComputeProof."""
    parts = (o.row.to_bytes(4, "big") + o.head + len(o.path).to_bytes(1, "big") + b"".join(o.path) for o in openings)
    return keccak(b"".join(parts))


def commitment_order(commitment: Commitment) -> tuple[bytes, int]:
    """Sort key of commitments in a window's tree: node bytes, then device."""
    return address_bytes(commitment.node), commitment.device


def canonical_json(document: object) -> bytes:
    """One byte string for one document: UTF-8, sorted keys, no spaces, no floats, no NaN.

    Raises:
        InvalidInputError: a float, or a type JSON does not have; wei travel as decimal strings.
    """
    _refuse_floats(document)
    try:
        return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"document is not canonical: {error}") from error


def _from_hex(text: str) -> bytes:
    # bytes.fromhex skips white space; one value must have one spelling, so the digits are checked before.
    return bytes.fromhex(text[2:]) if _HEX.fullmatch(text) and len(text) % 2 == 0 else b""


def _refuse_floats(value: object) -> None:
    if isinstance(value, float):
        raise InvalidInputError("document is not canonical: floats have no place in it")
    if isinstance(value, dict):
        strange = [key for key in value if not isinstance(key, str)]
        if strange:
            raise InvalidInputError(f"document is not canonical: key {strange[0]!r} is no string")
        _refuse_floats_in(value.values())
    elif isinstance(value, list | tuple):
        _refuse_floats_in(value)


def _refuse_floats_in(items: Collection[object]) -> None:
    # A state has millions of numbers in rows: a row without anything but plain values is seen at once.
    if not _PLAIN.issuperset(map(type, items)):
        for item in items:
            _refuse_floats(item)

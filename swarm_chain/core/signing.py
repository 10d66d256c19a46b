"""EIP-712 digests of every message of the protocol, and strict recovery of who signed."""

from coincurve import PublicKey

from swarm_chain.core.encoding import checksum_address, keccak, openings_hash, words
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.model import Commitment, Heartbeat, Proof, Receipt
from swarm_chain.core.units import Address, Hash32, ProviderId, Signature

SECP256K1_HALF_N = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0

DOMAIN_TYPE = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
COMMITMENT_TYPE = (
    "ComputeCommitment(uint256 windowId,bytes32 windowSeed,address node,uint256 device,uint32 m,uint32 n,uint32 steps,"
    "bytes32 root)"
)
PROOF_TYPE = "ComputeProof(uint256 windowId,address node,uint256 device,bytes32 root,bytes32 openingsHash)"
HEARTBEAT_TYPE = "Heartbeat(address node,uint64 sequence,uint64 issuedAt,uint64 expiresAt)"
RECEIPT_TYPE = (
    "JobReceipt(uint256 jobId,uint8 kind,address node,bytes32 specHash,bytes32 inputDigest,bytes32 outputDigest,"
    "bytes32 checkpointRoot,uint32 checkpointCount,uint64 deviceSeconds,uint64 startedAt,uint64 finishedAt,uint32 exitCode)"
)
CHECKPOINT_TYPE = "JobCheckpoint(uint256 jobId,address node,uint32 index,bytes32 contentHash,bytes32 pathHash)"
ADMISSION_TYPE = "NodeAdmission(uint256 providerId,address node,uint256 nonce,uint256 deadline)"
OBSERVATION_TYPE = "Observation(uint32 epoch,address member,bytes32 contentHash)"


def domain_separator(chain_id: int, contract: Address) -> Hash32:
    """EIP-712 domain "Swarm" version "1" of a contract.

    Args:
        chain_id: EIP-155 chain id.
        contract: verifying contract: ChallengeBeacon for node and member messages, ProviderRegistry for NodeAdmission.
    """
    return keccak(words(keccak(DOMAIN_TYPE.encode()), keccak(b"Swarm"), keccak(b"1"), chain_id, contract))


def typed_preimage(domain: Hash32, struct_hash: Hash32) -> bytes:
    """0x1901 || domain || structHash, whose keccak256 is signed (EIP-712)."""
    return b"\x19\x01" + domain + struct_hash


def typed_digest(domain: Hash32, struct_hash: Hash32) -> Hash32:
    """keccak256(0x1901 || domain || structHash)."""
    return keccak(typed_preimage(domain, struct_hash))


def text_preimage(text: bytes) -> bytes:
    """What `personal_sign` hashes and signs of a text (EIP-191, version E): never a transaction or a typed message."""
    return b"\x19Ethereum Signed Message:\n" + str(len(text)).encode() + text


def commitment_hash(commitment: Commitment) -> Hash32:
    """Struct hash of a ComputeCommitment; its double hash is the leaf in the window's commitments tree."""
    c = commitment
    where = words(keccak(COMMITMENT_TYPE.encode()), c.window_id, c.window_seed, c.node, c.device)
    return keccak(where + words(c.m, c.n, c.steps, c.root))


def commitment_digest(domain: Hash32, commitment: Commitment) -> Hash32:
    """What the node key signs to commit."""
    return typed_digest(domain, commitment_hash(commitment))


def proof_hash(proof: Proof) -> Hash32:
    """Struct hash of a ComputeProof."""
    p = proof
    return keccak(words(keccak(PROOF_TYPE.encode()), p.window_id, p.node, p.device, p.root, openings_hash(p.openings)))


def proof_digest(domain: Hash32, proof: Proof) -> Hash32:
    """What the node key signs to open its drawn rows."""
    return typed_digest(domain, proof_hash(proof))


def heartbeat_hash(heartbeat: Heartbeat) -> Hash32:
    """Struct hash of a Heartbeat."""
    h = heartbeat
    return keccak(words(keccak(HEARTBEAT_TYPE.encode()), h.node, h.sequence, h.issued_at, h.expires_at))


def heartbeat_digest(domain: Hash32, heartbeat: Heartbeat) -> Hash32:
    """What the node key signs to show it is alive."""
    return typed_digest(domain, heartbeat_hash(heartbeat))


def receipt_hash(receipt: Receipt) -> Hash32:
    """Struct hash of a JobReceipt."""
    r = receipt
    fields = words(
        keccak(RECEIPT_TYPE.encode()),
        r.job_id,
        r.kind,
        r.node,
        r.spec_hash,
        r.input_digest,
        r.output_digest,
        r.checkpoint_root,
        r.checkpoint_count,
        r.device_seconds,
        r.started_at,
        r.finished_at,
        r.exit_code,
    )
    return keccak(fields)


def receipt_digest(domain: Hash32, receipt: Receipt) -> Hash32:
    """What the node key signs to hand in a job; also the digest JobEscrow.complete records."""
    return typed_digest(domain, receipt_hash(receipt))


def checkpoint_hash(job_id: int, node: Address, index: int, content_hash: Hash32, path_hash: Hash32) -> Hash32:
    """Struct hash of a JobCheckpoint; `path_hash` is keccak256 of the path's nodes."""
    return keccak(words(keccak(CHECKPOINT_TYPE.encode()), job_id, node, index, content_hash, path_hash))


def checkpoint_digest(
    domain: Hash32, job_id: int, node: Address, index: int, content_hash: Hash32, path_hash: Hash32
) -> Hash32:
    """What the node key signs when it uploads a drawn checkpoint; `path_hash` is keccak256 of the path's nodes."""
    return typed_digest(domain, checkpoint_hash(job_id, node, index, content_hash, path_hash))


def admission_hash(provider_id: ProviderId, node: Address, nonce: int, deadline: int) -> Hash32:
    """Struct hash of a NodeAdmission."""
    return keccak(words(keccak(ADMISSION_TYPE.encode()), provider_id, node, nonce, deadline))


def admission_digest(domain: Hash32, provider_id: ProviderId, node: Address, nonce: int, deadline: int) -> Hash32:
    """What a node key signs to join a provider (domain: ProviderRegistry)."""
    return typed_digest(domain, admission_hash(provider_id, node, nonce, deadline))


def observation_hash(epoch: int, member: Address, content_hash: Hash32) -> Hash32:
    """Struct hash of an Observation; `content_hash` is over its canonical JSON."""
    return keccak(words(keccak(OBSERVATION_TYPE.encode()), epoch, member, content_hash))


def observation_digest(domain: Hash32, epoch: int, member: Address, content_hash: Hash32) -> Hash32:
    """What an oracle member signs over the canonical JSON of its observation."""
    return typed_digest(domain, observation_hash(epoch, member, content_hash))


def recover(digest: Hash32, signature: Signature) -> Address:
    """Address whose key signed the digest.

    Args:
        digest: 32 bytes.
        signature: 65 bytes r || s || v, low s, v 27 or 28; anything else is refused, so that no signature has a twin.

    Raises:
        InvalidInputError: malformed or malleable signature, or no key fits.

    Source: EIP-2; compute-proof.md attack 22.
    """
    if len(signature) != 65 or signature[64] not in (27, 28):
        raise InvalidInputError("signature must have 65 bytes and end in 27 or 28", code="bad_signature")
    if int.from_bytes(signature[32:64], "big") > SECP256K1_HALF_N:
        raise InvalidInputError("signature has a high s", code="bad_signature")
    try:
        key = PublicKey.from_signature_and_message(signature[:64] + bytes([signature[64] - 27]), digest, hasher=None)
    except ValueError as error:
        raise InvalidInputError("no key fits this signature", code="bad_signature") from error
    return checksum_address(keccak(key.format(compressed=False)[1:])[12:])


def require_signed_by(signer: Address, digest: Hash32, signature: Signature) -> None:
    """Raises InvalidInputError unless `signer` signed the digest."""
    actual = recover(digest, signature)
    if actual != signer:
        raise InvalidInputError(
            f"signed by {actual}, not by {signer}", code="wrong_signer", fix="sign with the key the message names"
        )

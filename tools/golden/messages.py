"""Golden messages: one of every type a node or a member signs, with its digest and signature."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from swarm_chain.core import audits, benchmarks, checkpoints, encoding, merkle, signing
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.kinds import Category, JobKind
from swarm_chain.core.model import Commitment, Heartbeat, Opening, Proof, Receipt
from swarm_chain.core.units import Address, EpochNumber, Hash32, JobId, ProviderId, Timestamp, window_id
from swarm_chain.core.verdicts import PASSED_TYPE, PassedVerdicts, passed_root, passed_tree, verdicts_hash
from swarm_chain.testing import FakeSigner
from tools.golden.form import CHAIN_ID, Document, camel, sample_address, sample_hash, text

SIGNER = FakeSigner("golden node")
BEFORE_OPEN = {  # what the seed of the golden window is made of
    "prevrandao": sample_hash("prevrandao"),
    "previousBlockHash": sample_hash("block n-1"),
    "secret": sample_hash("secret"),
}
WINDOW_SEED = encoding.keccak(encoding.words(*BEFORE_OPEN.values()))
TYPES = (
    signing.COMMITMENT_TYPE,
    signing.PROOF_TYPE,
    signing.HEARTBEAT_TYPE,
    signing.RECEIPT_TYPE,
    signing.CHECKPOINT_TYPE,
    signing.ADMISSION_TYPE,
    signing.OBSERVATION_TYPE,
    PASSED_TYPE,
    audits.REQUEST_TYPE,
    audits.ANSWER_TYPE,
    benchmarks.BENCHMARK_TYPE,
)

Signed = tuple[str, Document, tuple[Hash32, Hash32]]


def eip712() -> Document:
    """One message of every signed type: its fields, digest, signature and signer."""
    beacon, registry = sample_address("ChallengeBeacon"), sample_address("ProviderRegistry")
    domain, registry_domain = (signing.domain_separator(CHAIN_ID, contract) for contract in (beacon, registry))
    signed = (
        *_node_messages(domain),
        *_other_messages(domain, registry_domain),
        *_audit_messages(domain),
        _benchmark_message(domain),
    )
    leaf = encoding.double_hash(signing.commitment_hash(commitment(SIGNER.address, 0)))
    return {
        "chainId": str(CHAIN_ID),
        "beacon": beacon,
        "registry": registry,
        "beaconDomain": to_hex(domain),
        "registryDomain": to_hex(registry_domain),
        "signer": SIGNER.address,
        "types": {words.split("(")[0]: words for words in TYPES},
        "messages": {name: message for name, message, _ in signed},
        "digests": {name: to_hex(signing.typed_digest(*parts)) for name, _, parts in signed},
        "signatures": {name: to_hex(SIGNER.sign_typed(*parts)) for name, _, parts in signed},
        "commitmentLeaf": to_hex(leaf),
        **_passed(),
    }


def commitment(node: Address, device: int) -> Commitment:
    """A commitment of the golden node."""
    where = window_id(EpochNumber(7), 1)
    root = sample_hash(f"commitment root {device}" if device else "commitment root")
    return Commitment(
        window_id=where,
        window_seed=WINDOW_SEED,
        node=node,
        device=device,
        m=1024,
        n=256,
        steps=8,
        root=root,
    )


PASSED = tuple(signing.commitment_hash(commitment(SIGNER.address, device)) for device in range(3))


def _node_messages(domain: Hash32) -> tuple[Signed, ...]:
    node, promise = SIGNER.address, commitment(SIGNER.address, 0)
    opening = Opening(row=3, head=bytes(range(64)), path=(sample_hash("left"), sample_hash("right")))
    openings = (opening, opening)
    proof = Proof(window_id=promise.window_id, node=node, device=0, root=promise.root, openings=openings)
    sign = Heartbeat(node=node, sequence=9, issued_at=Timestamp(1_700_000_000), expires_at=Timestamp(1_700_000_060))
    receipt = _receipt(node)
    proven = _message(proof, skip=("openings",)) | {"openingsHash": to_hex(encoding.openings_hash(openings))}
    return (
        ("ComputeCommitment", _message(promise), (domain, signing.commitment_hash(promise))),
        ("ComputeProof", proven, (domain, signing.proof_hash(proof))),
        ("Heartbeat", _message(sign), (domain, signing.heartbeat_hash(sign))),
        ("JobReceipt", _message(receipt), (domain, signing.receipt_hash(receipt))),
    )


def _other_messages(domain: Hash32, registry_domain: Hash32) -> tuple[Signed, ...]:
    node, path = SIGNER.address, (sample_hash("left"), sample_hash("right"))
    checkpoint = (5, node, 2, sample_hash("content"), checkpoints.path_hash(path))
    admission = (ProviderId(1), node, 0, 1_700_000_600)
    observation = (7, node, sample_hash("observation"))
    checkpoint_names = ("jobId", "node", "index", "contentHash", "pathHash")
    return (
        ("JobCheckpoint", _named(checkpoint_names, checkpoint), (domain, signing.checkpoint_hash(*checkpoint))),
        (
            "NodeAdmission",
            _named(("providerId", "node", "nonce", "deadline"), admission),
            (registry_domain, signing.admission_hash(*admission)),
        ),
        (
            "Observation",
            _named(("epoch", "member", "contentHash"), observation),
            (domain, signing.observation_hash(*observation)),
        ),
        ("PassedVerdicts", _message(_verdicts()), (domain, verdicts_hash(_verdicts()))),
    )


def _audit_messages(domain: Hash32) -> tuple[Signed, ...]:
    request = audits.AuditRequest(
        window_id=window_id(EpochNumber(7), 1),
        node=SIGNER.address,
        device=2,
        category=Category.MEMORY,
        claim=4096,
        member=sample_address("member"),
    )
    answer = audits.AuditAnswer(audit_id=audits.audit_id(request, sample_hash("nonce")), root=sample_hash("audit root"))
    numbered = _message(request, skip=("category",)) | {"category": str(audits.category_number(request.category))}
    return (
        ("AuditRequest", numbered, (domain, audits.request_hash(request))),
        ("AuditAnswer", _message(answer), (domain, audits.answer_hash(answer))),
    )


def _benchmark_message(domain: Hash32) -> Signed:
    figures = (
        benchmarks.Figure(category="compute", name="int8 rate", unit="mtops", value=1234),
        benchmarks.Figure(category="storage", name="audited reads", unit="IOPS", value=56),
    )
    report = benchmarks.BenchmarkReport(node=SIGNER.address, signed_at=Timestamp(1_700_000_300), figures=figures)
    hashed = _message(report, skip=("figures",)) | {"figures": to_hex(benchmarks.figures_hash(report))}
    return "BenchmarkReport", hashed, (domain, benchmarks.benchmark_hash(report))


def _verdicts() -> PassedVerdicts:
    return PassedVerdicts(epoch=EpochNumber(7), member=SIGNER.address, draws=8, passed_root=passed_root(PASSED))


def _passed() -> Document:
    """The commitments under the signed root with their paths, and the roots of one alone and of none."""
    tree = passed_tree(PASSED)
    return {
        "passed": [to_hex(one) for one in PASSED],
        "passedPaths": [[to_hex(node) for node in merkle.path(tree, at)] for at in range(len(PASSED))],
        "passedAloneRoot": to_hex(passed_root(PASSED[:1])),
        "passedNoneRoot": to_hex(passed_root(())),
    }


def _receipt(node: Address) -> Receipt:
    return Receipt(
        job_id=JobId(5),
        kind=JobKind.TRAIN,
        node=node,
        spec_hash=sample_hash("spec"),
        input_digest=sample_hash("input"),
        output_digest=sample_hash("output"),
        checkpoint_root=sample_hash("checkpoints"),
        checkpoint_count=4,
        device_seconds=12,
        started_at=Timestamp(1_700_000_000),
        finished_at=Timestamp(1_700_000_030),
        exit_code=0,
    )


def _message(value: Any, skip: Sequence[str] = ()) -> dict[str, str]:
    names = [field.name for field in fields(value) if field.name not in skip]
    return {camel(name): text(getattr(value, name)) for name in names}


def _named(names: Sequence[str], values: Sequence[object]) -> dict[str, str]:
    return {name: text(value) for name, value in zip(names, values, strict=True)}

"""Writes tests/golden/*.json from the core: what the contracts must compute to the same bytes.

Made for forge's `vm.parseJson…Array`: one array a field, integers as decimal strings, bytes as 0x-hex.
`python -m tools.golden` writes the files, `python -m tools.golden check` compares them.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from swarm_chain.core import checkpoints, compute, encoding, merkle, rowchain, signing
from swarm_chain.core.encoding import address_bytes, checksum_address, keccak, to_hex, words
from swarm_chain.core.model import (
    Commitment,
    Heartbeat,
    JobKind,
    JobOutcome,
    Opening,
    Proof,
    Receipt,
    Report,
    SettlementLeaf,
    Severity,
    Violation,
    ViolationClass,
)
from swarm_chain.core.units import (
    UINT64_MAX,
    UINT128_MAX,
    Address,
    BlockNumber,
    EpochNumber,
    Hash32,
    JobId,
    ProviderId,
    Timestamp,
    Wei,
    window_id,
)
from swarm_chain.testing import FakeSigner
from tests.golden.epoch_case import epoch_document

TARGET = Path(__file__).resolve().parent.parent / "tests" / "golden"
CHAIN_ID = 31_337

Document = dict[str, Any]


def settlement() -> Document:
    """Leaves, root and every path of a settlement tree; a lone provider beside the stone leaf."""
    contract = _address("RewardSettlement")
    domain = encoding.leaf_domain(encoding.SETTLEMENT_TAG, CHAIN_ID, contract)
    amounts = [(10**18, 0), (0, 0), (UINT128_MAX, UINT128_MAX), (123_456_789 * 10**9, 5), (1, 2)]
    lines = [_line(index + 1, reward, penalty) for index, (reward, penalty) in enumerate(amounts)]
    tree = merkle.build_tree(encoding.settlement_leaf(domain, line) for line in lines)
    lone = merkle.build_tree(encoding.settlement_leaf(domain, line) for line in (lines[0], _line(0, 0, 0)))
    return {
        "chainId": str(CHAIN_ID),
        "contract": contract,
        "tag": encoding.SETTLEMENT_TAG,
        "domain": to_hex(domain),
        "providerIds": _column(lines, "provider_id"),
        "cumRewards": _column(lines, "cum_reward_wei"),
        "cumPenalties": _column(lines, "cum_penalty_wei"),
        **_tree(tree),
        "loneRoot": to_hex(merkle.root(lone)),
        "lonePath": _hexes(merkle.path(lone, 0)),
    }


def outcomes() -> Document:
    """Leaves of violations and jobs in tree order, case ids, root and paths."""
    court, escrow = _address("SlashingCourt"), _address("JobEscrow")
    court_domain = encoding.leaf_domain(encoding.VIOLATION_TAG, CHAIN_ID, court)
    job_domain = encoding.leaf_domain(encoding.JOB_TAG, CHAIN_ID, escrow)
    violations = [
        _violation(1, ViolationClass.PERFORMANCE, Severity.PENALTY, 10**18, 60),
        _violation(2, ViolationClass.SECURITY, Severity.SEVERE, UINT128_MAX, UINT64_MAX),
        _violation(2, ViolationClass.PROTOCOL, Severity.SEVERE, 500 * 10**18, 420),
    ]
    jobs = [
        JobOutcome(job_id=JobId(1), receipt_digest=_hash("receipt 1"), pay_wei=Wei(7 * 10**18)),
        JobOutcome(job_id=JobId(2**64), receipt_digest=_hash("receipt 2"), pay_wei=Wei(0)),
    ]
    leaves = [encoding.violation_leaf(court_domain, violation) for violation in violations]
    leaves += [encoding.job_leaf(job_domain, job) for job in jobs]
    names = [field.name for field in fields(Violation)]
    return {
        "chainId": str(CHAIN_ID),
        "court": court,
        "escrow": escrow,
        "violationDomain": to_hex(court_domain),
        "jobDomain": to_hex(job_domain),
        "violations": {_camel(name): _column(violations, name) for name in names},
        "caseIds": _hexes([encoding.case_id(violation) for violation in violations]),
        "jobs": {_camel(field.name): _column(jobs, field.name) for field in fields(JobOutcome)},
        **_tree(merkle.build_tree(leaves)),
    }


def report() -> Document:
    """Reports and the hashes members vote on."""
    reports = [
        Report(
            epoch=EpochNumber(7),
            ref_block=BlockNumber(1234),
            ref_block_hash=_hash("block"),
            params_version=0xDEADBEEF,
            root=_hash("root"),
            leaf_count=4,
            total_reward_wei=Wei(10**23),
            total_penalty_wei=Wei(10**18),
            outcomes_root=_hash("outcomes"),
            manifest_hash=_hash("manifest"),
        ),
        Report(
            epoch=EpochNumber(2**32 - 1),
            ref_block=BlockNumber(UINT64_MAX),
            ref_block_hash=Hash32(b"\xff" * 32),
            params_version=2**32 - 1,
            root=Hash32(b"\xff" * 32),
            leaf_count=2**32 - 1,
            total_reward_wei=Wei(UINT128_MAX),
            total_penalty_wei=Wei(UINT128_MAX),
            outcomes_root=Hash32(bytes(32)),
            manifest_hash=Hash32(b"\xff" * 32),
        ),
    ]
    columns = {_camel(field.name): _column(reports, field.name) for field in fields(Report)}
    return columns | {"hashes": _hexes([encoding.report_hash(item) for item in reports])}


def eip712() -> Document:
    """One message of every signed type: its fields, digest, signature and signer."""
    beacon, registry = _address("ChallengeBeacon"), _address("ProviderRegistry")
    domain, registry_domain = (signing.domain_separator(CHAIN_ID, contract) for contract in (beacon, registry))
    signer, root = FakeSigner("golden node"), _hash("commitment root")
    node = signer.address
    opening = Opening(row=3, head=bytes(range(64)), path=(_hash("left"), _hash("right")))
    commitment = _commitment(node, 0)
    proof = Proof(window_id=commitment.window_id, node=node, device=0, root=root, openings=(opening, opening))
    heartbeat = Heartbeat(
        node=node, sequence=9, issued_at=Timestamp(1_700_000_000), expires_at=Timestamp(1_700_000_060)
    )
    receipt = _receipt(node)
    checkpoint = (5, node, 2, _hash("content"), checkpoints.path_hash(opening.path))
    admission = (ProviderId(1), node, 0, 1_700_000_600)
    observation = (7, node, _hash("observation"))
    digests = {
        "ComputeCommitment": signing.commitment_digest(domain, commitment),
        "ComputeProof": signing.proof_digest(domain, proof),
        "Heartbeat": signing.heartbeat_digest(domain, heartbeat),
        "JobReceipt": signing.receipt_digest(domain, receipt),
        "JobCheckpoint": signing.checkpoint_digest(domain, *checkpoint),
        "NodeAdmission": signing.admission_digest(registry_domain, *admission),
        "Observation": signing.observation_digest(domain, *observation),
    }
    openings_hash = encoding.openings_hash(proof.openings)
    messages = {
        "ComputeCommitment": _message(commitment),
        "ComputeProof": _message(proof, skip=("openings",)) | {"openingsHash": to_hex(openings_hash)},
        "Heartbeat": _message(heartbeat),
        "JobReceipt": _message(receipt),
        "JobCheckpoint": _named(("jobId", "node", "index", "contentHash", "pathHash"), checkpoint),
        "NodeAdmission": _named(("providerId", "node", "nonce", "deadline"), admission),
        "Observation": _named(("epoch", "member", "contentHash"), observation),
    }
    types = (
        signing.COMMITMENT_TYPE,
        signing.PROOF_TYPE,
        signing.HEARTBEAT_TYPE,
        signing.RECEIPT_TYPE,
        signing.CHECKPOINT_TYPE,
        signing.ADMISSION_TYPE,
        signing.OBSERVATION_TYPE,
    )
    return {
        "chainId": str(CHAIN_ID),
        "beacon": beacon,
        "registry": registry,
        "beaconDomain": to_hex(domain),
        "registryDomain": to_hex(registry_domain),
        "signer": node,
        "types": {text.split("(")[0]: text for text in types},
        "messages": messages,
        "digests": {name: to_hex(digest) for name, digest in digests.items()},
        "signatures": {name: to_hex(signer.sign_digest(digest)) for name, digest in digests.items()},
        "commitmentLeaf": to_hex(encoding.double_hash(signing.commitment_hash(commitment))),
    }


def challenge() -> Document:
    """Seeds, drawn rows, a column of W and a row of X0, a few steps of that row; the draw of a job's segments."""
    beacon, node = _address("ChallengeBeacon"), FakeSigner("golden node").address
    prevrandao, previous, secret, later = (_hash(text) for text in ("prevrandao", "block n-1", "secret", "block c+2"))
    window_seed, commitment = keccak(words(prevrandao, previous, secret)), _commitment(node, 1)
    commitments = [_commitment(node, 0), commitment]
    tree = merkle.build_tree(encoding.double_hash(signing.commitment_hash(item)) for item in commitments)
    draw_seed = keccak(words(later, window_seed, merkle.root(tree)))
    window = compute.ComputeWindow(
        chain_id=CHAIN_ID, beacon=beacon, window_id=commitment.window_id, window_seed=window_seed
    )
    shape = compute.ComputeShape(m=commitment.m, n=commitment.n, steps=commitment.steps)
    question = compute.ComputeChallenge(window=window, node=node, device=1, shape=shape)
    seed_w, seed_x = compute.seed_w(window, shape.n), compute.seed_x(window, node, 1)
    row = rowchain.input_rows(seed_x, np.array([5], dtype=np.int64), shape.n)
    last = rowchain.run_rows(row, rowchain.weights(seed_w, shape.n), shape.steps)
    job_seed, job_id = checkpoints.job_seed(later, _hash("receipt 1")), JobId(3)
    return {
        "chainId": str(CHAIN_ID),
        "beacon": beacon,
        "node": node,
        "device": "1",
        "windowId": str(commitment.window_id),
        **{name: str(getattr(shape, name)) for name in ("m", "n", "steps")},
        "prevrandao": to_hex(prevrandao),
        "previousBlockHash": to_hex(previous),
        "secret": to_hex(secret),
        "secretHash": to_hex(keccak(secret)),
        "windowSeed": to_hex(window_seed),
        "commitmentsRoot": to_hex(merkle.root(tree)),
        "drawBlockHash": to_hex(later),
        "drawSeed": to_hex(draw_seed),
        "root": to_hex(commitment.root),
        "rows": [str(row) for row in compute.draw_rows(draw_seed, question, commitment.root, 8)],
        "seedW": str(seed_w),
        "seedX": str(seed_x),
        "column": "7",
        "columnBytes": to_hex(rowchain.weight_column(seed_w, 7, shape.n).tobytes()),
        "row": "5",
        "rowBytes": to_hex(row.tobytes()),
        "lastRowBytes": to_hex(last.tobytes()),
        "rowLeaf": to_hex(compute.commitment_leaf(5, compute.digest(last.tobytes()[: compute.HEAD_BYTES]))),
        "jobSeed": to_hex(job_seed),
        "jobReceiptDigest": to_hex(_hash("receipt 1")),
        "jobId": str(job_id),
        "jobSegments": "9",
        "drawnSegments": [str(segment) for segment in checkpoints.draw_segments(job_seed, job_id, 9)],
    }


DOCUMENTS = {
    "settlement": settlement,
    "outcomes": outcomes,
    "epoch": epoch_document,
    "report": report,
    "eip712": eip712,
    "challenge": challenge,
}


def golden_texts() -> dict[str, str]:
    """File name to text of every golden file."""
    return {f"{name}.json": json.dumps(make(), indent=2) + "\n" for name, make in DOCUMENTS.items()}


def stale_files() -> tuple[str, ...]:
    """Names of committed files that differ from what the core gives now."""
    texts = golden_texts().items()
    return tuple(name for name, text in texts if not (TARGET / name).exists() or (TARGET / name).read_text() != text)


def main(arguments: list[str]) -> int:
    """Writes the files, or with `check` compares them."""
    if arguments == ["check"]:
        stale = stale_files()
        sys.stdout.write("".join(f"tests/golden/{name} is stale: run `make golden`\n" for name in stale))
        return 1 if stale else 0
    TARGET.mkdir(exist_ok=True)
    for name, text in golden_texts().items():
        (TARGET / name).write_text(text)
    return 0


def _line(provider: int, reward: int, penalty: int) -> SettlementLeaf:
    return SettlementLeaf(provider_id=ProviderId(provider), cum_reward_wei=Wei(reward), cum_penalty_wei=Wei(penalty))


def _violation(provider: int, kind: ViolationClass, severity: Severity, amount: int, suspended_for: int) -> Violation:
    return Violation(
        provider_id=ProviderId(provider),
        violation_class=kind,
        severity=severity,
        epoch=EpochNumber(7),
        offence_at=Timestamp(1_700_000_000 + provider),
        amount_wei=Wei(amount),
        suspended_for=suspended_for,
        evidence_hash=_hash(f"evidence {provider} {kind}"),
    )


def _commitment(node: Address, device: int) -> Commitment:
    where = window_id(EpochNumber(7), 1)
    root = _hash(f"commitment root {device}" if device else "commitment root")
    return Commitment(window_id=where, node=node, device=device, m=1024, n=256, steps=8, root=root)


def _receipt(node: Address) -> Receipt:
    return Receipt(
        job_id=JobId(5),
        kind=JobKind.TRAIN,
        node=node,
        spec_hash=_hash("spec"),
        input_digest=_hash("input"),
        output_digest=_hash("output"),
        checkpoint_root=_hash("checkpoints"),
        checkpoint_count=4,
        device_seconds=12,
        started_at=Timestamp(1_700_000_000),
        finished_at=Timestamp(1_700_000_030),
        exit_code=0,
    )


def _message(value: Any, skip: Sequence[str] = ()) -> dict[str, str]:
    names = [field.name for field in fields(value) if field.name not in skip]
    return {_camel(name): _text(getattr(value, name)) for name in names}


def _named(names: Sequence[str], values: Sequence[object]) -> dict[str, str]:
    return {name: _text(value) for name, value in zip(names, values, strict=True)}


def _column(items: Sequence[object], name: str) -> list[str]:
    return [_text(getattr(item, name)) for item in items]


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return to_hex(value)
    return str(int(value)) if isinstance(value, int) else str(value)


def _tree(tree: bytes) -> dict[str, Any]:
    count = merkle.leaf_count(tree)
    nodes = [tree[i : i + merkle.NODE_BYTES] for i in range(0, len(tree), merkle.NODE_BYTES)]
    return {
        "leaves": _hexes(nodes[: count - 2 : -1]),
        "root": to_hex(merkle.root(tree)),
        "paths": [_hexes(merkle.path(tree, index)) for index in range(count)],
    }


def _hexes(values: Sequence[bytes]) -> list[str]:
    return [to_hex(value) for value in values]


def _camel(name: str) -> str:
    first, *rest = name.removesuffix("_wei").split("_")
    return first + "".join(word.capitalize() for word in rest)


def _hash(text: str) -> Hash32:
    return keccak(f"golden {text}".encode())


def _address(contract: str) -> Address:
    address = checksum_address(keccak(contract.encode())[12:])
    address_bytes(address)
    return address


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

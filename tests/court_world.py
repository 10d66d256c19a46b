"""Commitments with one false row, honest ones, and the bundles that publish them: for every test of a dispute."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from node.prove import ComputeRun, commitment_of, prove_rows, restore_run
from swarm_chain.core.compute import HEAD_BYTES, ComputeChallenge, seed_w
from swarm_chain.core.court import RowTrace, trace_row
from swarm_chain.core.merkle import path
from swarm_chain.core.messages import signed_commitment_json, signed_proof_json
from swarm_chain.core.model import Commitment, SignedCommitment, SignedProof
from swarm_chain.core.rowchain import step, weights
from swarm_chain.core.signing import commitment_hash, domain_separator
from swarm_chain.core.units import Hash32, Signature
from swarm_chain.court.model import RowEvidence
from swarm_chain.ports import Signer
from tests.compute_world import honest_run


@dataclass(frozen=True, slots=True, kw_only=True)
class Prover:
    """A device's run and what it would show of one row: the truth, or the lie that leads to its commitment."""

    run: ComputeRun
    trace: RowTrace

    @property
    def commitment(self) -> Commitment:
        """What it commits to."""
        return commitment_of(self.run)

    @property
    def evidence(self) -> RowEvidence:
        """How it defends the row."""
        return RowEvidence(trace=self.trace, path=path(self.run.tree, self.trace.row))

    def signed(self, signer: Signer) -> SignedCommitment:
        """The commitment with a signature."""
        return sign_commitment(self.commitment, self.run.challenge, signer)

    def openings(self, *rows: int) -> SignedProof:
        """A proof that opens these rows; nobody checks its signature here."""
        return SignedProof(proof=prove_rows(self.run, rows), signature=Signature(bytes(65)))


def honest_prover(challenge: ComputeChallenge, row: int) -> Prover:
    """A device that did everything right."""
    return Prover(run=honest_run(challenge), trace=true_trace(challenge, row))


def lying_prover(challenge: ComputeChallenge, row: int, at: int, column: int = 5) -> Prover:
    """A device whose row has one false byte after `at` steps and is carried on from there; all other rows are true."""
    lie = lying_trace(challenge, row, at, column, 1)
    heads = honest_run(challenge).heads
    start = row * HEAD_BYTES
    return Prover(run=restore_run(challenge, heads[:start] + lie.head + heads[start + HEAD_BYTES :]), trace=lie)


def true_trace(challenge: ComputeChallenge, row: int) -> RowTrace:
    """The row as it must be."""
    n = challenge.shape.n
    return trace_row(challenge, row, weights(seed_w(challenge.window, n), n))


def lying_trace(challenge: ComputeChallenge, row: int, at: int, column: int, mask: int) -> RowTrace:
    """The row with one byte changed after `at` steps and carried on from there as if nothing had happened."""
    honest, n = true_trace(challenge, row), challenge.shape.n
    w = weights(seed_w(challenge.window, n), n)
    states = [*honest.states[:at], with_byte(honest.states[at], column, mask)]
    while len(states) <= challenge.shape.steps:
        states.append(step(np.frombuffer(states[-1], dtype=np.int8)[np.newaxis, :], w).tobytes())
    return RowTrace(row=row, states=tuple(states))


def with_byte(row: bytes, column: int, mask: int) -> bytes:
    """The bytes with one of them changed; the mask says how."""
    return row[:column] + bytes([row[column] ^ mask]) + row[column + 1 :]


def sign_commitment(commitment: Commitment, challenge: ComputeChallenge, signer: Signer) -> SignedCommitment:
    """A commitment with a signature for the challenge's chain."""
    domain = domain_separator(challenge.window.chain_id, challenge.window.beacon)
    return SignedCommitment(commitment=commitment, signature=signer.sign_typed(domain, commitment_hash(commitment)))


def other_root(signed: SignedCommitment, challenge: ComputeChallenge, signer: Signer) -> SignedCommitment:
    """A second commitment of the same device in the same window."""
    return sign_commitment(replace(signed.commitment, root=Hash32(signed.signature[:32])), challenge, signer)


def bundle_document(
    chain_id: int,
    epoch: int,
    commitments: Sequence[SignedCommitment],
    proofs: Sequence[SignedProof] = (),
    equivocations: Sequence[tuple[SignedCommitment, SignedCommitment]] = (),
) -> dict[str, Any]:
    """The part of a published bundle that a court needs, and what is around it."""
    return {
        "domain": "swarm/bundle/v1",
        "chainId": chain_id,
        "epoch": epoch,
        "commitments": [signed_commitment_json(signed) for signed in commitments],
        "proofs": [signed_proof_json(signed) for signed in proofs],
        "equivocations": [[signed_commitment_json(one) for one in pair] for pair in equivocations],
    }

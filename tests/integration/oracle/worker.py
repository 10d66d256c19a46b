"""A node's honest work, message by message, against running members."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2

from node import wire
from node.prove import ComputeRun, commitment_of, prove, prove_rows
from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.core.compute import ComputeChallenge, ComputeShape, ComputeWindow, draw_rows
from swarm_chain.core.encoding import hash_from_hex
from swarm_chain.core.messages import Json
from swarm_chain.core.model import Commitment, SignedCommitment, SignedProof
from swarm_chain.core.params import Params
from swarm_chain.core.rowchain import NumpyCompute
from swarm_chain.core.signing import commitment_hash, domain_separator, proof_hash
from swarm_chain.core.units import Hash32, WindowId
from tests.integration.oracle.process import MemberProgram


@dataclass(slots=True, kw_only=True)
class Worker:
    """One node with one device; it remembers its runs, and hands everything to every member that answers.

    `members` may change between two steps; a message is sent again until each of them has it.
    """

    signer: KeySigner
    members: Sequence[MemberProgram]
    params: Params
    runs: dict[WindowId, ComputeRun] = field(default_factory=dict)
    proofs: dict[WindowId, SignedProof] = field(default_factory=dict)
    delivered: set[tuple[str, str, WindowId]] = field(default_factory=set)

    @property
    def proven(self) -> set[WindowId]:
        """Windows whose openings some member has."""
        return {window for _, kind, window in self.delivered if kind == "proof"}

    def step(self) -> None:
        """Commits in every open window, opens the drawn rows in every drawn one."""
        for member in self.members:
            try:
                for window in member.get("/v1/windows/current").get("windows", ()):
                    self._answer(member, window)
            except httpx2.TransportError:
                continue  # killed, or not up yet

    def commitment(self, number: WindowId) -> Commitment:
        """What this node committed to in a window."""
        return commitment_of(self.runs[number])

    def _answer(self, member: MemberProgram, window: Mapping[str, Any]) -> None:
        number = WindowId(window["windowId"])
        if window["state"] == "open":
            if number not in self.runs:
                self.runs[number] = self._run(number, window["windowSeed"])
            commitment = self.commitment(number)
            signature = self.signer.sign_typed(self._domain, commitment_hash(commitment))
            body = wire.commitment_body(SignedCommitment(commitment=commitment, signature=signature))
            self._deliver(member, "commitment", number, body)
        if window["state"] == "drawn" and number in self.runs:
            if number not in self.proofs:
                self.proofs[number] = self._open(number, window["drawSeed"])
            self._deliver(member, "proof", number, wire.proof_body(self.proofs[number]))

    def _deliver(self, member: MemberProgram, kind: str, number: WindowId, body: Json) -> None:
        if (member.url, kind, number) in self.delivered:
            return
        answer = member.post(f"/v1/{kind}s", body)
        if answer.status_code == 503:
            return  # it has not seen the window yet, or is about to stop
        assert answer.status_code == 202 or len(self.members) > 1, answer.text
        self.delivered.add((member.url, kind, number))

    def _run(self, number: WindowId, window_seed: str) -> ComputeRun:
        deployment = self.members[0].net.deployment
        compute = self.params.compute
        window = ComputeWindow(
            chain_id=deployment.chain_id,
            beacon=deployment.contracts["ChallengeBeacon"],
            window_id=number,
            window_seed=hash_from_hex(window_seed),
        )
        shape = ComputeShape(m=compute.m, n=compute.n, steps=compute.first_steps)
        challenge = ComputeChallenge(window=window, node=self.signer.address, device=0, shape=shape)
        return prove(challenge, NumpyCompute(), (0, 7))

    def _open(self, number: WindowId, draw_seed: str) -> SignedProof:
        run, draws = self.runs[number], self.params.compute.draws
        root = commitment_of(run).root
        proof = prove_rows(run, draw_rows(hash_from_hex(draw_seed), run.challenge, root, draws))
        signature = self.signer.sign_typed(self._domain, proof_hash(proof))
        return SignedProof(proof=proof, signature=signature)

    @property
    def _domain(self) -> Hash32:
        deployment = self.members[0].net.deployment
        return domain_separator(deployment.chain_id, deployment.contracts["ChallengeBeacon"])

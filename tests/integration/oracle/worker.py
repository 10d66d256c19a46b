"""A node's honest work, message by message, against a running member."""

from dataclasses import dataclass, field

from node import wire
from node.prove import ComputeRun, commitment_of, prove, prove_rows
from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.core.compute import ComputeChallenge, ComputeShape, ComputeWindow, draw_rows
from swarm_chain.core.encoding import hash_from_hex
from swarm_chain.core.model import Commitment, SignedCommitment, SignedProof
from swarm_chain.core.params import Params
from swarm_chain.core.rowchain import NumpyCompute
from swarm_chain.core.signing import commitment_hash, domain_separator, proof_hash
from swarm_chain.core.units import Hash32, WindowId
from tests.integration.oracle.process import MemberProgram


@dataclass(slots=True, kw_only=True)
class Worker:
    """One node with one device; it remembers its runs."""

    signer: KeySigner
    member: MemberProgram
    params: Params
    runs: dict[WindowId, ComputeRun] = field(default_factory=dict)
    proven: set[WindowId] = field(default_factory=set)

    def step(self) -> None:
        """Commits in every open window, opens the drawn rows in every drawn one."""
        for window in self.member.get("/v1/windows/current")["windows"]:
            number = WindowId(window["windowId"])
            if window["state"] == "open" and number not in self.runs:
                self._commit(number, window["windowSeed"])
            if window["state"] == "drawn" and number in self.runs and number not in self.proven:
                self._open(number, window["drawSeed"])

    def commitment(self, number: WindowId) -> Commitment:
        """What this node committed to in a window."""
        return commitment_of(self.runs[number])

    def _commit(self, number: WindowId, window_seed: str) -> None:
        deployment = self.member.net.deployment
        compute = self.params.compute
        window = ComputeWindow(
            chain_id=deployment.chain_id,
            beacon=deployment.contracts["ChallengeBeacon"],
            window_id=number,
            window_seed=hash_from_hex(window_seed),
        )
        shape = ComputeShape(m=compute.m, n=compute.n, steps=compute.first_steps)
        challenge = ComputeChallenge(window=window, node=self.signer.address, device=0, shape=shape)
        self.runs[number] = prove(challenge, NumpyCompute(), (0, 7))
        commitment = self.commitment(number)
        signature = self.signer.sign_typed(self._domain, commitment_hash(commitment))
        body = wire.commitment_body(SignedCommitment(commitment=commitment, signature=signature))
        answer = self.member.post("/v1/commitments", body)
        assert answer.status_code == 202, answer.text

    def _open(self, number: WindowId, draw_seed: str) -> None:
        run, draws = self.runs[number], self.params.compute.draws
        root = commitment_of(run).root
        proof = prove_rows(run, draw_rows(hash_from_hex(draw_seed), run.challenge, root, draws))
        signature = self.signer.sign_typed(self._domain, proof_hash(proof))
        answer = self.member.post("/v1/proofs", wire.proof_body(SignedProof(proof=proof, signature=signature)))
        assert answer.status_code == 202, answer.text
        self.proven.add(number)

    @property
    def _domain(self) -> Hash32:
        deployment = self.member.net.deployment
        return domain_separator(deployment.chain_id, deployment.contracts["ChallengeBeacon"])

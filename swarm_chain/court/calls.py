"""Calls of ComputeCourt by name and in the order of its arguments."""

from dataclasses import dataclass

from swarm_chain.core.model import Commitment, ContractCall, SignedCommitment
from swarm_chain.core.units import Hash32, Wei
from swarm_chain.core.verdicts import SignedVerdicts
from swarm_chain.court.model import CONTRACT


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedProof:
    """A member's signed "passed" over a commitment: its path under `passedRoot`, and the counter that drew the row."""

    signed: SignedVerdicts
    path: tuple[Hash32, ...]
    counter: int


def commitment_args(commitment: Commitment) -> dict[str, object]:
    """A commitment as the struct the court takes."""
    return {
        "windowId": commitment.window_id,
        "windowSeed": commitment.window_seed,
        "node": commitment.node,
        "device": commitment.device,
        "m": commitment.m,
        "n": commitment.n,
        "steps": commitment.steps,
        "root": commitment.root,
    }


def approve_call(court: str, wei: Wei) -> ContractCall:
    """Lets the court take a bond; the next `approve` replaces it."""
    return ContractCall(contract="SwarmToken", function="approve", args=(court, wei))


def seal_call(sealed: Hash32) -> ContractCall:
    """Notes a sealed accusation."""
    return court_call("seal", sealed)


def accuse_call(signed: SignedCommitment, row: int, salt: Hash32) -> ContractCall:
    """Accuses one row of a commitment its node signed."""
    return court_call("accuse", commitment_args(signed.commitment), signed.signature, row, salt)


def accuse_member_call(signed: SignedCommitment, row: int, passed: PassedProof, salt: Hash32) -> ContractCall:
    """Accuses the member that signed "passed" over a drawn row."""
    verdicts = passed.signed.verdicts
    proof = {
        "verdicts": {
            "epoch": verdicts.epoch,
            "member": verdicts.member,
            "draws": verdicts.draws,
            "passedRoot": verdicts.passed_root,
        },
        "signature": passed.signed.signature,
        "path": list(passed.path),
        "counter": passed.counter,
    }
    return court_call("accuseMember", commitment_args(signed.commitment), signed.signature, row, proof, salt)


def equivocate_call(first: SignedCommitment, second: SignedCommitment, salt: Hash32) -> ContractCall:
    """Convicts a node of two different signed commitments for one window and device."""
    pair = (commitment_args(first.commitment), first.signature, commitment_args(second.commitment), second.signature)
    return court_call("equivocate", *pair, salt)


def court_call(function: str, *args: object) -> ContractCall:
    """Any call of the court."""
    return ContractCall(contract=CONTRACT, function=function, args=args)

"""What a leader must not leave out: the evidence a member held when it signed its observation.

A leader gathers a member's evidence after that member's observation, so an honest one has all of it. A member refuses a
bundle that hides some, and the next leader's turn comes.
"""

from collections.abc import Collection
from dataclasses import dataclass

from oracle.judge.windows import commitments_root
from oracle.model import Bundle
from swarm_chain.core.encoding import address_bytes
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import JobState, WindowState
from swarm_chain.core.model import ChainState, Commitment, SignedCommitment
from swarm_chain.core.units import Address, JobId, WindowId, epoch_of

ProofKey = tuple[WindowId, Address, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What a member itself received of an epoch: commitments of windows, keys of proofs, jobs with the named receipt."""

    commitments: tuple[SignedCommitment, ...] = ()
    proofs: frozenset[ProofKey] = frozenset()
    receipts: frozenset[JobId] = frozenset()


def require_complete(bundle: Bundle, held: Held, state: ChainState) -> None:
    """Refuse a bundle that leaves out what this member holds.

    Args:
        bundle: evidence that `check_bundle` accepted.
        held: what this member received itself.
        state: the chain at the reference block.

    Raises:
        InvalidInputError: a window's commitments, a proof of one of them, or a completed job's receipt is left out (code
            "hidden_evidence").
    """
    hidden = hidden_windows(bundle, held, state)
    if hidden:
        raise _hides(f"the commitments of window {hidden[0]}")
    shown = {(p.proof.window_id, p.proof.node, p.proof.device) for p in bundle.proofs}
    committed = {_key(signed.commitment) for signed in bundle.commitments}
    missing = sorted((held.proofs & committed) - shown, key=lambda key: (key[0], address_bytes(key[1]), key[2]))
    if missing:
        raise _hides(f"the proof of {missing[0][1]} in window {missing[0][0]}")
    completed = {job.job_id for job in state.jobs if job.state is JobState.COMPLETED}
    unnamed = held.receipts & completed - {signed.receipt.job_id for signed in bundle.receipts}
    if unnamed:
        raise _hides(f"the receipt of job {min(unnamed)}")


def hidden_windows(bundle: Bundle, held: Held, state: ChainState) -> tuple[WindowId, ...]:
    """Give the drawn windows that would be void by this bundle although the member holds what their root was made of.

    Args:
        bundle: the leader's evidence.
        held: what this member received itself.
        state: the chain at the reference block.
    """
    drawn = [w for w in state.windows if w.state is WindowState.DRAWN and epoch_of(w.window_id) == bundle.epoch]
    return tuple(
        window.window_id
        for window in drawn
        if commitments_root(_of(window.window_id, held.commitments)) == window.commitments_root
        and commitments_root(_of(window.window_id, bundle.commitments)) != window.commitments_root
    )


def _of(window: WindowId, commitments: Collection[SignedCommitment]) -> list[Commitment]:
    return [signed.commitment for signed in commitments if signed.commitment.window_id == window]


def _key(commitment: Commitment) -> ProofKey:
    return commitment.window_id, commitment.node, commitment.device


def _hides(what: str) -> InvalidInputError:
    return InvalidInputError(
        f"the bundle leaves out {what}, which this member holds",
        code="hidden_evidence",
        fix="do not vote on it; wait for the next leader's bundle",
    )

"""What is false in an epoch's evidence, and what the defence of a true row needs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from swarm_chain.core import merkle
from swarm_chain.core.compute import ComputeChallenge
from swarm_chain.core.court import accusation_id, draw_counter, opens_row
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import WindowState
from swarm_chain.core.model import Commitment, Deployment, Opening, SignedCommitment, WindowRecord
from swarm_chain.core.signing import commitment_hash
from swarm_chain.core.units import ZERO_ADDRESS, Address, Hash32, ProviderId, Timestamp, epoch_of
from swarm_chain.core.verdicts import SignedVerdicts, passed_tree
from swarm_chain.court.calls import PassedProof
from swarm_chain.court.model import CourtView, RowEvidence, challenge_of, offence_of
from swarm_chain.court.recompute import Progress, Recomputer


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """A commitment the court would look at, its challenge, its drawn window, and its openings that lead to the root."""

    signed: SignedCommitment
    challenge: ComputeChallenge
    window: WindowRecord
    openings: tuple[Opening, ...]

    @property
    def commitment(self) -> Commitment:
        """What was signed."""
        return self.signed.commitment


def accusable(
    signed: SignedCommitment, openings: Sequence[Opening], view: CourtView, deployment: Deployment, accuse_for: int
) -> Suspect | None:
    """Take up a commitment the court would look at.

    Args:
        signed: a commitment and its node's signature, which was checked.
        openings: rows its node opened; those that do not lead to its root are left out.
        view: the chain now.
        deployment: chain and contracts.
        accuse_for: seconds after a window's end within which its commitments can be accused.

    Returns:
        None for a commitment that cannot be accused: of another branch, of a window that was not drawn or is long over,
        of an impossible shape, of a node nobody registered, or of a key that was removed before the window opened.
    """
    c = signed.commitment
    window = next((found for found in view.chain.windows if found.window_id == c.window_id), None)
    if window is None or not _is_open_to_court(window, c, view.now, accuse_for) or not _binds(c.node, window, view):
        return None
    try:
        challenge = challenge_of(c, deployment)
    except InvalidInputError:
        return None
    leading = tuple(o for o in openings if opens_row(c.root, challenge.shape, o.row, o.head, o.path))
    return Suspect(signed=signed, challenge=challenge, window=window, openings=leading)


def false_rows(suspect: Suspect, recomputer: Recomputer) -> tuple[int, ...]:
    """Recompute the opened rows of a commitment.

    Returns:
        Rows whose committed head is not the true one, ascending.
    """
    rows = [opening.row for opening in suspect.openings]
    heads = recomputer.heads(suspect.challenge, rows)
    said = (opening.head for opening in suspect.openings)
    return tuple(sorted({row for row, head, true in zip(rows, said, heads, strict=True) if head != true}))


def is_true(suspect: Suspect, recomputer: Recomputer, progress: Progress) -> bool:
    """Recompute a whole commitment, which costs what its proof cost, and tell whether every row of it is true."""
    return merkle.root(recomputer.tree(suspect.challenge, progress)) == suspect.commitment.root


def unaccused(
    commitment: Commitment, rows: Sequence[int], view: CourtView, accuser: Address, member: Address = ZERO_ADDRESS
) -> Iterator[int]:
    """Those of the rows that this accuser has not accused yet; that somebody else has may be the accused's own sham."""
    offence, hashed = offence_of(commitment, member), commitment_hash(commitment)
    return (row for row in rows if accusation_id(offence, hashed, row, accuser) not in view.accusations)


def passed_proof(suspect: Suspect, row: int, signed: SignedVerdicts) -> PassedProof | None:
    """Show that a member passed a commitment although it drew this row.

    Args:
        suspect: the commitment.
        row: a row whose committed head is false.
        signed: a member's verdicts, checked.

    Returns:
        None if the member did not pass it in this epoch, or did not draw the row.
    """
    c, hashed = suspect.commitment, commitment_hash(suspect.commitment)
    if signed.verdicts.epoch != epoch_of(c.window_id) or hashed not in signed.passed:
        return None
    counter = draw_counter(suspect.window.draw_seed, suspect.challenge, c.root, row, signed.verdicts.draws)
    if counter is None:
        return None
    path = merkle.path(passed_tree(signed.passed), signed.passed.index(hashed))
    return PassedProof(signed=signed, path=path, counter=counter)


def row_evidence(
    commitment: Commitment, row: int, challenge: ComputeChallenge, recomputer: Recomputer, *, tree: bytes
) -> RowEvidence:
    """Evidence of a row from a tree over the whole commitment: the node's own, or one that was recomputed.

    Args:
        commitment: the accused commitment.
        row: the accused row.
        challenge: what it answers.
        recomputer: computes the states of the row.
        tree: tree over all rows in the layout of `merkle`.

    Raises:
        InvalidInputError: the tree is not the commitment's, so the commitment is false and cannot be defended.
    """
    if merkle.root(tree) != commitment.root:
        raise InvalidInputError(
            f"the commitment of {commitment.node} in window {commitment.window_id} is not what its rows give",
            fix="it cannot be defended: stop the device and look for the fault",
            code="false_commitment",
        )
    return RowEvidence(trace=recomputer.trace(challenge, row), path=merkle.path(tree, row))


def opening_of(
    commitment: Commitment, row: int, challenge: ComputeChallenge, openings: Sequence[Opening]
) -> Opening | None:
    """What was opened of a row, if it leads to the root."""
    for opening in openings:
        if opening.row == row and opens_row(commitment.root, challenge.shape, row, opening.head, opening.path):
            return opening
    return None


def provider_of(node: Address, view: CourtView) -> ProviderId | None:
    """Provider a node belongs to or belonged to."""
    for provider in view.chain.providers:
        if node in provider.nodes or node in provider.past_nodes:
            return provider.provider_id
    return None


def owned_by(member: Address, view: CourtView) -> ProviderId | None:
    """Provider whose stake answers for an oracle member: the one it owns."""
    found: Mapping[Address, ProviderId] = {provider.owner: provider.provider_id for provider in view.chain.providers}
    return found.get(member)


def _is_open_to_court(window: WindowRecord, commitment: Commitment, now: Timestamp, accuse_for: int) -> bool:
    drawn = window.state is WindowState.DRAWN and window.window_seed == commitment.window_seed
    return drawn and now <= window.closed_at + accuse_for


def _binds(node: Address, window: WindowRecord, view: CourtView) -> bool:
    """Whether a provider answers for what a key signed for a window; removal ends that for windows that open later."""
    removals = (removal for provider in view.chain.providers for removal in provider.removals if removal.node == node)
    return provider_of(node, view) is not None and all(window.opened_at <= found.removed_at for found in removals)


def offence_is_over(commitment: Commitment, view: CourtView, member: Address = ZERO_ADDRESS) -> bool:
    """Whether somebody has been convicted of it already."""
    return Hash32(offence_of(commitment, member)) in view.convicted

"""Plays a side: sends what `next_move` says and tells what happened. Who signs, and who is asked before, is up to the sender."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InvalidInputError, RejectedError
from swarm_chain.core.model import Commitment, ContractCall, Deployment, Opening
from swarm_chain.court.evidence import opening_of, row_evidence
from swarm_chain.court.model import Accusation, CourtView, Move, MoveKind, RowEvidence, Side, challenge_of
from swarm_chain.court.moves import NEEDS_EVIDENCE, move_due, next_move
from swarm_chain.court.recompute import Progress, Recomputer

# Sends a call, told in words what it does, and returns once it is mined; RejectedError if the chain says no.
Send = Callable[[ContractCall, str], object]
# Evidence of an accused row for a move; InvalidInputError if there is none.
EvidenceFor = Callable[[Accusation, MoveKind], RowEvidence]
# What is known to be opened of a commitment; nothing where nothing is.
OpeningsOf = Callable[[Commitment], Sequence[Opening]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CourtEvent:
    """Something that was done, or could not be. `name` is stable, `text` is for a person."""

    name: str
    text: str
    values: Mapping[str, object] = field(default_factory=dict)


def play(
    accusations: Iterable[Accusation], side: Side, view: CourtView, evidence: EvidenceFor, send: Send
) -> Iterator[CourtEvent]:
    """Make every move a side owes now.

    Args:
        accusations: those of the view the side takes part in.
        side: for whom.
        view: the chain now.
        evidence: asked only where a move needs the row.
        send: sends a call.

    Returns:
        An iterator of what happened; nothing is sent before it is asked for the next event. A move the chain refuses, because
        somebody was first or time ran out, is told and left.
    """
    for accusation in accusations:
        move = decide(accusation, side, view, evidence)
        if move.call is not None:
            yield _sent(accusation, move, send)
        elif move.kind in {MoveKind.GIVE_UP, MoveKind.LATE}:
            yield _event(move.kind.name.lower(), move.effect, accusation)


def decide(accusation: Accusation, side: Side, view: CourtView, evidence: EvidenceFor) -> Move:
    """The move a side owes, its evidence made on demand."""
    kind = move_due(accusation, side, view)
    if kind not in NEEDS_EVIDENCE:
        return next_move(accusation, side, view)
    try:
        return next_move(accusation, side, view, evidence(accusation, kind))
    except InvalidInputError as error:
        return Move(kind=MoveKind.GIVE_UP, effect=error.message)


def accusers_evidence(recomputer: Recomputer, deployment: Deployment, openings: OpeningsOf) -> EvidenceFor:
    """The accuser's evidence: the true row, and what the node opened of it.

    Args:
        recomputer: computes rows.
        deployment: chain and contracts.
        openings: what is known to be opened of a commitment; asked only to hold it against an answer.
    """

    def evidence(accusation: Accusation, kind: MoveKind) -> RowEvidence:
        c, row = accusation.commitment, accusation.row
        challenge = challenge_of(c, deployment)
        opening = opening_of(c, row, challenge, openings(c)) if kind is MoveKind.PICK else None
        return RowEvidence(trace=recomputer.trace(challenge, row), opening=opening)

    return evidence


def defenders_evidence(
    recomputer: Recomputer,
    deployment: Deployment,
    openings: OpeningsOf,
    progress: Progress = lambda _done, _total: None,
) -> EvidenceFor:
    """An honest defence from public data: a published opening of the row if there is one, else the whole run again.

    Args:
        recomputer: computes rows and whole commitments.
        deployment: chain and contracts.
        openings: what is known to be opened of a commitment.
        progress: told while a whole commitment is recomputed.
    """

    def evidence(accusation: Accusation, kind: MoveKind) -> RowEvidence:
        c, row = accusation.commitment, accusation.row
        challenge = challenge_of(c, deployment)
        if kind is not MoveKind.ANSWER:
            return RowEvidence(trace=recomputer.trace(challenge, row))
        opening = opening_of(c, row, challenge, openings(c))
        if opening is not None:
            return RowEvidence(trace=recomputer.trace(challenge, row), path=opening.path)
        return row_evidence(c, row, challenge, recomputer, tree=recomputer.tree(challenge, progress))

    return evidence


def _sent(accusation: Accusation, move: Move, send: Send) -> CourtEvent:
    if move.call is None:
        return _event(move.kind.name.lower(), move.effect, accusation)
    try:
        send(move.call, move.effect)
    except RejectedError as error:
        return _event("refused", f"{move.effect}: {error.message}", accusation, {"code": error.code})
    return _event(move.kind.name.lower(), move.effect, accusation)


def _event(name: str, text: str, accusation: Accusation, more: Mapping[str, object] | None = None) -> CourtEvent:
    known = {"accusationId": to_hex(accusation.accusation_id), "providerId": accusation.provider_id}
    return CourtEvent(name=name, text=text, values=known | dict(more or {}))

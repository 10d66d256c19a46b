"""Whose move it is and what the move is. Pure: view and evidence in, one Move out.

state      ACCUSED   ANSWERED   PICKED   REVEALED   PROVEN    turn of the accused, the accuser, the accused, the accuser;
move       answer    pick,      reveal   prove      execute   whoever waits may end it by `timeout` once the deadline passed;
                     contradict                               what is proven anyone may execute, the accused will not
"""

from swarm_chain.core import merkle
from swarm_chain.core.compute import ComputeShape, digest
from swarm_chain.core.court import RowTrace, false_column, first_false_step, opens_row, step_tree, word_of, word_tree
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.kinds import AccusationState
from swarm_chain.core.model import Opening
from swarm_chain.core.units import ZERO_ADDRESS, ZERO_HASH, Hash32
from swarm_chain.court.calls import commitment_args, court_call
from swarm_chain.court.model import Accusation, CourtView, Move, MoveKind, RowEvidence, Side

TURNS = {
    AccusationState.ACCUSED: (Side.ACCUSED, MoveKind.ANSWER),
    AccusationState.ANSWERED: (Side.ACCUSER, MoveKind.PICK),
    AccusationState.PICKED: (Side.ACCUSED, MoveKind.REVEAL),
    AccusationState.REVEALED: (Side.ACCUSER, MoveKind.PROVE),
    AccusationState.PROVEN: (Side.ACCUSER, MoveKind.EXECUTE),
}
_ENDINGS = {
    MoveKind.TIMEOUT: "the other side is overdue",
    MoveKind.DISMISS: "the offence is convicted already",
    MoveKind.EXECUTE: "it is proven, the court takes the stake and pays the accuser",
}
NEEDS_EVIDENCE = frozenset({MoveKind.ANSWER, MoveKind.PICK, MoveKind.REVEAL, MoveKind.PROVE})


def move_due(accusation: Accusation, side: Side, view: CourtView) -> MoveKind:
    """Tell what a side has to do, before it goes to the trouble of computing anything.

    Args:
        accusation: an accusation of the view.
        side: for whom.
        view: tells time and convictions.

    Returns:
        The kind of move; those of `NEEDS_EVIDENCE` need a RowEvidence.
    """
    if not accusation.is_open:
        return MoveKind.DONE
    if accusation.state is AccusationState.PROVEN:
        return MoveKind.EXECUTE if side is Side.ACCUSER else MoveKind.DONE
    if accusation.offence_id in view.convicted:
        return MoveKind.DISMISS
    turn, kind = TURNS[accusation.state]
    late = view.now > accusation.deadline
    if turn is side:
        return MoveKind.LATE if late else kind
    return MoveKind.TIMEOUT if late else MoveKind.WAIT


def next_move(accusation: Accusation, side: Side, view: CourtView, evidence: RowEvidence | None = None) -> Move:
    """Decide the move of a side.

    Args:
        accusation: an accusation of the view.
        side: for whom.
        view: the chain now.
        evidence: the row; may be None where `move_due` says that nothing is to be shown.

    Returns:
        The move. `GIVE_UP` if the evidence cannot win: an accuser of a true row, the defence of a false one.
    """
    kind = move_due(accusation, side, view)
    if kind not in NEEDS_EVIDENCE:
        return _without_evidence(accusation, kind)
    if evidence is None:
        return Move(kind=MoveKind.WAIT, effect=f"{kind} needs the row, which is not computed yet")
    build = {
        MoveKind.ANSWER: _answer,
        MoveKind.PICK: _pick,
        MoveKind.REVEAL: _reveal,
        MoveKind.PROVE: _prove,
    }[kind]
    return build(accusation, evidence)


def _without_evidence(accusation: Accusation, kind: MoveKind) -> Move:
    if kind in _ENDINGS:
        call = court_call(kind.value, accusation.accusation_id)
        return Move(kind=kind, effect=f"end {_name(accusation)}: {_ENDINGS[kind]}", call=call)
    return Move(kind=kind, effect=f"nothing to do for {_name(accusation)}")


def _answer(accusation: Accusation, evidence: RowEvidence) -> Move:
    c, trace = accusation.commitment, evidence.trace
    shape = ComputeShape(m=c.m, n=c.n, steps=c.steps)
    if not opens_row(c.root, shape, accusation.row, trace.head, evidence.path):
        return _give_up(accusation, "its head does not open the committed leaf, so the commitment is false there")
    args = (accusation.accusation_id, commitment_args(c), list(trace.hashes), trace.head, list(evidence.path))
    effect = f"answer {_name(accusation)} with the hashes of its {len(trace.states)} states"
    return Move(kind=MoveKind.ANSWER, effect=effect, call=court_call("answer", *args))


def _pick(accusation: Accusation, evidence: RowEvidence) -> Move:
    opening = evidence.opening
    if opening is not None and opening.head != accusation.head and accusation.member == ZERO_ADDRESS:
        return _contradict(accusation, opening)
    step = first_false_step(evidence.trace, accusation.hashes, accusation.head)
    if step is None:
        return _give_up(accusation, "the answer is true")
    tree = step_tree(accusation.hashes)
    before = _step_hash(accusation, tree, step - 1) if step else {"hash": ZERO_HASH, "path": []}
    call = court_call("pick", accusation.accusation_id, step, before, _step_hash(accusation, tree, step))
    return Move(kind=MoveKind.PICK, effect=f"pick step {step} of {_name(accusation)}", call=call)


def _contradict(accusation: Accusation, opening: Opening) -> Move:
    c = commitment_args(accusation.commitment)
    call = court_call("contradict", accusation.accusation_id, c, digest(opening.head), list(opening.path))
    effect = f"show that {_name(accusation)} was opened with another head before"
    return Move(kind=MoveKind.CONTRADICT, effect=effect, call=call)


def _reveal(accusation: Accusation, evidence: RowEvidence) -> Move:
    row = evidence.trace.states[accusation.step]
    if keccak(row) != accusation.hashes[accusation.step]:
        return _give_up(accusation, f"the row after step {accusation.step} is not the one that was answered")
    call = court_call("reveal", accusation.accusation_id, row)
    return Move(
        kind=MoveKind.REVEAL, effect=f"reveal the row after step {accusation.step} of {_name(accusation)}", call=call
    )


def _prove(accusation: Accusation, evidence: RowEvidence) -> Move:
    trace, step = evidence.trace, accusation.step
    found = false_column(trace, step, accusation.revealed)
    if found is None or not _before_is_true(accusation, trace):
        return _give_up(accusation, "the revealed row follows from the one before")
    word = word_of(accusation.revealed, found.column)
    siblings = merkle.path(word_tree(accusation.revealed), found.column // len(word))
    before = trace.states[step - 1] if step else b""
    commitment = commitment_args(accusation.commitment)
    call = court_call("prove", accusation.accusation_id, commitment, found.column, before, word, list(siblings))
    said = f"byte {found.column} after step {step} is {found.computed}, not {found.claimed}"
    return Move(kind=MoveKind.PROVE, effect=f"prove {_name(accusation)}: {said}", call=call)


def _before_is_true(accusation: Accusation, trace: RowTrace) -> bool:
    before = accusation.step - 1
    return accusation.step == 0 or keccak(trace.states[before]) == accusation.hashes[before]


def _step_hash(accusation: Accusation, tree: bytes, step: int) -> dict[str, object]:
    return {"hash": Hash32(accusation.hashes[step]), "path": list(merkle.path(tree, step))}


def _give_up(accusation: Accusation, why: str) -> Move:
    return Move(kind=MoveKind.GIVE_UP, effect=f"cannot win {_name(accusation)}: {why}")


def _name(accusation: Accusation) -> str:
    c = accusation.commitment
    return (
        f"accusation {to_hex(accusation.accusation_id)[:10]} (row {accusation.row} of {c.node}, window {c.window_id})"
    )

"""What each side does in each state: honest and lying accused, right and wrong accusers, and deadlines that pass."""

from dataclasses import replace
from typing import Any

import pytest

from swarm_chain.core.court import step_tree, true_byte, word_tree
from swarm_chain.core.encoding import double_hash, keccak, words
from swarm_chain.core.kinds import AccusationState
from swarm_chain.core.merkle import path_length, root, verify
from swarm_chain.core.model import BlockRef, ChainState
from swarm_chain.core.units import ZERO_ADDRESS, ZERO_HASH, BlockNumber, ProviderId, Timestamp, Wei
from swarm_chain.court.model import Accusation, CourtView, MoveKind, RowEvidence, Side
from swarm_chain.court.moves import NEEDS_EVIDENCE, move_due, next_move
from tests.compute_world import CHALLENGE, MALLORY
from tests.court_world import Prover, honest_prover, lying_prover, true_trace

ROW, T, N = 5, CHALLENGE.shape.steps, CHALLENGE.shape.n
DEADLINE = Timestamp(1000)
TRUTH = RowEvidence(trace=true_trace(CHALLENGE, ROW))
STATES = (AccusationState.ACCUSED, AccusationState.ANSWERED, AccusationState.PICKED, AccusationState.REVEALED)


def view_at(now: int, *convicted: Accusation) -> CourtView:
    """A view whose only facts are the time and who was convicted."""
    block = BlockRef(number=BlockNumber(9), hash=ZERO_HASH, timestamp=Timestamp(now))
    return CourtView(chain=ChainState(block=block), convicted=frozenset(one.offence_id for one in convicted))


IN_TIME, LATE = view_at(DEADLINE), view_at(DEADLINE + 1)


def accused(prover: Prover) -> Accusation:
    """An accusation of the prover's row that nobody has answered yet."""
    return Accusation(
        accusation_id=keccak(b"accusation"),
        provider_id=ProviderId(1),
        accuser=MALLORY,
        commitment=prover.commitment,
        row=ROW,
        member=ZERO_ADDRESS,
        bond_wei=Wei(1),
        deadline=DEADLINE,
    )


def answered(prover: Prover) -> Accusation:
    """The same once the prover has answered as it does."""
    move = next_move(accused(prover), Side.ACCUSED, IN_TIME, prover.evidence)
    assert move.call is not None
    _, _, hashes, head, _ = args_of(move)
    return replace(accused(prover), state=AccusationState.ANSWERED, hashes=tuple(hashes), head=head)


def picked(prover: Prover) -> Accusation:
    """The same once the accuser has picked the first false step."""
    move = next_move(answered(prover), Side.ACCUSER, IN_TIME, TRUTH)
    return replace(answered(prover), state=AccusationState.PICKED, step=args_of(move)[1])


def args_of(move: Any) -> Any:
    """Arguments of the call of a move."""
    assert move.call is not None, move.effect
    return move.call.args


@pytest.mark.parametrize("at", [0, 1, T - 1, T])
def test_a_liar_is_led_to_a_byte_the_court_computes_otherwise(at: int) -> None:
    liar = lying_prover(CHALLENGE, ROW, at)

    case = picked(liar)
    reveal = next_move(case, Side.ACCUSED, IN_TIME, liar.evidence)
    case = replace(case, state=AccusationState.REVEALED, revealed=args_of(reveal)[1])
    _, _, column, before, word, siblings = args_of(next_move(case, Side.ACCUSER, IN_TIME, TRUTH))

    assert case.step == at
    assert keccak(case.revealed) == case.hashes[at]
    assert before == b"" if at == 0 else keccak(before) == case.hashes[at - 1]
    assert verify(root(word_tree(case.revealed)), double_hash(words(column // 32, word)), siblings)
    claimed = int.from_bytes(word[column % 32 : column % 32 + 1], "big", signed=True)
    assert true_byte(CHALLENGE, ROW, at, before, column) != claimed


@pytest.mark.parametrize("at", [0, 1, T])
def test_pick_shows_the_false_hash_and_the_one_before(at: int) -> None:
    case = answered(lying_prover(CHALLENGE, ROW, at))

    _, step, before, here = args_of(next_move(case, Side.ACCUSER, IN_TIME, TRUTH))

    tree = root(step_tree(case.hashes))
    assert step == at
    assert verify(tree, double_hash(words(at, here["hash"])), here["path"])
    assert len(here["path"]) == path_length(T + 1, at)
    if at:
        assert verify(tree, double_hash(words(at - 1, before["hash"])), before["path"])
    else:
        assert before == {"hash": ZERO_HASH, "path": []}


def test_nobody_wins_against_an_honest_answer() -> None:
    honest = honest_prover(CHALLENGE, ROW)

    move = next_move(answered(honest), Side.ACCUSER, IN_TIME, TRUTH)

    assert (move.kind, move.call) == (MoveKind.GIVE_UP, None)
    assert next_move(answered(honest), Side.ACCUSED, LATE).kind is MoveKind.TIMEOUT


def test_two_heads_of_one_row_are_held_against_each_other_unless_a_member_is_accused() -> None:
    case, opening = (
        answered(honest_prover(CHALLENGE, ROW)),
        lying_prover(CHALLENGE, ROW, T).openings(ROW).proof.openings[0],
    )
    told_otherwise = replace(TRUTH, opening=opening)

    move = next_move(case, Side.ACCUSER, IN_TIME, told_otherwise)
    against_member = next_move(replace(case, member=MALLORY), Side.ACCUSER, IN_TIME, told_otherwise)

    assert move.kind is MoveKind.CONTRADICT
    assert args_of(move)[2:] == (keccak(opening.head), list(opening.path))
    assert against_member.kind is MoveKind.GIVE_UP


@pytest.mark.parametrize("step", range(T + 1))
def test_an_honest_row_is_revealed_whatever_is_picked_and_stands(step: int) -> None:
    honest = honest_prover(CHALLENGE, ROW)
    case = replace(answered(honest), state=AccusationState.PICKED, step=step)

    row = args_of(next_move(case, Side.ACCUSED, IN_TIME, honest.evidence))[1]
    proof = next_move(replace(case, state=AccusationState.REVEALED, revealed=row), Side.ACCUSER, IN_TIME, TRUTH)

    assert keccak(row) == case.hashes[step]
    assert step < T or row.startswith(case.head)
    assert (proof.kind, proof.call) == (MoveKind.GIVE_UP, None)


def test_a_true_row_cannot_defend_a_false_commitment() -> None:
    liar = lying_prover(CHALLENGE, ROW, T)
    truth = RowEvidence(trace=TRUTH.trace, path=liar.evidence.path)

    move = next_move(accused(liar), Side.ACCUSED, IN_TIME, truth)

    assert (move.kind, move.call) == (MoveKind.GIVE_UP, None)


def test_hashes_somebody_else_answered_are_not_revealed() -> None:
    honest, liar = honest_prover(CHALLENGE, ROW), lying_prover(CHALLENGE, ROW, 1)
    case = replace(answered(liar), state=AccusationState.PICKED, step=1)

    assert next_move(case, Side.ACCUSED, IN_TIME, honest.evidence).kind is MoveKind.GIVE_UP


@pytest.mark.parametrize("state", STATES)
def test_whoever_waits_ends_it_once_the_deadline_passed_and_not_before(state: AccusationState) -> None:
    case = replace(accused(honest_prover(CHALLENGE, ROW)), state=state)
    turn = Side.ACCUSED if state in STATES[::2] else Side.ACCUSER
    other = Side.ACCUSER if turn is Side.ACCUSED else Side.ACCUSED

    assert move_due(case, turn, IN_TIME) in NEEDS_EVIDENCE
    assert move_due(case, other, IN_TIME) is MoveKind.WAIT
    assert move_due(case, turn, LATE) is MoveKind.LATE
    assert move_due(case, other, LATE) is MoveKind.TIMEOUT


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("side", Side)
def test_a_convicted_offence_is_dismissed_so_that_the_bond_returns(state: AccusationState, side: Side) -> None:
    case = replace(accused(honest_prover(CHALLENGE, ROW)), state=state)

    assert next_move(case, side, view_at(DEADLINE, case)).kind is MoveKind.DISMISS


@pytest.mark.parametrize("now", [IN_TIME, LATE])
def test_what_is_proven_is_executed_at_any_time_and_never_dismissed(now: CourtView) -> None:
    case = replace(accused(honest_prover(CHALLENGE, ROW)), state=AccusationState.PROVEN)
    guilty = replace(now, convicted=frozenset({case.offence_id}))

    move = next_move(case, Side.ACCUSER, guilty)

    assert move.kind is MoveKind.EXECUTE
    assert args_of(move) == (case.accusation_id,)
    assert next_move(case, Side.ACCUSED, guilty).call is None


@pytest.mark.parametrize("state", [AccusationState.CONVICTED, AccusationState.ACQUITTED, AccusationState.DISMISSED])
@pytest.mark.parametrize("side", Side)
def test_what_ended_needs_nothing(state: AccusationState, side: Side) -> None:
    case = replace(accused(honest_prover(CHALLENGE, ROW)), state=state)

    assert next_move(case, side, LATE).call is None


def test_without_the_row_nothing_is_sent() -> None:
    assert next_move(accused(honest_prover(CHALLENGE, ROW)), Side.ACCUSED, IN_TIME).call is None

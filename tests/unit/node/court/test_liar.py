"""What a liar can say about a row she invented: she gets through answer and reveal, and loses by the last step."""

import pytest

from node.court.worker import trace_accused
from node.ports import AccusedRow
from node.prove import commitment_of, restore_run
from swarm_chain.core.compute import HEAD_BYTES
from swarm_chain.core.court import false_column, first_false_step, true_byte
from swarm_chain.core.encoding import keccak
from swarm_chain.core.model import BlockRef
from swarm_chain.core.state import fold
from swarm_chain.core.units import ZERO_ADDRESS, ZERO_HASH, BlockNumber, ProviderId, Timestamp, Wei
from swarm_chain.court.model import Accusation, CourtView, MoveKind, Side
from swarm_chain.court.moves import next_move
from tests.cheaters import InventingTracer, invented_head
from tests.compute_world import CHALLENGE, MALLORY, honest_run
from tests.court_world import true_trace
from tests.node_world import InlineTracer

ROW = CHALLENGE.shape.m - 1
BLOCK = BlockRef(number=BlockNumber(1), hash=ZERO_HASH, timestamp=Timestamp(1))
VIEW = CourtView(chain=fold((), BLOCK))


def invented_run(*rows: int) -> bytes:
    """Heads of a run whose given rows are invented."""
    heads = bytearray(honest_run(CHALLENGE).heads)
    for row in rows:
        heads[row * HEAD_BYTES : (row + 1) * HEAD_BYTES] = invented_head(row)
    return bytes(heads)


def accused_row(row: int, heads: bytes) -> AccusedRow:
    """The row as the court asks for it."""
    commitment = commitment_of(restore_run(CHALLENGE, heads))
    return AccusedRow(
        accusation_id=keccak(b"accusation"), commitment=commitment, challenge=CHALLENGE, row=row, heads=heads
    )


def accusation_of(accused: AccusedRow) -> Accusation:
    """The accusation of a row before it is answered."""
    return Accusation(
        accusation_id=accused.accusation_id,
        provider_id=ProviderId(1),
        accuser=MALLORY,
        commitment=accused.commitment,
        row=accused.row,
        member=ZERO_ADDRESS,
        bond_wei=Wei(1),
        deadline=Timestamp(100),
    )


def test_liar_opens_her_leaf_and_only_the_last_step_is_false() -> None:
    accused = accused_row(ROW, invented_run(ROW))
    tracer = InventingTracer(InlineTracer())
    tracer.start(accused)
    (traced,) = tracer.finished()
    assert traced.evidence is not None
    steps, lie, true = CHALLENGE.shape.steps, traced.evidence.trace, true_trace(CHALLENGE, ROW)

    assert next_move(accusation_of(accused), Side.ACCUSED, VIEW, traced.evidence).kind is MoveKind.ANSWER
    assert first_false_step(true, lie.hashes, lie.head) == steps
    found = false_column(true, steps, lie.states[-1])
    assert found is not None
    assert true_byte(CHALLENGE, ROW, steps, lie.states[-2], found.column) == found.computed != found.claimed


def test_honest_tracer_does_not_defend_an_invented_row() -> None:
    accused = accused_row(ROW, invented_run(ROW))
    evidence = trace_accused(accused, threads=1)
    move = next_move(accusation_of(accused), Side.ACCUSED, VIEW, evidence)
    assert (move.kind, move.call) == (MoveKind.GIVE_UP, None)


@pytest.mark.parametrize("kept", [True, False], ids=["heads kept", "heads lost"])
def test_honest_row_is_answered_also_when_the_heads_are_lost(kept: bool) -> None:
    heads = honest_run(CHALLENGE).heads
    accused = accused_row(ROW, heads)
    evidence = trace_accused(
        AccusedRow(
            accusation_id=accused.accusation_id,
            commitment=accused.commitment,
            challenge=CHALLENGE,
            row=ROW,
            heads=heads if kept else b"",
        ),
        threads=1,
    )
    assert evidence.trace == true_trace(CHALLENGE, ROW)
    assert next_move(accusation_of(accused), Side.ACCUSED, VIEW, evidence).kind is MoveKind.ANSWER


def test_lost_heads_of_a_false_commitment_give_no_path() -> None:
    accused = accused_row(0, invented_run(ROW))
    lost = AccusedRow(
        accusation_id=accused.accusation_id, commitment=accused.commitment, challenge=CHALLENGE, row=0, heads=b""
    )
    evidence = trace_accused(lost, threads=1)
    assert evidence.path == ()
    assert next_move(accusation_of(accused), Side.ACCUSED, VIEW, evidence).kind is MoveKind.GIVE_UP

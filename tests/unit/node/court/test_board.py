"""Accusations as a node sees them, and the moves that follow, from events alone."""

from dataclasses import replace
from typing import Any

import pytest

from node.court.board import RESERVE_EVERY_MS, court_steps, fold_court, purpose_of, urgent_moves
from node.model import CheckReserve, Defend, ForgetHeads, Own, TraceRow, View
from node.steps import next_steps
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.kinds import AccusationState, WindowState
from swarm_chain.core.model import BlockRef, ChainEvent, WindowRecord
from swarm_chain.core.units import ZERO_ADDRESS, ZERO_HASH, BlockNumber, EpochNumber, ProviderId, Timestamp, window_id
from swarm_chain.court.calls import commitment_args
from swarm_chain.court.model import CourtView, MoveKind
from swarm_chain.testing import FakeSigner
from tests.compute_world import CHALLENGE, MALLORY
from tests.court_world import honest_prover
from tests.node_world import PARAMS

PROVER = honest_prover(CHALLENGE, 5)
NODE = PROVER.commitment.node
OTHER = FakeSigner("another").address
ID, OTHER_ID = keccak(b"accusation"), keccak(b"another accusation")
MINE = ProviderId(3)
DEADLINE = 1_000
MOVE_FOR = PARAMS.compute_court.move_for
OWN = Own(now_ms=0, heartbeat_ms=0, reserve_ms=0)


def at(number: int, name: str, **args: Any) -> ChainEvent:
    """An event of the court in a block; accusation and deadline are filled in."""
    known = {"accusationId": ID} if name != "Convicted" else {}
    return ChainEvent(
        contract="ComputeCourt",
        name=name,
        args={**known, **args},
        block=BlockNumber(number),
        log_index=0,
        tx_hash=ZERO_HASH,
        timestamp=Timestamp(number),
    )


def accused(number: int = 1, **changes: Any) -> ChainEvent:
    """An accusation of row 5 of the prover."""
    args = {"providerId": MINE, "accuser": MALLORY, "commitment": commitment_args(PROVER.commitment), "row": 5}
    return at(number, "Accused", **{**args, "member": ZERO_ADDRESS, "bond": 7, "deadline": DEADLINE, **changes})


def answered(number: int = 2) -> ChainEvent:
    """The true answer."""
    hashes, head = PROVER.trace.hashes, PROVER.trace.head
    return at(number, "AccusationAnswered", by=NODE, hashes=hashes, head=head, deadline=DEADLINE)


def picked(number: int = 3) -> ChainEvent:
    """The accuser's choice of a step."""
    return at(number, "StepPicked", step=2, hashBefore=ZERO_HASH, hashAt=ZERO_HASH, deadline=DEADLINE)


def seen(*events: ChainEvent, provider_id: ProviderId = MINE, start: CourtView | None = None) -> CourtView:
    """What the node knows once the events happened."""
    number = BlockNumber(max(event.block for event in events))
    block = BlockRef(number=number, hash=ZERO_HASH, timestamp=Timestamp(number))
    return fold_court(start or CourtView(), events, block, node=NODE, provider_id=provider_id)


def view_at(now: int, *events: ChainEvent) -> View:
    """The chain as the node sees it at a time."""
    court = seen(*events)
    block = replace(court.chain.block, timestamp=Timestamp(now))
    moved = replace(court, chain=replace(court.chain, block=block))
    return View(block=block, node=NODE, provider_id=MINE, court=moved)


def test_only_accusations_against_the_node_or_its_provider_are_followed() -> None:
    elsewhere = replace(PROVER.commitment, node=OTHER)
    events = (
        accused(1),
        accused(2, accusationId=OTHER_ID, providerId=9, commitment=commitment_args(elsewhere)),
        at(3, "AccusationAnswered", accusationId=OTHER_ID, by=OTHER, hashes=(), head=b"", deadline=5),
        accused(4, accusationId=keccak(b"sister"), commitment=commitment_args(elsewhere)),
        answered(5),
    )

    court = seen(*events)

    assert set(court.accusations) == {ID, keccak(b"sister")}
    assert court.accusations[ID].state is AccusationState.ANSWERED


def test_accusation_of_a_node_that_left_its_provider_is_followed() -> None:
    assert set(seen(accused(), provider_id=ProviderId(0)).accusations) == {ID}


def test_moves_of_accusations_from_before_the_first_block_are_left_alone() -> None:
    assert seen(answered()).accusations == {}


def test_ended_accusation_leaves_with_the_next_look() -> None:
    ended = seen(accused(), at(2, "AccusationEnded", providerId=MINE, state=AccusationState.ACQUITTED))
    assert ended.accusations[ID].state is AccusationState.ACQUITTED

    assert seen(at(3, "Sealed", sealHash=ZERO_HASH), start=ended).accusations == {}


def test_event_without_a_commitment_is_an_error() -> None:
    with pytest.raises(InconsistentError, match="carries no commitment"):
        seen(accused(commitment=None))


def test_row_is_traced_before_it_is_answered_and_only_once() -> None:
    view = view_at(10, accused())

    assert court_steps(view, OWN, PARAMS) == (TraceRow(accusation_id=ID),)
    assert court_steps(view, replace(OWN, tracing=frozenset({ID})), PARAMS) == ()
    ready = replace(OWN, traced=frozenset({ID}))
    assert court_steps(view, ready, PARAMS) == (Defend(accusation_id=ID, kind=MoveKind.ANSWER),)
    under_way = replace(ready, sending=frozenset({purpose_of(MoveKind.ANSWER, ID)}))
    assert court_steps(view, under_way, PARAMS) == ()


def test_picked_step_is_revealed_also_by_an_agent_that_did_not_answer() -> None:
    view = view_at(10, accused(), answered(), picked())

    assert court_steps(view, OWN, PARAMS) == (TraceRow(accusation_id=ID),)
    ready = replace(OWN, traced=frozenset({ID}))
    assert court_steps(view, ready, PARAMS) == (Defend(accusation_id=ID, kind=MoveKind.REVEAL),)


def test_accuser_has_until_its_deadline_then_is_timed_out() -> None:
    life = (accused(), answered())

    assert court_steps(view_at(DEADLINE, *life), OWN, PARAMS) == ()
    (step,) = court_steps(view_at(DEADLINE + 1, *life), OWN, PARAMS)
    assert step == Defend(accusation_id=ID, kind=MoveKind.TIMEOUT)


@pytest.mark.parametrize(
    "event",
    [
        accused(commitment=commitment_args(replace(PROVER.commitment, node=OTHER))),
        accused(member=OTHER),
    ],
    ids=["another node of the provider", "a member of the provider"],
)
def test_accusations_of_others_are_not_this_nodes_to_answer(event: ChainEvent) -> None:
    view = view_at(10, event)
    assert set(view.court.accusations) == {ID}
    assert court_steps(view, OWN, PARAMS) == ()


@pytest.mark.parametrize("now", [DEADLINE + 1, DEADLINE + 10_000])
def test_nothing_is_sent_after_the_own_deadline(now: int) -> None:
    assert court_steps(view_at(now, accused()), OWN, PARAMS) == ()
    assert urgent_moves(view_at(now, accused()), OWN, PARAMS) == ()


def test_nothing_is_sent_for_an_indefensible_row() -> None:
    assert court_steps(view_at(10, accused()), replace(OWN, given_up=frozenset({ID})), PARAMS) == ()


def test_move_goes_before_all_other_work_once_its_deadline_is_near() -> None:
    ready = replace(OWN, traced=frozenset({ID}))
    move = Defend(accusation_id=ID, kind=MoveKind.ANSWER)
    calm, near = view_at(DEADLINE - MOVE_FOR, accused()), view_at(DEADLINE - MOVE_FOR // 4, accused())

    assert (urgent_moves(calm, ready, PARAMS), court_steps(calm, ready, PARAMS)) == ((), (move,))
    assert (urgent_moves(near, ready, PARAMS), court_steps(near, ready, PARAMS)) == ((move,), ())
    assert next_steps(near, ready, PARAMS)[0] == move


@pytest.mark.parametrize(("since_ms", "due"), [(None, True), (RESERVE_EVERY_MS - 1, False), (RESERVE_EVERY_MS, True)])
def test_gas_money_is_looked_at_every_minute(since_ms: int | None, due: bool) -> None:
    own = replace(OWN, now_ms=10**6, reserve_ms=None if since_ms is None else 10**6 - since_ms)
    view = view_at(10, at(1, "Sealed", sealHash=ZERO_HASH))
    assert court_steps(view, own, PARAMS) == ((CheckReserve(),) if due else ())


def test_heads_are_kept_as_long_as_a_row_may_be_accused_or_defended() -> None:
    kept = -(-PARAMS.compute_court.longest_for // PARAMS.epoch.epoch_for) + 2
    newest = EpochNumber(100)
    window = WindowRecord(window_id=window_id(newest, 0), state=WindowState.OPEN)
    view = replace(view_at(10, at(1, "Sealed", sealHash=ZERO_HASH)), windows=(window,))
    border = window_id(EpochNumber(newest - kept), 0)

    assert court_steps(view, replace(OWN, oldest_heads=border), PARAMS) == ()
    older = replace(OWN, oldest_heads=window_id(EpochNumber(newest - kept - 1), 3))
    assert court_steps(view, older, PARAMS) == (ForgetHeads(before=border),)
    assert court_steps(view, OWN, PARAMS) == ()

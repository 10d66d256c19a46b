"""Accusations from the court's events."""

from typing import Any

import pytest

from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.kinds import AccusationState
from swarm_chain.core.model import BlockRef, ChainEvent
from swarm_chain.core.units import ZERO_ADDRESS, ZERO_HASH, BlockNumber, Timestamp
from swarm_chain.court.calls import commitment_args
from swarm_chain.court.fold import advance_view
from swarm_chain.court.model import Accusation, CourtView
from tests.compute_world import CHALLENGE, MALLORY
from tests.court_world import honest_prover

PROVER = honest_prover(CHALLENGE, 5)
ID = keccak(b"accusation")


def at(number: int, name: str, **args: Any) -> ChainEvent:
    """An event of the court in a block."""
    return ChainEvent(
        contract="ComputeCourt",
        name=name,
        args=args,
        block=BlockNumber(number),
        log_index=0,
        tx_hash=ZERO_HASH,
        timestamp=Timestamp(number),
    )


ACCUSED = at(
    1,
    "Accused",
    accusationId=ID,
    providerId=3,
    accuser=MALLORY,
    commitment=commitment_args(PROVER.commitment),
    row=5,
    member=ZERO_ADDRESS,
    bond=7,
    deadline=100,
)
ANSWERED = at(
    2,
    "AccusationAnswered",
    accusationId=ID,
    by=MALLORY,
    hashes=PROVER.trace.hashes,
    head=PROVER.trace.head,
    deadline=200,
)
PICKED = at(3, "StepPicked", accusationId=ID, step=2, hashBefore=ZERO_HASH, hashAt=ZERO_HASH, deadline=300)
REVEALED = at(4, "RowRevealed", accusationId=ID, by=MALLORY, row=PROVER.trace.states[2], deadline=400)
LIFE = (ACCUSED, ANSWERED, PICKED, REVEALED)


def view_after(*events: ChainEvent, start: CourtView | None = None) -> CourtView:
    """The view once the events happened."""
    number = BlockNumber(max(event.block for event in events))
    block = BlockRef(number=number, hash=ZERO_HASH, timestamp=Timestamp(number))
    return advance_view(start or CourtView(), events, block)


def only(view: CourtView) -> Accusation:
    """The one accusation of a view."""
    (found,) = view.accusations.values()
    return found


def test_an_accusation_lives_as_its_events_say() -> None:
    found = only(view_after(*LIFE))

    assert (found.state, found.deadline) == (AccusationState.REVEALED, 400)
    assert (found.provider_id, found.accuser, found.bond_wei, found.row) == (3, MALLORY, 7, 5)
    assert found.commitment == PROVER.commitment
    assert (found.hashes, found.head) == (PROVER.trace.hashes, PROVER.trace.head)
    assert (found.step, found.revealed) == (2, PROVER.trace.states[2])


@pytest.mark.parametrize("split", [1, 2, 3])
def test_it_is_the_same_read_in_one_go_or_in_two(split: int) -> None:
    assert view_after(*LIFE[split:], start=view_after(*LIFE[:split])).accusations == view_after(*LIFE).accusations


@pytest.mark.parametrize("state", [AccusationState.CONVICTED, AccusationState.ACQUITTED, AccusationState.DISMISSED])
def test_it_ends(state: AccusationState) -> None:
    ended = at(5, "AccusationEnded", accusationId=ID, providerId=3, state=state.value)

    found = only(view_after(*LIFE, ended))

    assert found.state is state
    assert not found.is_open


def test_a_conviction_is_of_the_offence() -> None:
    offence = only(view_after(ACCUSED)).offence_id
    convicted = at(5, "Convicted", offenceId=offence, providerId=3, reporter=MALLORY, taken=1)

    assert offence in view_after(ACCUSED, convicted).convicted


@pytest.mark.parametrize("proof", ["FalseByteProven", "ContradictionProven"])
def test_a_proof_convicts_and_leaves_the_stake_to_be_taken(proof: str) -> None:
    view = view_after(*LIFE, at(5, proof, accusationId=ID))

    assert only(view).state is AccusationState.PROVEN
    assert only(view).is_open
    assert view.convicted == {only(view).offence_id}


def test_an_answer_to_nothing_is_refused() -> None:
    with pytest.raises(InconsistentError):
        view_after(ANSWERED)

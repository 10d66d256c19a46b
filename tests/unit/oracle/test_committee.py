"""The committee from its events: who sits in it, who missed a vote, who voted for something else, who does not answer."""

from typing import Any

import pytest

from oracle.committee import Answer, Committee, Seat, ask, committee_document, fold_committee, seats
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.model import ChainEvent
from swarm_chain.core.units import ZERO_HASH, BlockNumber, Timestamp
from swarm_chain.testing import FakeSigner

ALICE, BOB, CAROL = (FakeSigner(name).address for name in ("alice", "bob", "carol"))
NOBODY = "0x" + "00" * 20
GOOD, BAD = keccak(b"good"), keccak(b"bad")


def event(name: str, at: int = 0, **args: object) -> ChainEvent:
    """A log of EpochOracle."""
    return ChainEvent(
        contract="EpochOracle",
        name=name,
        args=args,
        block=BlockNumber(at),
        log_index=0,
        tx_hash=ZERO_HASH,
        timestamp=Timestamp(at),
    )


def voted(epoch: int, member: str, report: bytes = GOOD) -> ChainEvent:
    """A vote."""
    return event("Voted", epoch=epoch, member=member, reportHash=report, support=1)


def reported(epoch: int) -> ChainEvent:
    """A report the chain took."""
    return event("ReportSubmitted", epoch=epoch, reportHash=GOOD, submitter=ALICE, rootIndex=epoch)


def folded(*events: ChainEvent) -> Committee:
    """A committee of alice and bob, and what happened then."""
    committee = Committee()
    added = (event("MemberAdded", member=member, members=2, quorum=2) for member in (ALICE, BOB))
    fold_committee(committee, (*added, *events))
    return committee


def seat_of(committee: Committee, member: str, last: int = 10) -> Seat:
    """A member's record; an epoch lasts ten seconds."""
    return next(seat for seat in seats(committee, last, lambda at: at // 10) if seat.member == member)


def test_seat_when_a_member_voted_for_what_was_processed_then_it_agreed_and_missed_nothing() -> None:
    committee = folded(voted(0, ALICE), voted(0, BOB), reported(0))

    seat = seat_of(committee, ALICE)

    assert (seat.last_vote_epoch, seat.agreed, seat.missed, seat.counted) == (0, True, 0, 1)


def test_seat_when_a_member_voted_for_something_else_then_it_did_not_agree() -> None:
    assert seat_of(folded(voted(0, ALICE, BAD), reported(0)), ALICE).agreed is False


def test_seat_when_its_last_vote_is_not_processed_yet_then_nobody_knows() -> None:
    assert seat_of(folded(voted(0, ALICE), reported(0), voted(1, ALICE)), ALICE).agreed is None


def test_seat_when_a_member_is_silent_or_withdrew_then_counted_as_missed() -> None:
    gone = event("VoteWithdrawn", epoch=1, member=ALICE, reportHash=GOOD, support=0)
    committee = folded(reported(0), voted(1, ALICE), gone, reported(1), voted(2, ALICE), reported(2))

    assert (seat_of(committee, ALICE).missed, seat_of(committee, BOB).missed) == (2, 3)
    assert (seat_of(committee, ALICE, last=1).missed, seat_of(committee, BOB, last=2).missed) == (0, 2)


def test_seat_when_a_member_joined_later_then_earlier_epochs_are_not_held_against_it() -> None:
    joined = event("MemberAdded", at=25, member=CAROL, members=3, quorum=2)
    committee = folded(reported(0), reported(1), joined, reported(2), reported(3))

    seat = seat_of(committee, CAROL)

    assert (seat.missed, seat.counted) == (2, 2)


def test_committee_when_members_leave_and_reporters_change_then_only_those_left_remain() -> None:
    committee = folded(
        event("ReporterChanged", member=ALICE, reporter=CAROL),
        event("ReporterChanged", member=BOB, reporter=CAROL),
        event("ReporterChanged", member=ALICE, reporter=NOBODY),
        event("MemberRemoved", member=BOB, members=1, quorum=1),
    )

    assert list(committee.members) == [ALICE]
    assert committee.reporters == {}
    assert committee.quorum == 1


class Said:
    """A member that says something."""

    name = "http://127.0.0.1:1"

    def __init__(self, said: dict[str, Any] | None) -> None:
        self.said = said

    def get(self, path: str) -> dict[str, Any]:
        """Its status, or silence."""
        assert path == "/v1/status"
        if self.said is None:
            raise UnavailableError("no answer")
        return self.said


STATUS = {"chainId": 1, "paramsVersion": 7, "member": ALICE, "finalized": 90, "epoch": 3, "version": "0.1.0"}


def test_ask_when_a_member_answers_then_its_lag_behind_finality_is_known() -> None:
    answer = ask(Said(STATUS), 100, {"chainId": 1, "paramsVersion": 7})

    assert (answer.member, answer.lag_blocks, answer.problem) == (ALICE, 10, "")


def test_ask_when_a_member_has_other_params_then_that_is_the_problem() -> None:
    assert "paramsVersion is 7, not 8" in ask(Said(STATUS), 100, {"chainId": 1, "paramsVersion": 8}).problem


@pytest.mark.parametrize("said", [{}, {"member": 5, "finalized": "high", "epoch": True}, {"member": None}])
def test_ask_when_a_member_talks_nonsense_then_nothing_is_believed(said: dict[str, Any]) -> None:
    answer = ask(Said(said), 100, {})

    assert (answer.member, answer.lag_blocks, answer.epoch) == (None, None, None)


def test_ask_when_a_member_is_silent_then_that_is_the_problem() -> None:
    assert ask(Said(None), 100, {}) == Answer(url=Said.name, problem="no answer")


def test_document_when_an_address_is_no_members_then_listed_apart() -> None:
    committee = folded()
    answers = [Answer(url="http://a", member=ALICE), Answer(url="http://c", member=CAROL), Answer(url="http://d")]

    document = committee_document(2, seats(committee, 5, lambda at: at), answers)

    members, unknown = document["members"], document["unknown"]
    assert isinstance(members, list)
    assert isinstance(unknown, list)
    assert [one["answer"] and one["answer"]["url"] for one in members] == ["http://a", None]
    assert [one["url"] for one in unknown] == ["http://c", "http://d"]

"""The committee as the chain tells it: who sits in it, how each voted, and what each said of itself when asked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from swarm_chain.core.errors import InconsistentError, InvalidInputError, UnavailableError
from swarm_chain.core.model import ChainEvent
from swarm_chain.core.units import Address, Hash32


class Status(Protocol):
    """What a member says of itself over HTTP."""

    @property
    def name(self) -> str:
        """Where it is, without user, path and query."""
        ...

    def get(self, path: str) -> dict[str, Any]:
        """JSON object at a path of the member's API."""
        ...


class EpochOfTime(Protocol):
    """Epoch of a second of chain time."""

    def __call__(self, at: int, /) -> int:
        """The epoch."""
        ...


@dataclass(slots=True)
class Committee:
    """The committee while its events are folded; `votes` of epochs that were processed are kept."""

    members: dict[Address, int] = field(default_factory=dict)  # unix s at which each was added
    reporters: dict[Address, Address] = field(default_factory=dict)
    quorum: int = 0
    votes: dict[tuple[int, Address], Hash32] = field(default_factory=dict)
    processed: dict[int, Hash32] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A member and its record; `missed` of the last `counted` reports it did not vote on."""

    member: Address
    reporter: Address | None
    last_vote_epoch: int | None
    agreed: bool | None
    missed: int
    counted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a member's address answered; `problem` is empty if it did."""

    url: str
    member: str | None = None
    params_version: int | None = None
    version: str | None = None
    epoch: int | None = None
    lag_blocks: int | None = None
    state: str | None = None
    problem: str = ""


def fold_committee(committee: Committee, events: Iterable[ChainEvent]) -> None:
    """Goes on with some more events.

    Args:
        committee: changed in place.
        events: later ones, in chain order.
    """
    for event in events:
        if event.contract == "EpochOracle" and event.name in _STEPS:
            _STEPS[event.name](committee, event.args, event)


def seats(committee: Committee, last: int, epoch_of_time: EpochOfTime) -> tuple[Seat, ...]:
    """Give every member's record.

    Args:
        committee: folded up to now.
        last: how many of the latest epochs with a report to count.
        epoch_of_time: epoch of a second of chain time; a member owes no vote for epochs before it was added.
    """
    reported = sorted(committee.processed)[-last:]
    return tuple(
        _seat(committee, member, [epoch for epoch in reported if epoch >= epoch_of_time(added_at)])
        for member, added_at in committee.members.items()
    )


def ask(client: Status, finalized: int, network: Mapping[str, object]) -> Answer:
    """Ask a member how it is.

    Args:
        client: its address.
        finalized: the latest final block this program knows.
        network: chainId and paramsVersion every member must have.
    """
    try:
        said = client.get("/v1/status")
    except (UnavailableError, InvalidInputError, InconsistentError) as error:
        return Answer(url=client.name, problem=error.message)
    wrong = [f"{name} is {said.get(name)!r}, not {want!r}" for name, want in network.items() if said.get(name) != want]
    own = _whole(said, "finalized")
    return Answer(
        url=client.name,
        member=_text(said, "member"),
        params_version=_whole(said, "paramsVersion"),
        version=_text(said, "version"),
        epoch=_whole(said, "epoch"),
        lag_blocks=None if own is None else max(finalized - own, 0),
        state=_text(said, "state"),
        problem="; ".join(wrong),
    )


def committee_document(quorum: int, found: Sequence[Seat], answers: Sequence[Answer]) -> dict[str, object]:
    """JSON-ready form of the committee."""
    by_member = {answer.member: answer for answer in answers if answer.member is not None}
    return {
        "quorum": quorum,
        "members": [_seat_json(seat, by_member.get(seat.member)) for seat in found],
        "unknown": [_answer_json(answer) for answer in answers if answer.member not in {s.member for s in found}],
    }


def _seat(committee: Committee, member: Address, owed: Sequence[int]) -> Seat:
    voted = [epoch for epoch, by in committee.votes if by == member]
    latest = max(voted, default=None)
    known = latest is not None and latest in committee.processed
    return Seat(
        member=member,
        reporter=committee.reporters.get(member),
        last_vote_epoch=latest,
        agreed=committee.votes[latest, member] == committee.processed[latest] if latest is not None and known else None,
        missed=sum((epoch, member) not in committee.votes for epoch in owed),
        counted=len(owed),
    )


def _seat_json(seat: Seat, answer: Answer | None) -> dict[str, object]:
    return {
        "member": seat.member,
        "reporter": seat.reporter,
        "lastVoteEpoch": seat.last_vote_epoch,
        "agreed": seat.agreed,
        "missed": seat.missed,
        "counted": seat.counted,
        "answer": None if answer is None else _answer_json(answer),
    }


def _answer_json(answer: Answer) -> dict[str, object]:
    return {
        "url": answer.url,
        "member": answer.member,
        "paramsVersion": answer.params_version,
        "version": answer.version,
        "epoch": answer.epoch,
        "lagBlocks": answer.lag_blocks,
        "state": answer.state,
        "problem": answer.problem,
    }


def _whole(said: Mapping[str, object], name: str) -> int | None:
    value = said.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(said: Mapping[str, object], name: str) -> str | None:
    value = said.get(name)
    return value[:64] if isinstance(value, str) else None


def _added(committee: Committee, args: Mapping[str, Any], event: ChainEvent) -> None:
    committee.members[args["member"]] = event.timestamp
    committee.quorum = args["quorum"]


def _removed(committee: Committee, args: Mapping[str, Any], _event: ChainEvent) -> None:
    committee.members.pop(args["member"], None)
    committee.reporters.pop(args["member"], None)
    committee.quorum = args["quorum"]


def _quorum_changed(committee: Committee, args: Mapping[str, Any], _event: ChainEvent) -> None:
    committee.quorum = args["quorum"]


def _reporter_changed(committee: Committee, args: Mapping[str, Any], _event: ChainEvent) -> None:
    if int(args["reporter"], 16):
        committee.reporters[args["member"]] = args["reporter"]
    else:
        committee.reporters.pop(args["member"], None)


def _voted(committee: Committee, args: Mapping[str, Any], _event: ChainEvent) -> None:
    committee.votes[args["epoch"], args["member"]] = args["reportHash"]


def _withdrawn(committee: Committee, args: Mapping[str, Any], _event: ChainEvent) -> None:
    committee.votes.pop((args["epoch"], args["member"]), None)


def _submitted(committee: Committee, args: Mapping[str, Any], _event: ChainEvent) -> None:
    committee.processed[args["epoch"]] = args["reportHash"]


_STEPS = {
    "MemberAdded": _added,
    "MemberRemoved": _removed,
    "QuorumChanged": _quorum_changed,
    "ReporterChanged": _reporter_changed,
    "Voted": _voted,
    "VoteWithdrawn": _withdrawn,
    "ReportSubmitted": _submitted,
}

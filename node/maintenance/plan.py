"""What an announcement would excuse, before it is made: notice, budget, and what the contract refuses. Pure.

The rule is the oracle's own (`core.maintenance`), so that what is promised here is what settlement grants.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from node.events import address_of, integer_of
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.maintenance import excused_seconds
from swarm_chain.core.model import Announcement, ChainEvent
from swarm_chain.core.params import Params
from swarm_chain.core.units import Address, Timestamp

MAX_AHEAD, MAX_MAINTENANCE = 30 * 86_400, 7 * 86_400  # NodeMaintenance.MAX_AHEAD, MAX_MAINTENANCE; seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """What a node announced so far, and the rule it is judged by; `now` and `genesis_at` are chain time, unix s."""

    now: Timestamp
    genesis_at: Timestamp
    params: Params
    announced: tuple[Announcement, ...] = ()

    @property
    def earliest(self) -> Timestamp:
        """First second that an announcement mined in the next minute excuses."""
        return Timestamp(self.now + self.params.maintenance.notice_for + 60)


def announced_by(events: Iterable[ChainEvent], node: Address) -> tuple[Announcement, ...]:
    """Announcements of a node that were not withdrawn, oldest first.

    Args:
        events: of the registry, in chain order, from any block on; others are ignored.
        node: address of the node key.
    """
    found: list[Announcement] = []
    for event in events:
        if event.name not in ("MaintenanceAnnounced", "MaintenanceWithdrawn") or address_of(event, "node") != node:
            continue
        if event.name == "MaintenanceAnnounced":
            starts_at, ends_at = (Timestamp(integer_of(event, name)) for name in ("startsAt", "endsAt"))
            found.append(Announcement(node=node, starts_at=starts_at, ends_at=ends_at, announced_at=event.timestamp))
        elif found:
            found.pop()
    return tuple(found)


def excused_of(one: Announcement, calendar: Calendar) -> int:
    """Seconds of an announcement that are excused beside all the others.

    Args:
        one: made or not yet.
        calendar: the node's.
    """
    others = [other for other in calendar.announced if other != one]
    with_it, without = (_excused(said, one, calendar) for said in ([*others, one], others))
    return with_it - without


def phase_of(one: Announcement, now: Timestamp) -> str:
    """Whether an announced absence is `ahead`, `now` or `over`; `now` is chain time, unix s."""
    if now < one.starts_at:
        return "ahead"
    return "now" if now < one.ends_at else "over"


def budget_left(calendar: Calendar, node: Address) -> int:
    """Seconds of one absence that would be excused, announced now to begin as soon as it can, after all others.

    Args:
        calendar: the node's.
        node: address of the node key.
    """
    starts_at = Timestamp(max(calendar.earliest, *(one.ends_at for one in calendar.announced), 0))
    ends_at = Timestamp(starts_at + calendar.params.maintenance.budget_for)
    wanted = Announcement(node=node, starts_at=starts_at, ends_at=ends_at, announced_at=calendar.now)
    return excused_of(wanted, calendar)


def check_announcement(wanted: Announcement, calendar: Calendar) -> None:
    """Refuse what would not be excused as a whole, or what the contract refuses, before it costs anything.

    Args:
        wanted: the absence, announced now.
        calendar: what was announced before.

    Raises:
        InvalidInputError: codes "maintenance_stands", "bad_times", "short_notice", "over_budget".
    """
    _check_contract(wanted, calendar)
    notice_for = calendar.params.maintenance.notice_for
    if wanted.starts_at < calendar.now + notice_for:
        raise InvalidInputError(
            f"it must be announced {notice_for} s ahead, this is {wanted.starts_at - calendar.now} s",
            fix=f"start it at {calendar.earliest} (unix s) or later, or accept with --anyway what is not excused",
            code="short_notice",
            values={"noticeFor": notice_for, "earliestAt": calendar.earliest},
        )
    excused, length = excused_of(wanted, calendar), wanted.ends_at - wanted.starts_at
    if excused < length:
        limits = calendar.params.maintenance
        raise InvalidInputError(
            f"only {excused} s of {length} s would be excused: "
            f"{limits.budget_for} s may be announced in {limits.budget_epochs} epochs",
            fix=f"choose --for {excused}s, or accept with --anyway what is not excused"
            if excused
            else "start it later",
            code="over_budget",
            values={"excusedFor": excused, "wantedFor": length, "budgetFor": limits.budget_for},
        )


def _check_contract(wanted: Announcement, calendar: Calendar) -> None:
    last = calendar.announced[-1] if calendar.announced else None
    if last is not None and last.ends_at > calendar.now:
        raise InvalidInputError(
            f"maintenance from {last.starts_at} until {last.ends_at} (unix s) stands",
            fix="wait until it is over, or withdraw it before it begins: swarm node maintenance cancel",
            code="maintenance_stands",
            values={"startsAt": last.starts_at, "endsAt": last.ends_at},
        )
    ahead, length = wanted.starts_at - calendar.now, wanted.ends_at - wanted.starts_at
    if not 0 < ahead <= MAX_AHEAD or not 0 < length <= MAX_MAINTENANCE:
        raise InvalidInputError(
            f"it starts in {ahead} s and lasts {length} s",
            fix=f"start it within {MAX_AHEAD // 86_400} d from now, and let it last {MAX_MAINTENANCE // 86_400} d at most",
            code="bad_times",
            values={"startsIn": ahead, "lastsFor": length},
        )


def _excused(said: Iterable[Announcement], one: Announcement, calendar: Calendar) -> int:
    length = calendar.params.epoch.epoch_for
    first, last = (max(at - calendar.genesis_at, 0) // length for at in (one.starts_at, one.ends_at))
    return sum(excused_seconds(said, range(first, last + 1), calendar.genesis_at, calendar.params))

"""What a check of a machine says: ok, a warning, a failure or not measured, and what to do about it; rules every role shares."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

BLOCKED = 6  # exit code: a check found something that keeps the program from running
SKEW_FOR = 30  # seconds: the protocol uses chain time, but logs, tokens and signed messages do not
STALE_FOR = 600  # seconds without a block
MIB = 2**20
SHOWN = 80  # characters of what somebody else says


class Level(Enum):
    """Whether a program can run: yes, yes but, no, nobody knows."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One thing that was looked at; `remedy` is empty where nothing has to be done."""

    level: Level
    what: str
    found: str
    remedy: str = ""

    def as_dict(self) -> dict[str, str]:
        """JSON-ready form."""
        return {"level": self.level.value, "what": self.what, "found": self.found, "remedy": self.remedy}


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Free space in a folder, bytes: what is there, what is needed and what is comfortable."""

    folder: str
    free_bytes: int
    least_bytes: int
    good_bytes: int


def ok(what: str, found: str) -> Line:
    """Nothing to do."""
    return Line(level=Level.OK, what=what, found=found)


def warn(what: str, found: str, remedy: str) -> Line:
    """It runs, but somebody should look."""
    return Line(level=Level.WARN, what=what, found=found, remedy=remedy)


def fail(what: str, found: str, remedy: str) -> Line:
    """It cannot run like this."""
    return Line(level=Level.FAIL, what=what, found=found, remedy=remedy)


def unknown(what: str, found: str, remedy: str) -> Line:
    """It could not be measured; `found` says why."""
    return Line(level=Level.UNKNOWN, what=what, found=found, remedy=remedy)


def blocks(lines: Sequence[Line]) -> bool:
    """Whether the program cannot run like this."""
    return any(line.level is Level.FAIL for line in lines)


def judge_clock(what: str, now: int, block_at: int) -> Line:
    """Judge this machine's clock against the latest block, both unix s."""
    ahead = block_at - now
    if ahead > SKEW_FOR:
        return warn(what, f"the latest block is {ahead} s ahead of this machine", "synchronise the clock (NTP)")
    if -ahead > STALE_FOR:
        return warn(what, f"the latest block is {-ahead} s old", "synchronise the clock, or see if the chain stopped")
    return ok(what, f"{abs(ahead)} s from the latest block")


def judge_room(what: str, room: Room, remedy: str) -> Line:
    """Judge the space left in a folder: a failure below what is needed, a warning below what is comfortable."""
    found = f"{room.free_bytes // MIB} MiB free in {room.folder}"
    if room.free_bytes < room.least_bytes:
        return fail(what, found, remedy)
    return warn(what, found, remedy) if room.free_bytes < room.good_bytes else ok(what, found)


def others_may_use(mode: int) -> bool:
    """Whether a file's mode lets anybody but its owner at it."""
    return bool(mode & 0o077)


def differing(said: Mapping[str, object], want: Mapping[str, object]) -> tuple[str, ...]:
    """Fields of a status that are not as they must be, in words.

    Args:
        said: the status of a member.
        want: fields it must have.
    """
    return tuple(
        f"{field} {repr(said.get(field))[:SHOWN]} instead of {value!r}"
        for field, value in want.items()
        if said.get(field) != value
    )

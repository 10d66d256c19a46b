"""A job's log, piece by piece, until it or the job ends."""

from collections.abc import Callable, Iterator
from typing import Final

from swarm_chain.client.model import FINAL, LogPiece
from swarm_chain.core.errors import SwarmError, UnavailableError
from swarm_chain.core.kinds import JobState
from swarm_chain.ports import Clock

POLL_S: Final = 1
PATIENCE_MS: Final = 60_000  # a gateway may be away so long before following it fails
# What a gateway says of a job it has not seen on chain yet, or that has no log yet.
_NOT_YET: Final = frozenset({"unknown_job", "unknown_document", "no_log"})


Ask = Callable[[int], LogPiece]  # piece of a log from a byte on


def read_log_now(ask: Ask) -> Iterator[LogPiece]:
    """What a log holds now, no piece empty.

    Raises:
        SwarmError: the gateway is away, or refuses.
    """
    offset = 0
    while (piece := ask(offset)).text:
        yield piece
        if piece.ended:
            return
        offset = piece.next


def follow_log(ask: Ask, state: Callable[[], JobState], clock: Clock, most_for: int | None) -> Iterator[LogPiece]:
    """What a log holds and what comes to it, no piece empty, until the log or the job ends.

    Args:
        ask: piece from a byte on.
        state: of the job, on chain.
        clock: how to wait for more.
        most_for: seconds to follow at most; None: no end.

    Raises:
        UnavailableError: the gateway has been away for PATIENCE_MS, or is when the job is over.
        SwarmError: it refuses.
    """
    offset, begun_ms = 0, clock.monotonic_ms()
    heard_ms = begun_ms
    while most_for is None or clock.monotonic_ms() - begun_ms <= 1000 * most_for:
        over = state() in FINAL  # asked before the log, so that its last lines are not missed
        piece = _heard(ask, offset, waits=not over and clock.monotonic_ms() - heard_ms <= PATIENCE_MS)
        if piece is not None:
            offset, heard_ms = piece.next, clock.monotonic_ms()
            if piece.text:
                yield piece
            if piece.ended or (over and not piece.text):
                return
        if piece is None or not piece.text:
            clock.sleep(POLL_S)


def _heard(ask: Ask, offset: int, *, waits: bool) -> LogPiece | None:
    try:
        return ask(offset)
    except SwarmError as error:
        if waits and (isinstance(error, UnavailableError) or error.code in _NOT_YET):
            return None
        raise

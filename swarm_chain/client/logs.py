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


def read_logs(ask: Callable[[int], LogPiece], state: Callable[[], JobState], clock: Clock | None) -> Iterator[LogPiece]:
    """Pieces of a log, none empty.

    Args:
        ask: piece from a byte on.
        state: of the job, on chain.
        clock: how to wait for more; None: what is there now is enough.

    Raises:
        UnavailableError: the gateway has been away for PATIENCE_MS, or at once if nobody waits.
        SwarmError: it refuses.
    """
    offset = 0
    heard_at = 0 if clock is None else clock.monotonic_ms()
    while True:
        over = clock is None or state() in FINAL  # asked before the log, so that its last lines are not missed
        piece = _heard(ask, offset, waits=not over)
        if clock is not None and piece is None and clock.monotonic_ms() - heard_at > PATIENCE_MS:
            piece = ask(offset)  # it had its time: now its error counts
        if piece is not None:
            heard_at = 0 if clock is None else clock.monotonic_ms()
            offset = piece.next
            if piece.text:
                yield piece
            if piece.ended or (over and not piece.text):
                return
        if clock is not None and (piece is None or not piece.text):
            clock.sleep(POLL_S)


def _heard(ask: Callable[[int], LogPiece], offset: int, *, waits: bool) -> LogPiece | None:
    try:
        return ask(offset)
    except SwarmError as error:
        if waits and (isinstance(error, UnavailableError) or error.code in _NOT_YET):
            return None
        raise

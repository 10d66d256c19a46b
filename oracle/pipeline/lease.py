"""Whether this process acts for its member, or stands by while another one on the same database does.

    |<------------------ lasts_ms, by the database's clock ------------------>|
    asked                                                                      lapses: another process may take over
    |<----- acts, by this process' monotonic clock ----->|<----- margin ----->|
    |- renewed -|- renewed -| every third

The monotonic clock runs on while a process is stopped: one that wakes up late finds its time to act over.
"""

from dataclasses import dataclass

import structlog
from sqlalchemy import Connection, Engine

from oracle.store.leases import Lease, Now, database_ms, hold, release, require_current
from swarm_chain.core.errors import SwarmError, UnavailableError
from swarm_chain.ports import Clock

log = structlog.get_logger()

RENEWALS = 3  # within one length of the lease
MARGINS = 5  # of one length, the last one: no acting any more
LOOK_MS = 1000  # between two looks of a process that stands by


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """A lease and the monotonic time at which it was asked for, which is before it was granted."""

    lease: Lease
    asked_ms: int


class LeaseKeeper:
    """Keeps the lease of one process. `keep` is called by one thread, everything else by any.

    Args:
        engine: the store the processes share.
        clock: of this machine.
        holder: name of this process, another one at each start, at most 64 characters.
        lasts_ms: how long a lease lasts.
        now: the database's clock.
    """

    def __init__(self, engine: Engine, clock: Clock, holder: str, lasts_ms: int, now: Now = database_ms) -> None:
        self._engine = engine
        self._clock = clock
        self._holder = holder
        self._lasts_ms = lasts_ms
        self._now = now
        self._held: _Held | None = None
        self._stands_by = False

    @property
    def look_ms(self) -> int:
        """Milliseconds between two calls of `keep`."""
        return min(self._lasts_ms // RENEWALS, LOOK_MS)

    @property
    def holds(self) -> bool:
        """Whether this process may act now."""
        held = self._held
        acts_for_ms = self._lasts_ms - self._lasts_ms // MARGINS
        return held is not None and self._clock.monotonic_ms() < held.asked_ms + acts_for_ms

    def require(self) -> None:
        """Refuses what only the process that acts may do.

        Raises:
            UnavailableError: this one stands by (code standby).
        """
        if not self.holds:
            raise _standby()

    def keep(self) -> None:
        """Renews the lease when a third of it is over; without one, takes it if it is free.

        Raises:
            UnavailableError: the database does not answer; a lease that is not renewed ends by itself.
        """
        asked_ms, held = self._clock.monotonic_ms(), self._held
        if held is not None and asked_ms < held.asked_ms + self._lasts_ms // RENEWALS:
            return
        lease = hold(self._engine, self._holder, self._lasts_ms, self._now)
        self._held = None if lease is None else _Held(lease=lease, asked_ms=asked_ms)
        self._tell(held)

    def fence(self, connection: Connection) -> None:
        """Refuses, in the transaction of a write, what this process may not write any more.

        Raises:
            UnavailableError: another process has taken over (code lease_lost), or this one stands by.
        """
        held = self._held
        if held is None or not self.holds:
            raise _standby()
        require_current(connection, held.lease)

    def give_back(self) -> None:
        """Releases the lease at a clean stop, so that a process that stands by goes on at once."""
        held, self._held = self._held, None
        if held is None:
            return
        try:
            release(self._engine, held.lease)
        except SwarmError as error:
            log.warning("lease_not_released", code=error.code, fix="nothing: it lapses by itself")

    def _tell(self, before: _Held | None) -> None:
        held = self._held
        if held is None and not self._stands_by:
            log.info("standby", holder=self._holder)
        elif held is not None and (before is None or before.lease.token != held.lease.token):
            log.info("lease_taken", holder=self._holder, token=held.lease.token)
        self._stands_by = held is None


def _standby() -> UnavailableError:
    return UnavailableError(
        "this process stands by: another one acts for this member",
        code="standby",
        fix="ask another member, or this one again later",
        retry_after=5,
    )

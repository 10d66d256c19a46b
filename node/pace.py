"""When something that failed may be tried again."""

from dataclasses import dataclass

from swarm_chain.core.errors import SwarmError, UnavailableError
from swarm_chain.ports import Clock

FIRST_MS, LONGEST_MS = 500, 15_000
REFUSED_MS = 10_000  # whoever refused will hardly change his mind at once
REMEMBERED = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    tries: int
    until_ms: int


class Pace:
    """Waits after failures, by subject: doubling while a part is away, long after a refusal.

    Args:
        clock: the machine's monotonic clock.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures: dict[object, _Failure] = {}

    def due(self, subject: object) -> bool:
        """True unless the subject failed and its wait is not over."""
        failure = self._failures.get(subject)
        return failure is None or self._clock.monotonic_ms() >= failure.until_ms

    def failed(self, subject: object, error: SwarmError) -> int:
        """Notes a failure.

        Returns:
            Milliseconds until the subject is due again.
        """
        tries = self._failures[subject].tries + 1 if subject in self._failures else 1
        doubled = min(FIRST_MS << min(tries - 1, 10), LONGEST_MS)
        wait_ms = doubled if isinstance(error, UnavailableError) else REFUSED_MS
        if len(self._failures) >= REMEMBERED:
            self._failures.pop(next(iter(self._failures)))
        self._failures[subject] = _Failure(tries=tries, until_ms=self._clock.monotonic_ms() + wait_ms)
        return wait_ms

    def worked(self, subject: object) -> None:
        """Forgets the failures of a subject."""
        self._failures.pop(subject, None)

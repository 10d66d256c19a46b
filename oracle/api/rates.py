"""Who may send how often: token buckets, bounded in number."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import BoundedSemaphore, Lock

from fastapi import Request

from swarm_chain.core.errors import UnavailableError

MAX_SENDERS = 100_000


@dataclass(slots=True)
class _Bucket:
    tokens: int
    refilled_ms: int


class RateLimit:
    """Token buckets by sender; the least recently seen senders are forgotten first, so memory is bounded.

    Args:
        monotonic_ms: the clock.
        per_second: tokens a bucket gains a second.
        burst: tokens a full bucket holds.
    """

    def __init__(self, monotonic_ms: Callable[[], int], *, per_second: int, burst: int) -> None:
        self._now = monotonic_ms
        self._per_second = per_second
        self._burst = burst
        self._buckets: OrderedDict[tuple[str, str], _Bucket] = OrderedDict()
        self._lock = Lock()

    def take(self, host: str, sender: str) -> None:
        """Spends one token of a sender.

        Args:
            host: network address the message came from, so that nobody can spend another's tokens.
            sender: known node the message names; empty for all others of the host together, because an unknown name
                costs nothing and would bring a full bucket each time.

        Raises:
            UnavailableError: none is left (HTTP 429).
        """
        with self._lock:
            now = self._now()
            bucket = self._buckets.pop((host, sender), None) or _Bucket(tokens=self._burst * 1000, refilled_ms=now)
            gained = (now - bucket.refilled_ms) * self._per_second
            bucket.tokens = min(self._burst * 1000, bucket.tokens + gained)
            bucket.refilled_ms = now
            self._buckets[host, sender] = bucket
            if len(self._buckets) > MAX_SENDERS:
                self._buckets.popitem(last=False)
            if bucket.tokens < 1000:
                raise UnavailableError("too many messages from here", code="rate_limited", retry_after=1)
            bucket.tokens -= 1000


class Turns:
    """So many at once of what is expensive; whoever comes beyond that is sent away instead of queued.

    Args:
        at_once: how many.
    """

    def __init__(self, at_once: int) -> None:
        self._free = BoundedSemaphore(at_once)

    @contextmanager
    def one(self) -> Iterator[None]:
        """Takes a turn.

        Raises:
            UnavailableError: all are taken.
        """
        if not self._free.acquire(blocking=False):
            raise UnavailableError("this member is busy with other answers of this kind", code="busy", retry_after=5)
        try:
            yield
        finally:
            self._free.release()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Buckets of the kinds of callers: nodes, posters of specs, whoever asks for what must be computed, members, nodes
    that want to be called back, nodes that report benchmarks, fetchers of blocks."""

    nodes: RateLimit
    specs: RateLimit
    answers: RateLimit
    peers: RateLimit
    callbacks: RateLimit
    benchmarks: RateLimit
    blocks: RateLimit


def host_of(request: Request) -> str:
    """Network address a request came from."""
    return request.client.host if request.client else ""

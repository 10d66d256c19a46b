"""Errands in threads of their own: one at a time for each gateway's jobs, no tick waits for them."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from node.gateway_model import Errand
from node.gateways.ports import FinishedErrand
from swarm_chain.core.errors import InconsistentError, SwarmError

THREADS = 4


class ThreadCourier:
    """Courier with threads."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="gateway")
        self._running: dict[Errand, Future[object]] = {}

    @property
    def busy(self) -> frozenset[Errand]:
        """What is under way."""
        return frozenset(self._running)

    def start(self, errand: Errand, work: Callable[[], object]) -> None:
        """Begins and returns at once; what is under way already goes on."""
        if errand not in self._running:
            self._running[errand] = self._threads.submit(work)

    def finished(self) -> tuple[FinishedErrand, ...]:
        """What ended since the last call."""
        ended = [(errand, future) for errand, future in self._running.items() if future.done()]
        for errand, _ in ended:
            del self._running[errand]
        return tuple(_finished(errand, future) for errand, future in ended)

    def close(self) -> None:
        """Begins nothing more; what is under way ends with the process."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _finished(errand: Errand, future: "Future[object]") -> FinishedErrand:
    error = future.exception()
    if error is None:
        return FinishedErrand(errand=errand, found=future.result())
    if not isinstance(error, SwarmError):
        error = InconsistentError(f"{type(errand).__name__} failed: {error!r}", code="errand_failed")
    return FinishedErrand(errand=errand, error=error)

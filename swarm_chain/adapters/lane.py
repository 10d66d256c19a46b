"""Threads that ask one endpoint, so that one that hangs holds up nobody else."""

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Lock, Thread

MAX_AT_ONCE = 16  # requests under way to one endpoint; one that hangs costs no more threads than these
IDLE_S = 30.0


class Lane:
    """Threads of one endpoint. They are daemons: an endpoint that hangs does not keep the process from ending.

    `is_late` is True from when somebody stopped waiting for it until it answers again.
    """

    def __init__(self) -> None:
        self.is_late = False
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = Lock()
        self._threads = self._idle = 0

    def submit(self, job: Callable[[], None]) -> bool:
        """Runs a job soon; False while all threads wait for this endpoint."""
        with self._lock:
            if self._idle:
                self._idle -= 1
            elif self._threads < MAX_AT_ONCE:
                self._threads += 1
                Thread(target=self._work, name="rpc", daemon=True).start()
            else:
                return False
        self._jobs.put(job)
        return True

    def _work(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=IDLE_S)
            except Empty:
                if self._may_end():
                    return
                continue
            self._run(job)
            self.is_late = False
            with self._lock:
                self._idle += 1

    def _run(self, job: Callable[[], None]) -> None:
        try:
            job()
        except BaseException:
            # A bug in a reader ends its thread and is seen; the place becomes free for another one.
            with self._lock:
                self._threads -= 1
            raise

    def _may_end(self) -> bool:
        with self._lock:
            if not self._idle:
                return False  # a job is on its way
            self._idle, self._threads = self._idle - 1, self._threads - 1
            return True

"""A worker process that answers one question at a time, so that heavy or foreign work stays outside the member.

member --(question)--> worker: answer(question)
       <--what it gave | the SwarmError it raised--
"""

from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from threading import Lock
from typing import Generic, TypeVar

from swarm_chain.core.errors import SwarmError, UnavailableError

STOP_WITHIN_S = 5

Question = TypeVar("Question")
Answer = TypeVar("Answer")


class WorkerProcess(Generic[Question, Answer]):
    """One worker; the first question starts it, so that a member that never asks never pays for what it loads.

    Args:
        answer: a function of a module, which the worker imports; what it raises as SwarmError comes back as such.
        what: what is asked for, as the error of a question names it that was not answered.
        lost: code of that error.
    """

    def __init__(self, answer: Callable[[Question], Answer], what: str, lost: str) -> None:
        self._answer = answer
        self._what, self._lost = what, lost
        self._lock = Lock()
        self._turn = Lock()
        self._closed = False
        self._worker: tuple[SpawnProcess, Connection] | None = None

    def ask(self, question: Question, within_s: float) -> Answer:
        """The worker's answer; threads take turns, and none waits longer for its own answer than it may take.

        Args:
            question: picklable.
            within_s: seconds the answer may take; the worker is ended after that.

        Raises:
            SwarmError: what the function raised.
            UnavailableError: it took too long, or the worker died or was closed; the next question starts another.
        """
        with self._turn:
            found = self._asked(question, within_s)
        if isinstance(found, SwarmError):
            raise found
        return found

    def close(self) -> None:
        """Ends the worker for good, whatever it is doing; a question under way raises UnavailableError in its thread."""
        self._closed = True
        self._stop()

    def _asked(self, question: Question, within_s: float) -> Answer | SwarmError:
        pipe = self._pipe()
        try:
            pipe.send(question)
            if pipe.poll(within_s):
                answer: Answer | SwarmError = pipe.recv()
                return answer
        except (EOFError, OSError):
            pass
        self._stop()
        return UnavailableError(f"{self._what} did not finish", code=self._lost, retry_after=30)

    def _pipe(self) -> Connection:
        with self._lock:
            if self._closed:
                raise UnavailableError("this member is stopping", code="stopping")
            if self._worker is None:
                context = get_context("spawn")
                ours, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(theirs, self._answer), daemon=True)
                process.start()
                theirs.close()  # else this end would never see that the worker is gone
                self._worker = (process, ours)
            return self._worker[1]

    def _stop(self) -> None:
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            worker[0].kill()
            worker[0].join(STOP_WITHIN_S)


def _serve(pipe: Connection, answer: Callable[[Question], Answer]) -> None:
    """The worker's life: answers until the member hangs up."""
    while True:
        try:
            question = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(answer(question))
        except SwarmError as error:
            pipe.send(error)

"""A process that computes units for the gateway: a crash, a hang or a hoarder of memory stays outside.

gateway --(answer, question)--> worker, warm: answer(question)
        <--what it gave | the SwarmError it raised--
"""

from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from swarm_chain.core.errors import SwarmError, UnavailableError

STOP_WITHIN_S = 5

Question = TypeVar("Question")
Answer = TypeVar("Answer")


class WarmWorkers:
    """Processes for one question each, gone afterwards whatever happens. The next one is ready before it is asked: loading the
    libraries takes longer than most answers. One caller at a time.

    Args:
        prepare: a function of a module, which a worker calls before its question comes.
    """

    def __init__(self, prepare: Callable[[], object]) -> None:
        self._prepare = prepare
        self._context = get_context("spawn")
        self._spare: _Worker | None = None

    def warm(self) -> None:
        """Starts the next one, if none waits."""
        if self._spare is None:
            self._spare = self._started()

    def ask(self, answer: Callable[[Question], Answer], question: Question, within_s: float) -> Answer:
        """The answer of a process that was asked nothing before.

        Args:
            answer: a function of a module, which the worker imports.
            question: picklable.
            within_s: seconds it may take.

        Raises:
            SwarmError: what the function raised.
            UnavailableError: it took too long, or the worker died.
        """
        worker, self._spare = self._spare or self._started(), None
        try:
            found: Answer | SwarmError = worker.answered((answer, question), within_s)
        finally:
            worker.end()
            self.warm()
        if isinstance(found, SwarmError):
            raise found
        return found

    def close(self) -> None:
        """Ends the one that waits."""
        if self._spare is not None:
            self._spare.end()

    def _started(self) -> "_Worker":
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(theirs, self._prepare), daemon=True)
        process.start()
        theirs.close()  # else this end would never see that the worker is gone
        return _Worker(process=process, pipe=ours)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Worker:
    process: BaseProcess
    pipe: "Connection[Any, Any]"

    def answered(self, call: object, within_s: float) -> Any:
        try:
            self.pipe.send(call)
            return self.pipe.recv() if self.pipe.poll(within_s) else _lost(f"did not finish in {within_s:g} s")
        except (EOFError, OSError):
            return _lost("ended without an answer")

    def end(self) -> None:
        self.process.kill()
        self.process.join(STOP_WITHIN_S)
        self.pipe.close()


def _serve(pipe: "Connection[Any, Any]", prepare: Callable[[], object]) -> None:
    prepare()
    try:
        answer, question = pipe.recv()
    except EOFError:
        return  # nobody wants to know any more
    try:
        pipe.send(answer(question))
    except SwarmError as error:
        pipe.send(error)


def _lost(how: str) -> UnavailableError:
    return UnavailableError(f"computing units again {how}", code="worker_lost", retry_after=30)

"""A process that computes units for the gateway: a crash, a hang or a hoarder of memory stays outside.

gateway --(question)--> worker: answer(question)
        <--what it gave | the SwarmError it raised--
"""

from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import TypeVar

from swarm_chain.core.errors import SwarmError, UnavailableError

STOP_WITHIN_S = 5

Question = TypeVar("Question")
Answer = TypeVar("Answer")


def ask_worker(answer: Callable[[Question], Answer], question: Question, within_s: float) -> Answer:
    """The answer of a fresh process, which is gone afterwards whatever happens.

    Args:
        answer: a function of a module, which the worker imports.
        question: picklable.
        within_s: seconds it may take.

    Raises:
        SwarmError: what the function raised.
        UnavailableError: it took too long, or the worker died.
    """
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, answer, question), daemon=True)
    process.start()
    theirs.close()  # else this end would never see that the worker is gone
    try:
        found: Answer | SwarmError = ours.recv() if ours.poll(within_s) else _lost(f"did not finish in {within_s:g} s")
    except (EOFError, OSError):
        found = _lost("ended without an answer")
    finally:
        process.kill()
        process.join(STOP_WITHIN_S)
        ours.close()
    if isinstance(found, SwarmError):
        raise found
    return found


def _serve(pipe: Connection, answer: Callable[[Question], Answer], question: Question) -> None:
    try:
        pipe.send(answer(question))
    except SwarmError as error:
        pipe.send(error)


def _lost(how: str) -> UnavailableError:
    return UnavailableError(f"computing units again {how}", code="worker_lost", retry_after=30)

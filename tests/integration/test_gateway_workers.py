"""Processes that compute canaries: warm before they are asked, fresh for every question, gone afterwards."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from gateway.worker import WarmWorkers
from swarm_chain.core.errors import InvalidInputError, UnavailableError

SLOW_S = 3.0
_asked: list[str] = []


def prepare() -> None:
    """What takes long to load."""
    time.sleep(SLOW_S)


def who(word: str) -> tuple[int, str, int]:
    """Process, word, and how many questions this process has had."""
    _asked.append(word)
    return os.getpid(), word, len(_asked)


def refuse(word: str) -> str:
    """Refuses."""
    raise InvalidInputError(word, code="refused")


def die(_: str) -> str:
    """Ends without an answer, as one that takes too much memory does."""
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


@pytest.fixture
def workers() -> Iterator[WarmWorkers]:
    made = WarmWorkers(prepare)
    yield made
    made.close()


def test_worker_when_warm_then_answers_at_once_and_the_next_is_another_process(workers: WarmWorkers) -> None:
    workers.warm()
    time.sleep(SLOW_S + 4)
    started = time.monotonic()
    first, word, number = workers.ask(who, "first", 60)
    assert time.monotonic() - started < SLOW_S, "it was ready"
    assert (word, number) == ("first", 1)
    second, _, number = workers.ask(who, "second", 60)
    assert number == 1
    assert second != first
    assert not psutil.pid_exists(first)


def test_worker_when_it_refuses_dies_or_hangs_then_said_so_and_the_next_one_answers(workers: WarmWorkers) -> None:
    with pytest.raises(InvalidInputError, match="no such unit"):
        workers.ask(refuse, "no such unit", 60)
    with pytest.raises(UnavailableError, match="without an answer"):
        workers.ask(die, "", 60)
    with pytest.raises(UnavailableError, match="did not finish"):
        workers.ask(who, "", 0.1)  # it is not even ready
    assert workers.ask(who, "well", 60)[1] == "well"


def test_worker_when_closed_then_none_is_left(tmp_path: Path) -> None:
    del tmp_path
    before = {child.pid for child in psutil.Process().children()}
    made = WarmWorkers(prepare)
    made.warm()
    made.close()
    left = {child.pid for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE} - before
    assert all("resource_tracker" in " ".join(psutil.Process(one).cmdline()) for one in left)

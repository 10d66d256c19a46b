"""The worker that replays training: it says no as a function would, and no hang or death of it stays with the member."""

import threading
import time
from collections.abc import Iterator

import psutil
import pytest

from oracle.pipeline.replay_process import ReplayProcess
from swarm_chain.core.errors import InvalidInputError, UnavailableError


@pytest.fixture
def worker() -> Iterator[ReplayProcess]:
    made = ReplayProcess(timeout_for=60)
    yield made
    made.close()
    assert _children() == []


def _children() -> list[int]:
    return [child.pid for child in psutil.Process().children() if "spawn_main" in " ".join(child.cmdline())]


def test_worker_when_nothing_is_replayed_then_there_is_no_process(worker: ReplayProcess) -> None:
    assert _children() == []


def test_worker_when_the_spec_is_none_then_the_error_comes_back_and_the_worker_lives_on(
    worker: ReplayProcess,
) -> None:
    for _ in range(2):
        with pytest.raises(InvalidInputError):
            worker.replay(b"{}", b"", 0)
    assert len(_children()) == 1


def test_worker_when_it_is_killed_then_unavailable_and_the_next_replay_has_a_new_one(worker: ReplayProcess) -> None:
    with pytest.raises(InvalidInputError):
        worker.replay(b"{}", b"", 0)
    (pid,) = _children()
    psutil.Process(pid).kill()
    with pytest.raises(UnavailableError) as raised:
        worker.replay(b"{}", b"", 0)
    assert raised.value.code == "replay_lost"
    with pytest.raises(InvalidInputError):
        worker.replay(b"{}", b"", 0)


def test_worker_when_it_takes_too_long_then_it_is_ended(worker: ReplayProcess) -> None:
    impatient = ReplayProcess(timeout_for=0)
    with pytest.raises(UnavailableError):
        impatient.replay(b"{}", b"", 0)
    assert _children() == []
    impatient.close()


def test_worker_when_closed_during_a_replay_then_the_replay_ends_at_once(worker: ReplayProcess) -> None:
    found: list[Exception] = []

    def replay() -> None:
        try:
            worker.replay(b"{}", b"", 0)
        except (UnavailableError, InvalidInputError) as error:
            found.append(error)

    thread = threading.Thread(target=replay)
    thread.start()
    while not _children():
        time.sleep(0.001)
    worker.close()
    thread.join(10)
    assert not thread.is_alive()
    assert isinstance(found[0], UnavailableError)
    with pytest.raises(UnavailableError, match="stopping"):
        worker.replay(b"{}", b"", 0)

"""Threads of one endpoint: as many as are needed, never more than the lid, and none lost to a job that fails."""

import threading
from threading import Event, Semaphore

import pytest

from swarm_chain.adapters.lane import MAX_AT_ONCE, Lane


def test_jobs_when_the_endpoint_hangs_then_no_more_threads_than_the_lid_and_all_run_in_the_end() -> None:
    lane, over, ran = Lane(), Event(), Semaphore(0)

    def hang() -> None:
        over.wait(30)
        ran.release()

    taken = [lane.submit(hang) for _ in range(MAX_AT_ONCE + 4)]

    assert taken == [True] * MAX_AT_ONCE + [False] * 4
    over.set()
    assert all(ran.acquire(timeout=10) for _ in range(MAX_AT_ONCE))


def test_jobs_when_one_after_another_then_few_threads_serve_them() -> None:
    lane, seen = Lane(), set[int]()
    for _ in range(50):
        done = Event()

        def work(done: Event = done) -> None:
            seen.add(threading.get_ident())
            done.set()

        assert lane.submit(work)
        assert done.wait(10)

    assert len(seen) < MAX_AT_ONCE


def test_late_when_a_job_comes_to_its_end_then_no_longer() -> None:
    lane, done = Lane(), Event()
    lane.is_late = True

    lane.submit(done.set)
    assert done.wait(10)

    looks = (Event().wait(0.01) or lane.is_late for _ in range(500))
    assert not all(looks), "it answered, so it is waited for again"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_jobs_when_they_fail_by_a_bug_then_their_places_are_free_again() -> None:
    lane = Lane()
    for _ in range(3 * MAX_AT_ONCE):
        ended = Event()

        def fail(ended: Event = ended) -> None:
            ended.set()
            raise ZeroDivisionError

        while not lane.submit(fail):
            Event().wait(0.01)
        assert ended.wait(10)

    done = Event()
    while not lane.submit(done.set):
        Event().wait(0.01)
    assert done.wait(10)

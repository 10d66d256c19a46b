"""Several threads and processes write the same thing at once, on both databases: one is first, none is lost."""

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

import pytest
from sqlalchemy import Engine

from oracle.model import JobFinding
from oracle.store import documents, evidence, jobs, liveness, outbox
from oracle.store.engine import insert_new, open_store, writing
from oracle.store.evidence import Instant, Saved
from oracle.store.tables import heartbeats
from swarm_chain.core.errors import InconsistentError, UnavailableError
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.units import Address, EpochNumber, Hash32, JobId, WindowId
from tests.contract.store.test_leases import signed
from tests.contract.store.test_store import ALICE, BOB, commitment, opened

T = TypeVar("T")

RACERS = 4
# One process of many: opens the store and keeps a secret for the window everyone wants.
KEEPS_A_SECRET = """
import sys
from oracle.store.engine import open_store
from oracle.store.evidence import save_secret
print(save_secret(open_store(sys.argv[1]), 7, sys.argv[2].encode()).decode())
"""


def race(act: Callable[[int], T]) -> list[T]:
    """What each of several threads got that began at the same time."""
    start = Barrier(RACERS)

    def run(number: int) -> T:
        start.wait(10)
        return act(number)

    with ThreadPoolExecutor(RACERS) as threads:
        return list(threads.map(run, range(RACERS)))


def test_commitment_when_sent_many_times_at_once_then_it_is_kept_once(engine: Engine) -> None:
    saved = race(lambda i: evidence.save_commitment(engine, commitment(1), 10 + i))
    assert sorted(one for one, _ in saved) == [Saved.DUPLICATE] * (RACERS - 1) + [Saved.NEW]
    assert len({received.elapsed_ms for _, received in saved}) == 1, "all are told the measurement that counts"


def test_commitments_when_several_roots_come_at_once_then_one_counts_and_one_more_is_evidence(engine: Engine) -> None:
    saved = race(lambda i: evidence.save_commitment(engine, commitment(1 + i), 10)[0])
    assert sorted(saved) == [Saved.CONFLICT] * (RACERS - 1) + [Saved.NEW]
    assert [received.first for received in evidence.arrivals(engine, [opened()])] == [True, False]


@pytest.mark.parametrize("node", [ALICE, BOB], ids=["known-node", "new-node"])
def test_window_when_sealed_while_commitments_come_then_the_root_has_all_that_were_taken(
    engine: Engine, node: Address
) -> None:
    evidence.save_commitment(engine, commitment(1), 10)
    sealed: list[int] = []

    def act(number: int) -> Saved | None:
        if number == 0:
            sealed.append(len(evidence.seal(engine, opened())))
            return None
        return evidence.save_commitment(engine, commitment(9, node=node), 10)[0]

    race(act)
    assert len(evidence.seal(engine, opened())) == sealed[0]


def test_documents_when_two_reports_are_kept_at_once_then_one_stands_whole(engine: Engine) -> None:
    def act(number: int) -> bool:
        content = b"%d" % number
        try:
            documents.save_documents(engine, EpochNumber(1), {"bundle": content, "manifest": content})
        except InconsistentError:
            return False
        return True

    assert race(act).count(True) == 1
    kept = {documents.document(engine, EpochNumber(1), name) for name in ("bundle", "manifest")}
    assert len(kept) == 1


def test_intent_when_signed_by_several_at_once_then_nothing_is_sent_that_was_not_stored(engine: Engine) -> None:
    def act(number: int) -> str:
        try:
            outbox.store_intent(engine, "epoch:1:vote", signed(number), lambda _connection: None)
        except UnavailableError as error:
            return error.code
        return "stored " + signed(number).hash.hex()

    stored = [found for found in race(act) if found != "intent_raced"]
    kept = [f"stored {tx.hash.hex()}" for tx, _ in outbox.attempts_of(engine, "epoch:1:vote")]
    assert sorted(stored) == sorted(kept)
    assert stored


def test_verdict_when_given_by_several_at_once_then_the_first_stands(engine: Engine) -> None:
    digest = Hash32(b"d" * 32)

    def found(number: int) -> JobFinding:
        return JobFinding(job_id=JobId(1), outcome=Outcome.PASSED, reason=str(number))

    given = race(lambda i: jobs.save_verdict(engine, digest, found(i)))
    assert given.count(True) == 1
    (kept,) = jobs.verdicts(engine, [JobId(1)])
    assert given[int(kept.reason)]


def test_roll_call_when_counted_by_several_at_once_then_none_is_lost(engine: Engine) -> None:
    race(lambda i: liveness.save_roll_call(engine, EpochNumber(1), {ALICE: True, BOB: i == 0}))
    assert liveness.roll_call_counts(engine, EpochNumber(1)) == ((BOB, 1, RACERS), (ALICE, RACERS, RACERS))


def test_heartbeat_when_many_come_at_once_then_the_newest_stands(engine: Engine) -> None:
    race(lambda i: liveness.save_heartbeat(engine, ALICE, 1 + i, Instant(boot="boot 1", ms=100 * (1 + i))))
    assert liveness.last_heartbeats(engine, "boot 1") == {ALICE: 100 * RACERS}


def test_processes_when_they_open_a_fresh_database_at_once_then_both_work_and_one_secret_is_kept(
    database_url: str,
) -> None:
    started = [
        subprocess.Popen([sys.executable, "-c", KEEPS_A_SECRET, database_url, name], stdout=subprocess.PIPE, text=True)
        for name in ("one", "two")
    ]
    said = [process.communicate(timeout=60)[0].strip() for process in started]
    assert [process.returncode for process in started] == [0, 0]
    assert said[0] == said[1]
    engine = open_store(database_url)
    assert evidence.secret_of(engine, WindowId(7)) == said[0].encode()
    engine.dispose()


def test_transaction_when_it_fails_late_then_nothing_of_it_stays(engine: Engine) -> None:
    row = {"node": ALICE, "sequence": 1, "arrived_ms": 1, "boot": "boot 1"}
    new: list[bool] = []

    def fail_late() -> None:
        with writing(engine) as connection:
            new.extend(insert_new(connection, heartbeats, row) for _ in range(2))
            raise UnavailableError("in the middle")

    with pytest.raises(UnavailableError, match="in the middle"):
        fail_late()
    assert new == [True, False], "a key that exists must not end the transaction"
    assert liveness.last_heartbeats(engine, "boot 1") == {}

"""The lease on both databases: taken, renewed, lapsed, released; what a process that lost it writes is refused."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine
from structlog.testing import capture_logs

from oracle.pipeline.lease import LeaseKeeper
from oracle.store import outbox
from oracle.store.engine import open_store, writing
from oracle.store.leases import Lease, database_ms, hold, release, require_current
from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.model import ContractCall, SignedTx
from swarm_chain.core.units import Address, Hash32, Wei
from swarm_chain.testing import FakeClock

LASTS_MS = 15_000
Keep = Callable[[str], LeaseKeeper]


@pytest.fixture
def clock() -> FakeClock:
    """The clock of the machine and of its database."""
    return FakeClock()


@pytest.fixture
def keep(engine: Engine, clock: FakeClock) -> Keep:
    """Makes the keeper of one more process on the same database."""
    return lambda holder: LeaseKeeper(engine, clock, holder, LASTS_MS, now=lambda _connection: clock.monotonic_ms())


def signed(number: int) -> SignedTx:
    """A transaction that nobody sends."""
    call = ContractCall(contract="EpochOracle", function="vote", args=(1, bytes(32)))
    return SignedTx(
        hash=Hash32(bytes([number]) * 32), raw=b"raw", sender=Address("0x"), nonce=4, max_fee_wei=Wei(1), call=call
    )


def test_lease_when_two_processes_ask_then_the_second_stands_by_until_the_first_gives_it_back(keep: Keep) -> None:
    first, second = keep("first"), keep("second")
    first.keep()
    second.keep()
    assert (first.holds, second.holds) == (True, False)
    first.give_back()
    second.keep()
    assert (first.holds, second.holds) == (False, True)


def test_lease_when_renewed_every_third_then_it_never_lapses(keep: Keep, clock: FakeClock) -> None:
    first, second = keep("first"), keep("second")
    first.keep()
    for _ in range(12):
        clock.advance(5)
        assert first.holds
        first.keep()
        second.keep()
        assert not second.holds


def test_lease_when_it_was_not_renewed_then_its_holder_stops_before_another_one_begins(
    keep: Keep, clock: FakeClock
) -> None:
    first, second = keep("first"), keep("second")
    first.keep()
    acting = []
    for _ in range(LASTS_MS // 1000):
        second.keep()
        acting.append((first.holds, second.holds))
        clock.advance(1)
    second.keep()
    assert acting == [(True, False)] * 12 + [(False, False)] * 3
    assert second.holds


def test_write_when_another_process_took_over_then_it_is_refused_in_its_own_transaction(
    engine: Engine, keep: Keep, clock: FakeClock
) -> None:
    first, second = keep("first"), keep("second")
    first.keep()
    lease = hold(engine, "first", LASTS_MS, lambda _connection: clock.monotonic_ms())
    assert lease is not None
    clock.advance(16)
    second.keep()
    outbox.store_intent(engine, "epoch:1:vote", signed(2), second.fence)
    with pytest.raises(UnavailableError) as late:
        outbox.store_intent(engine, "epoch:1:vote", signed(1), first.fence)
    with pytest.raises(UnavailableError) as fenced:  # one that looked at its clock before it was stopped
        outbox.store_intent(engine, "epoch:1:vote", signed(1), lambda c: require_current(c, lease))
    assert (late.value.code, fenced.value.code) == ("standby", "lease_lost")
    assert [tx.hash for tx, _ in outbox.attempts_of(engine, "epoch:1:vote")] == [signed(2).hash]


def test_lease_when_taken_over_then_neither_renewal_nor_release_of_the_old_one_changes_it(engine: Engine) -> None:
    old = hold(engine, "first", 1, lambda _connection: 1)
    new = hold(engine, "second", LASTS_MS)
    assert old is not None
    assert new is not None
    assert (old.token, new.token) == (1, 2)
    release(engine, old)
    assert hold(engine, "first", LASTS_MS) is None
    with writing(engine) as connection:
        require_current(connection, new)


def test_lease_when_many_processes_ask_at_once_then_one_gets_it(database_url: str) -> None:
    engines = [open_store(database_url) for _ in range(6)]
    with ThreadPoolExecutor(6) as threads:
        granted = list(threads.map(lambda i: hold(engines[i], f"process {i}", LASTS_MS), range(6)))
    assert [lease.token for lease in granted if lease] == [1]
    for engine in engines:
        engine.dispose()


def test_take_over_when_a_fenced_write_is_under_way_then_it_waits_for_its_end(database_url: str) -> None:
    writer, other = open_store(database_url), open_store(database_url)
    lease = hold(writer, "first", 1)
    assert lease is not None
    with ThreadPoolExecutor(1) as threads:
        with writing(writer) as connection:
            require_current(connection, lease)
            taking = threads.submit(hold, other, "second", LASTS_MS)
            time.sleep(0.3)
            assert not taking.done()
        taken = taking.result(timeout=20)
    assert taken is not None
    assert taken.token == 2
    writer.dispose()
    other.dispose()


def test_database_clock_when_read_then_it_is_unix_time_in_milliseconds(engine: Engine) -> None:
    with engine.connect() as connection:
        assert abs(database_ms(connection) - time.time() * 1000) < 60_000


def test_lease_when_it_changes_hands_then_each_change_is_logged_once(keep: Keep, clock: FakeClock) -> None:
    first, second = keep("first"), keep("second")
    with capture_logs() as logs:
        for _ in range(3):
            first.keep()
            second.keep()
            clock.advance(5)
        clock.advance(20)
        for _ in range(3):
            second.keep()
            first.keep()
            clock.advance(5)
    assert [(line["event"], line["holder"]) for line in logs] == [
        ("lease_taken", "first"),
        ("standby", "second"),
        ("lease_taken", "second"),
        ("standby", "first"),
    ]


def test_lease_when_the_database_was_away_then_the_holder_goes_on_with_the_same_token(
    engine: Engine, keep: Keep, clock: FakeClock
) -> None:
    first = keep("first")
    first.keep()
    clock.advance(60)  # it could not renew
    lapsed = first.holds
    first.keep()
    assert (lapsed, first.holds) == (False, True)
    granted = hold(engine, "first", LASTS_MS, lambda _connection: clock.monotonic_ms())
    assert granted == Lease(holder="first", token=1, lasts_ms=LASTS_MS, expires_ms=clock.monotonic_ms() + LASTS_MS)

"""A database that fails under a running member: refusals say what to do, nothing is lost, the member goes on by itself."""

import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import create_engine, event, text
from structlog.testing import capture_logs

from oracle.cron import start_cron
from oracle.store import documents, liveness
from oracle.store.engine import open_store
from swarm_chain.core.errors import InconsistentError, UnavailableError
from swarm_chain.core.units import EpochNumber
from tests.databases import PostgresServer
from tests.member_world import ALICE, MemberWorld

NOBODY = 65534
POLL_MS = 50


@pytest.fixture
def world(tmp_path: Path) -> Iterator[MemberWorld]:
    """A member on SQLite."""
    made = MemberWorld(tmp_path)
    yield made
    made.close_down()


def beat(world: MemberWorld, sequence: int) -> tuple[int, str]:
    """Status and error code of the answer to a heartbeat."""
    answer = world.client.post("/v1/heartbeats", json=world.beat(world.heartbeat(sequence=sequence)))
    return answer.status_code, answer.json().get("error", "")


def wait_for(holds: Callable[[], bool]) -> None:
    """Returns once something holds."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def test_disk_when_full_then_what_was_kept_stays_and_the_member_goes_on_once_there_is_room(world: MemberWorld) -> None:
    pages = [0]

    def limit(connection: sqlite3.Connection, _record: object) -> None:
        pages[0] = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages[0] + 20}")

    assert beat(world, 1) == (202, "")
    world.engine.dispose()
    event.listen(world.engine, "connect", limit)
    contents = {"bundle": bytes(4096), "manifest": bytes(10**6)}
    with pytest.raises(UnavailableError, match="full") as raised:
        documents.save_documents(world.engine, EpochNumber(1), contents)
    assert (raised.value.code, "free space" in raised.value.fix) == ("store_full", True)
    assert documents.names(world.engine, EpochNumber(1)) == frozenset(), "half a publication must not stay"
    assert liveness.last_heartbeats(world.engine, world.member.desk.boot).keys() == {ALICE.address}

    event.remove(world.engine, "connect", limit)
    world.engine.dispose()
    documents.save_documents(world.engine, EpochNumber(1), contents)
    assert beat(world, 2) == (202, "")


def test_file_when_locked_by_another_program_then_503_until_it_lets_go(world: MemberWorld, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "oracle.db")
    other.execute("BEGIN IMMEDIATE")
    assert beat(world, 1) == (503, "store_unavailable")
    assert world.client.get("/v1/epochs").status_code == 200, "who only reads is not locked out"
    other.rollback()
    other.close()
    assert beat(world, 1) == (202, "")


def test_file_when_replaced_under_the_member_then_nothing_is_written_to_either(
    world: MemberWorld, tmp_path: Path
) -> None:
    path, kept = tmp_path / "oracle.db", tmp_path / "kept.db"
    path.rename(kept)
    path.write_bytes(b"")
    assert beat(world, 1) == (503, "store_lost")
    path.unlink()
    assert beat(world, 1) == (503, "store_lost")
    assert not path.exists(), "no empty database may take its place"
    kept.rename(path)
    assert beat(world, 1) == (202, "")


def test_file_when_damaged_then_the_member_stops_working_and_says_so(world: MemberWorld, tmp_path: Path) -> None:
    documents.save_documents(world.engine, EpochNumber(0), {"published": b"1", "manifest": b"m"})
    world.engine.dispose()
    with sqlite3.connect(tmp_path / "oracle.db") as store:
        (page,) = store.execute("SELECT rootpage FROM sqlite_master WHERE name = 'documents'").fetchone()
        (size,) = store.execute("PRAGMA page_size").fetchone()
    store.close()
    with open(tmp_path / "oracle.db", "r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    with pytest.raises(InconsistentError, match="damaged"):
        documents.document(world.engine, EpochNumber(0), "manifest")
    answer = world.client.get("/v1/epochs/0/manifest")
    assert (answer.status_code, answer.json()["error"]) == (500, "store_damaged")
    assert "rebuilt" in answer.json()["fix"]


def test_open_when_file_and_folder_may_only_be_read_then_it_says_so() -> None:
    with tempfile.TemporaryDirectory(prefix="swarm-ro-") as folder:
        url = f"sqlite:///{folder}/oracle.db"
        open_store(url).dispose()
        Path(folder, "oracle.db").chmod(0o444)
        Path(folder).chmod(0o555)
        with _without_privileges(), pytest.raises(UnavailableError) as raised:
            open_store(url)
        Path(folder).chmod(0o755)
    assert (raised.value.code, raised.value.exit_code) == ("store_read_only", 4)


def test_server_when_it_dies_under_a_running_member_then_503_and_metrics_and_it_goes_on_once_it_is_back(
    tmp_path: Path, failing_server: PostgresServer
) -> None:
    world = MemberWorld(tmp_path, database_url=failing_server.new_database())
    cron = start_cron(world.member, POLL_MS)
    try:
        assert beat(world, 1) == (202, "")
        failing_server.stop()
        assert beat(world, 2) == (503, "store_unavailable")
        assert world.client.get("/v1/epochs/0/manifest").status_code == 503
        assert world.client.get("/v1/status").status_code == 200, "what the chain says needs no database"
        wait_for(lambda: 'swarm_tick_failures_total{code="store_unavailable",entry="work"}' in _metrics(world))
        failing_server.start()
        assert beat(world, 2) == (202, "")
        wait_for(lambda: _works_through_a_block(world))  # a turn that began while it was away may still fail
    finally:
        cron.shutdown()
        world.close_down()


def test_server_when_it_ends_every_connection_then_no_request_fails(
    tmp_path: Path, failing_server: PostgresServer
) -> None:
    world = MemberWorld(tmp_path, database_url=failing_server.new_database())
    assert beat(world, 1) == (202, "")
    failing_server.stop()
    failing_server.start()
    assert beat(world, 2) == (202, "")
    world.close_down()


def test_stop_when_the_server_is_away_then_the_member_ends_cleanly_and_the_lease_lapses_by_itself(
    tmp_path: Path, failing_server: PostgresServer
) -> None:
    world = MemberWorld(tmp_path, database_url=failing_server.new_database())
    failing_server.stop()
    with capture_logs() as logs:
        world.member.keeper.give_back()
    assert [line["event"] for line in logs] == ["store_failed", "lease_not_released"]
    assert not world.member.keeper.holds
    world.close_down()


def test_server_when_it_becomes_read_only_then_503_until_it_may_be_written(
    tmp_path: Path, postgres_server: PostgresServer
) -> None:
    url = postgres_server.new_database()
    world, admin = MemberWorld(tmp_path, database_url=url), create_engine(url, isolation_level="AUTOCOMMIT")
    for mode, want in (("on", (503, "store_read_only")), ("off", (202, ""))):
        with admin.connect() as connection:
            connection.execute(
                text(f"ALTER DATABASE {world.engine.url.database} SET default_transaction_read_only={mode}")
            )
        world.engine.dispose()  # the setting is for new connections
        assert beat(world, 1) == want
    admin.dispose()
    world.close_down()


def _metrics(world: MemberWorld) -> str:
    return world.client.get("/metrics").text


def _works_through_a_block(world: MemberWorld) -> bool:
    failures = _failures(world)
    world.chain.mine()
    wait_for(lambda: f"swarm_head_block {float(world.chain.block('latest').number)}" in _metrics(world))
    return _failures(world) == failures


def _failures(world: MemberWorld) -> list[str]:
    return [line for line in _metrics(world).splitlines() if line.startswith("swarm_tick_failures_total")]


@contextmanager
def _without_privileges() -> Iterator[None]:
    """Gives up root for a while, which no permission of a file would stop."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)

"""Two processes of one member on one database: one acts, and when it dies, hangs or stops, the other goes on."""

import json
import signal
from collections.abc import Callable

import httpx2
import pytest
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.exc import OperationalError

from swarm_chain.devnet import Devnet
from tests.databases import POSTGRESQL, SQLITE
from tests.integration.oracle.conftest import Epochs
from tests.integration.oracle.gate import Fault, Gate, selector
from tests.integration.oracle.process import MemberProgram, wait_until

VOTE = selector("EpochOracle", "vote", 0, bytes(32))
SUBMIT = selector("EpochOracle", "submitReport", (0, 0, bytes(32), 0, bytes(32), 0, 0, 0, bytes(32), bytes(32)))
LEASE_FOR = 3
NEVER_LAPSES_FOR = 300

Replica = Callable[..., MemberProgram]

on_postgresql = pytest.mark.parametrize("database_url", [POSTGRESQL], indirect=True)
# What a standby needs of a database is tested on both in tests/contract/store; its process story takes a while on each.
on_both = pytest.mark.parametrize(
    "database_url", [POSTGRESQL, pytest.param(SQLITE, marks=pytest.mark.long)], indirect=True
)

pytestmark = pytest.mark.usefixtures("nodes")


@pytest.fixture
def replica(launch: Callable[[str], MemberProgram], chain: Devnet, database_url: str) -> Replica:
    """Makes one more process of the same member on the same database."""

    def make(rpc_url: str = chain.rpc_url, lease_for: int = LEASE_FOR) -> MemberProgram:
        program = launch(rpc_url)
        program.settings = {"DATABASE_URL": database_url, "LEASE_FOR": str(lease_for)}
        return program

    return make


def acts(program: MemberProgram) -> bool:
    """Whether the program says that it is ready."""
    return httpx2.get(f"{program.url}/readyz", timeout=20).status_code == 200


def end_epoch(epochs: Epochs) -> int:
    """Ends the running epoch, so that members that run have its report to make and a whole epoch to do it in."""
    epoch = epochs.current
    epochs.end(epoch)
    return epoch


def require_once(epochs: Epochs, epoch: int) -> None:
    """One vote and one submission, no more and no less."""
    assert (epochs.events("Voted", epoch), epochs.events("ReportSubmitted", epoch)) == (1, 1)


@on_both
def test_holder_when_killed_around_its_vote_then_the_standby_completes_the_epoch_once(
    chain: Devnet, epochs: Epochs, gate: Gate, replica: Replica
) -> None:
    first, second = replica(gate.url), replica()
    first.start()
    second.start()
    assert second.said("standby")
    gate.faults = {VOTE: Fault.UNANSWERED, SUBMIT: Fault.LOST}
    epoch = end_epoch(epochs)
    wait_until(gate.met.is_set, chain.mine)
    first.kill()
    wait_until(lambda: epochs.has_report(epoch), chain.mine)
    assert [line["token"] for line in second.said("lease_taken")] == [2]
    assert not second.said("second_replica")
    require_once(epochs, epoch)


@on_both
def test_holder_when_stopped_past_its_lease_and_woken_then_it_stands_by_and_votes_no_second_time(
    chain: Devnet, epochs: Epochs, gate: Gate, replica: Replica, database_url: str
) -> None:
    first, second = replica(gate.url), replica()
    first.start()
    second.start()
    gate.faults[VOTE] = Fault.LOST
    epoch = end_epoch(epochs)
    wait_until(gate.met.is_set, chain.mine)
    _stop_between_writes(first, database_url)
    gate.faults.clear()
    wait_until(lambda: epochs.has_report(epoch), chain.mine)
    first.signal(signal.SIGCONT)
    wait_until(lambda: bool(first.said("standby")), chain.mine)
    wait_until(lambda: chain.mine() >= 0 and not acts(first) and acts(second))
    require_once(epochs, epoch)
    assert not first.said("tick_crashed")


@pytest.mark.long
@on_postgresql
def test_standbys_when_holders_die_one_after_another_then_one_of_them_acts_each_time(
    chain: Devnet, epochs: Epochs, replica: Replica
) -> None:
    programs = [replica() for _ in range(3)]
    for program in programs:
        program.start()
    for token in (1, 2):
        (holder,) = (program for program in programs if acts(program))
        assert [line["token"] for line in holder.said("lease_taken")] == [token]
        holder.kill()
        programs.remove(holder)
        wait_until(lambda: any(map(acts, programs)), chain.mine)
    epoch = end_epoch(epochs)
    wait_until(lambda: epochs.has_report(epoch), chain.mine)
    require_once(epochs, epoch)


@pytest.mark.long
@on_postgresql
def test_standby_when_asked_then_it_serves_everybody_but_takes_in_nothing_until_the_holder_stops(
    replica: Replica,
) -> None:
    first, second = replica(lease_for=NEVER_LAPSES_FOR), replica(lease_for=NEVER_LAPSES_FOR)
    first.start()
    second.start()
    assert second.get("/readyz")["error"] == "standby"
    assert (first.get("/v1/status")["state"], second.get("/v1/status")["state"]) == ("ready", "standby")
    assert second.get("/v1/epochs") == first.get("/v1/epochs")
    for path in ("/v1/heartbeats", "/v1/commitments", "/v1/proofs", "/v1/jobs/specs", "/v1/jobs/1/receipts"):
        answer = second.post(path, {})
        assert (answer.status_code, answer.json()["error"]) == (503, "standby"), path
        assert first.post(path, {}).status_code == 422, path
    done = second.run("--json", "oracle", "once", "--confirm")
    assert (done.returncode, json.loads(done.stdout)["error"]) == (4, "standby")
    assert first.end(signal.SIGTERM) == 0
    wait_until(lambda: acts(second), within_s=20)


@pytest.mark.long
def test_two_databases_of_one_key_when_both_act_then_the_chain_has_one_vote_and_one_submission(
    chain: Devnet, epochs: Epochs, launch: Callable[[str], MemberProgram]
) -> None:
    programs = [launch(chain.rpc_url) for _ in range(2)]
    for program in programs:
        program.start()
    epoch = end_epoch(epochs)
    wait_until(lambda: epochs.has_report(epoch), chain.mine)
    wait_until(lambda: all(_knows_report(program, epoch) for program in programs), chain.mine)
    assert (epochs.events("Voted", epoch), epochs.events("ReportSubmitted", epoch)) == (1, 1)
    assert not any(program.said("tick_crashed") for program in programs)


def _knows_report(program: MemberProgram, epoch: int) -> bool:
    return any(one["epoch"] == epoch for one in program.get("/v1/epochs")["epochs"])


def _stop_between_writes(program: MemberProgram, database_url: str) -> None:
    """Stops a process where it holds no lock of the database: in SQLite it would lock out everybody until it wakes up."""
    engine = create_engine(database_url, connect_args={"timeout": 0.1} if "sqlite" in database_url else {})

    def stopped() -> bool:
        program.signal(signal.SIGSTOP)
        if _may_write(engine):
            return True
        program.signal(signal.SIGCONT)
        return False

    wait_until(stopped)
    engine.dispose()


def _may_write(engine: Engine) -> bool:
    try:
        with engine.begin() as connection:
            connection.execute(text("UPDATE leases SET token = token"))
    except OperationalError:
        return False
    return True

"""Committees of real processes: everybody votes the same hash, whoever is killed comes back by itself."""

import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest

from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.params import load_params
from tests.chain_fixtures import ChainTools
from tests.databases import PostgresServer
from tests.integration.oracle.committee import Committee, found_committee
from tests.integration.oracle.conftest import Epochs
from tests.integration.oracle.process import MemberProgram, wait_until
from tests.integration.oracle.worker import Worker
from tests.integration.proxy import running_proxy

WITHIN_S = 240


@pytest.fixture
def four(tools: ChainTools, tmp_path: Path) -> Iterator[Committee]:
    """Four members who all must vote."""
    made = found_committee(tools, tmp_path, count=4, quorum=4)
    yield made
    _end(made)


@pytest.fixture
def seven(tools: ChainTools, tmp_path: Path) -> Iterator[Committee]:
    """The default committee: five of seven."""
    made = found_committee(tools, tmp_path, count=7, quorum=5)
    yield made
    _end(made)


@pytest.fixture
def two(tools: ChainTools, tmp_path: Path) -> Iterator[Committee]:
    """Two members who both must vote."""
    made = found_committee(tools, tmp_path, count=2, quorum=2)
    yield made
    _end(made)


@pytest.mark.long
def test_member_when_its_database_is_deleted_in_mid_epoch_then_it_catches_up_and_votes_the_same_hash(
    epochs: Epochs, nodes: tuple[KeySigner, KeySigner], four: Committee
) -> None:
    tools, epoch = epochs.tools, epochs.begin()
    epochs.own_time()
    four.start()
    workers = _workers(nodes, four.programs)
    _work(epochs, four, workers, lambda: all(epoch << 16 in worker.proven for worker in workers))
    four.programs[2].kill()
    four.forget(2)
    four.start(2)
    wait_until(lambda: len(_evidence(four.programs[2], epoch)["proofs"]) == len(nodes), within_s=WITHIN_S)
    _end_epoch(epochs, epoch)
    wait_until(lambda: epochs.has_report(epoch), lambda: four.pace(tools), within_s=WITHIN_S)

    votes = four.votes(tools, epoch)
    assert set(votes) == {key.address for key in four.keys}
    assert len(set(votes.values())) == 1
    assert epochs.events("ReportSubmitted", epoch) == 1
    _all_publish_the_same(tools, four, epoch)
    bundle = four.programs[2].get(f"/v1/epochs/{epoch}/bundle")
    assert len(bundle["observations"]) == 4
    assert {proof["proof"]["node"] for proof in bundle["proofs"]} == {node.address for node in nodes}


@pytest.mark.long
def test_committee_of_seven_when_two_are_down_then_five_report_and_the_two_fetch_it_afterwards(
    epochs: Epochs, nodes: tuple[KeySigner, KeySigner], seven: Committee
) -> None:
    tools, epoch = epochs.tools, epochs.begin()
    epochs.own_time()
    seven.start(*range(5))
    workers = _workers(nodes, seven.programs[:5])
    _work(epochs, seven, workers, lambda: all(epoch << 16 in worker.proven for worker in workers))
    _end_epoch(epochs, epoch)
    wait_until(lambda: epochs.has_report(epoch), lambda: seven.pace(tools), within_s=WITHIN_S)

    votes = seven.votes(tools, epoch)
    assert set(votes) == {key.address for key in seven.keys[:5]}
    assert len(set(votes.values())) == 1
    assert epochs.events("ReportSubmitted", epoch) == 1
    seven.start(5, 6)
    _all_publish_the_same(tools, seven, epoch)


@pytest.mark.long
def test_two_runs_when_seed_database_and_endpoint_order_differ_then_the_same_bytes(
    epochs: Epochs,
    nodes: tuple[KeySigner, KeySigner],
    two: Committee,
    postgres_server: PostgresServer,
) -> None:
    """Invariant 43. Both build the report from the one bundle, each for itself, and must agree to report at all."""
    tools, epoch = epochs.tools, epochs.begin()
    epochs.own_time()
    with ExitStack() as stack:
        ends = [stack.enter_context(running_proxy(tools.net.rpc_url)).url for _ in range(2)]
        for program, seed, order in zip(two.programs, ("1", "4242"), (ends, ends[::-1]), strict=True):
            program.extra = {"PYTHONHASHSEED": seed, "SWARM_RPC_URL": ",".join(order)}
        two.programs[1].settings["DATABASE_URL"] = postgres_server.new_database()
        two.start()
        _work(epochs, two, _workers(nodes, two.programs), lambda: _is_drawn_and_proven(two, epoch, len(nodes)))
        _end_epoch(epochs, epoch)
        wait_until(lambda: epochs.has_report(epoch), lambda: two.pace(tools), within_s=WITHIN_S)

        assert set(two.votes(tools, epoch)) == {key.address for key in two.keys}
        _all_publish_the_same(tools, two, epoch)
        built = [said["report_hash"] for program in two.programs for said in program.said("report_built")]
        assert len(built) == 2 * len(set(built)), "each report was built by both"
        assert not (two.programs[1].home / "oracle.db").exists()


def _is_drawn_and_proven(committee: Committee, epoch: int, count: int) -> bool:
    return all(len(_evidence(program, epoch)["proofs"]) >= count for program in committee.running())


def _end_epoch(epochs: Epochs, epoch: int) -> None:
    epochs.end(epoch)
    epochs.own_time()


def _evidence(program: MemberProgram, epoch: int) -> dict[str, list[object]]:
    """Names of what a member holds."""
    found: dict[str, list[object]] = program.get(f"/v1/epochs/{epoch}/evidence")
    return found


def _end(committee: Committee) -> None:
    for program in committee.running():
        program.end(signal.SIGKILL)


def _workers(nodes: tuple[KeySigner, ...], members: tuple[MemberProgram, ...]) -> list[Worker]:
    return [Worker(signer=node, members=members, params=load_params("minimal")) for node in nodes]


def _work(epochs: Epochs, committee: Committee, workers: list[Worker], done: Callable[[], bool]) -> None:
    """Nodes work and chain time passes until something holds."""

    def steps() -> None:
        for worker in workers:
            worker.step()
        committee.pace(epochs.tools)

    wait_until(done, steps, within_s=WITHIN_S)


def _all_publish_the_same(tools: ChainTools, committee: Committee, epoch: int) -> None:
    def all_have_it() -> bool:
        answers = [httpx2.get(f"{p.url}/v1/epochs/{epoch}/manifest", timeout=20) for p in committee.programs]
        return all(answer.status_code == 200 for answer in answers)

    wait_until(all_have_it, lambda: committee.pace(tools), within_s=WITHIN_S)
    for name in ("manifest", "bundle", "state", "shards/0"):
        assert len({program.get_bytes(f"/v1/epochs/{epoch}/{name}") for program in committee.programs}) == 1

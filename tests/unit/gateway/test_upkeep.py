"""What a gateway does by itself: it follows a chain that is rewritten, and forgets what is over."""

from pathlib import Path
from threading import Event

import pytest

from gateway.canaries import CanaryAsk, CanaryDesk, draw_canaries
from gateway.chain import ChainWatch
from gateway.lock import Running, find_running, only_gateway, say_running
from gateway.store.engine import open_database
from gateway.sweep import RESULTS_FOR, SHELF_FOR, sweep
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.model import BlockRef, ChainEvent, ContractCall
from swarm_chain.core.units import Address, BlockNumber, Hash32, JobId, Wei
from swarm_chain.testing import FakeChain
from tests.gateway_world import ALICE, GATEWAY, SPEC, STRANGER, GatewayWorld, honest_contents

SECRET, ROOT = keccak(b"secret"), keccak(b"root")


class _Endpoint:
    """An endpoint whose chain may be another one the next time."""

    def __init__(self, chain: FakeChain) -> None:
        self.chain = chain

    def chain_id(self) -> int:
        """Of the chain behind it; and so on."""
        return self.chain.chain_id()

    def block(self, which: int | str | Hash32) -> BlockRef:
        return self.chain.block(which)

    def events(self, first: int, last: int) -> tuple[ChainEvent, ...]:
        return self.chain.events(first, last)

    def call(self, call: ContractCall, at: BlockRef | None = None) -> object:
        return self.chain.call(call, at)

    def balance(self, address: Address) -> Wei:
        return self.chain.balance(address)


def test_sweep_forgets_an_input_no_spec_names_after_a_day(world: GatewayWorld) -> None:
    path = f"/v1/blobs/{to_hex(keccak(b'rows'))}"
    world.client.put(path, content=b"rows")
    world.follow(seconds=SHELF_FOR)
    sweep(world.desk)
    assert world.client.get(path).status_code == 200

    world.follow(seconds=1)
    sweep(world.desk)

    assert world.client.get(path).status_code == 404
    assert list((world.folder / "blobs").iterdir()) == []


def test_sweep_forgets_a_spec_nobody_posted_and_keeps_a_posted_one(world: GatewayWorld) -> None:
    world.post_job()
    other = world.post("/v1/specs", {"spec": {**SPEC, "resources": {"cpus": 2}}}).json()["specHash"]
    world.follow(seconds=SHELF_FOR + 1)

    sweep(world.desk)

    shown = world.get("/v1/jobs/1")
    assert shown["units"] == 2
    assert other != shown["specHash"]
    assert len(world.desk.database.rows("SELECT 1 FROM specs")) == 1


def test_sweep_forgets_contents_of_a_job_long_over_and_keeps_its_receipt(world: GatewayWorld) -> None:
    world.accepted_job()
    world.put_contents(honest_contents())
    world.add_log("done\n", 0)
    assert world.post_receipt(honest_contents()).status_code == 200
    world.log("JobEscrow", "JobRefunded", jobId=1, customer=STRANGER.address, toProvider=0, amount=1)
    sweep(world.desk)
    assert world.read("contents/0").status_code == 200

    world.follow(seconds=RESULTS_FOR + 10)
    sweep(world.desk)

    assert world.read("contents/0").status_code == 404
    assert not (world.folder / "jobs" / "1").exists()
    assert world.get("/v1/jobs/1")["receipt"]["exitCode"] == 0


def test_watch_starts_over_where_the_chain_was_rewritten(world: GatewayWorld, tmp_path: Path) -> None:
    world.accepted_job()
    other = GatewayWorld(tmp_path / "other")
    other.chain.mine(10, seconds=7)
    endpoint = _Endpoint(world.chain)
    watch = ChainWatch(endpoint, BlockNumber(0))
    assert len(watch.look().state.jobs) == 1

    endpoint.chain = other.chain
    sight = watch.look()

    assert (sight.state.jobs, dict(sight.times)) == ((), {})
    assert sight.state.block == other.chain.block("latest")
    other.close()


def test_watch_that_has_not_looked_says_so() -> None:
    with pytest.raises(UnavailableError):
        ChainWatch(FakeChain(), BlockNumber(0)).sight()


def test_store_of_another_gateway_is_refused(world: GatewayWorld) -> None:
    with pytest.raises(InvalidInputError, match=GATEWAY.address):
        open_database(world.folder / "gateway.sqlite", ALICE.address)


def test_second_gateway_on_a_folder_is_refused_until_the_first_has_ended(tmp_path: Path) -> None:
    with only_gateway(tmp_path):
        say_running(tmp_path, Running(pid=7, url="http://127.0.0.1:1"))
        assert find_running(tmp_path) == Running(pid=7, url="http://127.0.0.1:1")
        with pytest.raises(InvalidInputError, match="another gateway"), only_gateway(tmp_path):
            pass

    assert find_running(tmp_path) is None
    with only_gateway(tmp_path):
        pass


def test_canaries_are_the_same_for_the_same_root_and_others_for_another() -> None:
    drawn = draw_canaries(SECRET, JobId(1), ROOT, 3, 1000)

    assert drawn == draw_canaries(SECRET, JobId(1), ROOT, 3, 1000)
    assert len(set(drawn)) == 3
    assert drawn != draw_canaries(SECRET, JobId(1), keccak(b"another root"), 3, 1000)
    assert drawn != draw_canaries(SECRET, JobId(2), ROOT, 3, 1000)
    assert draw_canaries(SECRET, JobId(1), ROOT, 3, 2) in {(0, 1), (1, 0)}
    assert draw_canaries(SECRET, JobId(1), ROOT, 0, 2) == ()


def test_canary_desk_asks_once_however_often_it_is_asked() -> None:
    asked: list[CanaryAsk] = []
    go = Event()

    def check(ask: CanaryAsk) -> str:
        asked.append(ask)
        go.wait(10)
        return "wrong"

    desk, ask = CanaryDesk(check), CanaryAsk(document=b"", inputs={}, first=ROOT, canaries=())
    for _ in range(2):
        with pytest.raises(UnavailableError) as waiting:
            desk.finding(JobId(1), ROOT, ask, 0)
        assert waiting.value.code == "canaries_running"
    go.set()

    assert desk.finding(JobId(1), ROOT, ask, 10) == "wrong"
    assert len(asked) == 1
    desk.close()

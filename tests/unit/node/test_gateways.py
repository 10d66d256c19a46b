"""Jobs that name a gateway, from its assignment to both signatures; over a chain, members and a gateway in memory."""

from pathlib import Path
from typing import Any

import pytest

from node.gateways.blobs import BlobCache
from node.gateways.errands import PIECES
from node.jobs.folder import JobFolder
from node.model import JobPhase
from node.records import own_jobs
from node.state import open_state
from node.testing import GatewayInMemory
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.jobs import parse_job_spec, spec_hash
from swarm_chain.core.signing import receipt_digest, require_signed_by
from swarm_chain.core.units import JobId
from swarm_chain.testing import FakeSigner
from tests.node_world import NodeWorld
from tests.unit.node.test_jobs import WORK, job_world

JOB = JobId(1)


@pytest.fixture
def world(tmp_path: Path) -> NodeWorld:
    return job_world(tmp_path)


@pytest.fixture
def gateway(world: NodeWorld) -> GatewayInMemory:
    return world.add_gateway()


def test_job_when_its_gateway_assigns_it_then_both_sign_and_members_get_both(
    world: NodeWorld, gateway: GatewayInMemory
) -> None:
    _post(world, gateway)
    gateway.assigned[world.signer.address] = (JOB,)
    _ticks(world, world.agent(), 8)

    (signed,) = gateway.receipts
    assert [keccak(gateway.contents[JOB, index]) for index in range(5)] == list(signed.contents)
    assert gateway.uploads == [(JOB, index) for index in range(5)]  # each once
    assert gateway.logs[JOB] == _log_of(world)
    assert world.chain.program.storage["digest"] == receipt_digest(world.domain, signed.receipt)
    (received,) = world.member.gateway_signatures
    assert received is not None
    require_signed_by(gateway.signer.address, receipt_digest(world.domain, signed.receipt), received)


def test_job_when_assigned_to_another_node_then_it_waits_and_does_not_keep_other_jobs_away(
    world: NodeWorld, gateway: GatewayInMemory
) -> None:
    _post(world, gateway)
    world.post_job(JOB + 1, _document(None, seed=6))
    gateway.assigned[FakeSigner("other").address] = (JOB,)
    agent = world.agent()
    _ticks(world, agent, 4)
    assert _phases(world)[JOB] is JobPhase.WAITING
    assert _phases(world)[JobId(JOB + 1)] is JobPhase.FINISHED


def test_job_when_another_gateway_than_the_named_assigns_it_then_it_is_not_accepted(
    world: NodeWorld, gateway: GatewayInMemory
) -> None:
    other = world.add_gateway("another")
    _post(world, gateway)
    other.assigned[world.signer.address] = (JOB,)
    _ticks(world, world.agent(), 4)
    assert "state" not in world.chain.program.storage


def test_job_when_its_gateway_never_signs_then_it_is_not_completed(world: NodeWorld, gateway: GatewayInMemory) -> None:
    gateway.unwilling = "a canary failed"
    _post(world, gateway)
    gateway.assigned[world.signer.address] = (JOB,)
    _ticks(world, world.agent(), 12)
    assert _phases(world)[JOB] is JobPhase.FINISHED
    assert "digest" not in world.chain.program.storage
    assert world.member.receipts == []


def test_job_when_the_gateway_signs_with_another_key_then_it_is_not_completed(
    world: NodeWorld, gateway: GatewayInMemory
) -> None:
    _post(world, gateway)
    gateway.assigned[world.signer.address] = (JOB,)
    agent = world.agent()
    gateway.unwilling = "not yet"
    _ticks(world, agent, 6)
    named, gateway.signer, gateway.unwilling = gateway.signer, FakeSigner("thief"), ""
    _ticks(world, world.agent(), 12)
    assert "digest" not in world.chain.program.storage
    gateway.signer = named
    _ticks(world, world.agent(), 6)
    assert "digest" in world.chain.program.storage


def test_job_when_the_gateway_is_away_and_comes_back_then_nothing_is_lost(
    world: NodeWorld, gateway: GatewayInMemory
) -> None:
    _post(world, gateway)
    gateway.assigned[world.signer.address] = (JOB,)
    agent = world.agent()
    _ticks(world, agent, 1)
    gateway.away = "gone"
    _ticks(world, agent, 20)
    assert "digest" not in world.chain.program.storage
    assert world.member.heartbeats
    gateway.away = ""
    _ticks(world, agent, 40)
    assert len(gateway.receipts) == 1
    assert "digest" in world.chain.program.storage


def test_job_when_the_gateway_lost_its_contents_then_they_are_handed_in_again(
    world: NodeWorld, gateway: GatewayInMemory
) -> None:
    gateway.unwilling = "not yet"
    _post(world, gateway)
    gateway.assigned[world.signer.address] = (JOB,)
    agent = world.agent()
    _ticks(world, agent, 6)
    gateway.unwilling = ""
    gateway.contents.clear()
    _ticks(world, agent, 40)
    assert len(gateway.contents) == 5
    assert "digest" in world.chain.program.storage


def test_restarts_at_every_step_change_nothing(world: NodeWorld, gateway: GatewayInMemory) -> None:
    _post(world, gateway)
    gateway.assigned[world.signer.address] = (JOB,)
    for _ in range(12):
        _ticks(world, world.agent(), 1)
    ((receipt, _),) = world.member.receipts
    assert world.chain.program.storage["digest"] == receipt_digest(world.domain, receipt)
    assert gateway.uploads == [(JOB, index) for index in range(5)]


def test_failed_job_when_its_gateway_signs_then_it_is_completed_without_contents(
    world: NodeWorld, gateway: GatewayInMemory
) -> None:
    wild = {"seed": 1, "layers": 16, "width": 64, "steps": 60, "segment_steps": 30, "learning_rate_micro": 1_000_000}
    _post(world, gateway, **wild)
    gateway.assigned[world.signer.address] = (JOB,)
    _ticks(world, world.agent(), 10)
    (signed,) = gateway.receipts
    assert (signed.receipt.exit_code, signed.contents) == (1, ())
    assert "digest" in world.chain.program.storage


def test_node_when_it_works_then_its_gateways_know_and_it_says_so_again_in_time(
    world: NodeWorld, gateway: GatewayInMemory
) -> None:
    agent = world.agent()
    _ticks(world, agent, 3)
    assert [said.node for said in gateway.announced] == [world.signer.address]
    world.clock.advance(400)
    while world.chain.block("latest").timestamp < gateway.announced[0].expires_at - 200:
        world.chain.mine(10)
    _ticks(world, agent, 3)
    assert len(gateway.announced) == 2
    assert gateway.announced[1].issued_at < gateway.announced[0].expires_at


def test_node_when_it_drains_then_it_asks_for_nothing_more(world: NodeWorld, gateway: GatewayInMemory) -> None:
    agent = world.agent()
    agent.drain()
    _ticks(world, agent, 3)
    assert gateway.announced == []


def test_job_when_its_inputs_are_nowhere_then_it_is_declined(world: NodeWorld, gateway: GatewayInMemory) -> None:
    document = _document(gateway)
    document["inputs"] = ["0x" + "ab" * 32]
    world.post_job(JOB, document)
    gateway.assigned[world.signer.address] = (JOB,)
    _ticks(world, world.agent(), 4)
    assert _phases(world)[JOB] is JobPhase.DECLINED


def test_job_when_its_inputs_are_at_the_gateway_then_they_are_fetched_before_it_is_looked_at(
    world: NodeWorld, gateway: GatewayInMemory
) -> None:
    document, blob = _document(gateway), b"a data set"
    gateway.blobs[keccak(blob)] = blob
    document["inputs"] = ["0x" + keccak(blob).hex()]
    world.post_job(JOB, document)
    gateway.assigned[world.signer.address] = (JOB,)
    _ticks(world, world.agent(), 4)
    assert (world.folder / "inputs" / keccak(blob).hex()).read_bytes() == blob
    assert _phases(world)[JOB] is JobPhase.DECLINED  # this program takes no inputs


def test_member_that_lacks_the_spec_gets_it_before_the_receipt(world: NodeWorld, gateway: GatewayInMemory) -> None:
    _post(world, gateway)
    gateway.assigned[world.signer.address] = (JOB,)
    agent = world.agent()
    _ticks(world, agent, 1)
    world.member.specs.clear()
    _ticks(world, agent, 8)
    assert world.member.receipts
    assert spec_hash(_document(gateway)) in world.member.specs


def test_cache_when_it_is_full_then_what_was_used_least_recently_goes_first(tmp_path: Path) -> None:
    cache = BlobCache(folder=tmp_path, most=100)
    blobs = [bytes([number]) * 40 for number in range(4)]
    first, second, third, fourth = (keccak(blob) for blob in blobs)
    cache.keep(first, blobs[0], ())
    cache.keep(second, blobs[1], ())
    assert set(cache.read([first])) == {first}
    cache.keep(third, blobs[2], ())
    assert [cache.has(content) for content in (first, second, third)] == [True, False, True]
    with pytest.raises(InvalidInputError) as caught:
        cache.keep(fourth, blobs[3], (first, third))
    assert caught.value.code == "inputs_too_large"


def test_cache_when_a_file_is_spoiled_then_it_is_not_there(tmp_path: Path) -> None:
    cache = BlobCache(folder=tmp_path, most=100)
    cache.keep(keccak(b"x"), b"x", ())
    (tmp_path / keccak(b"x").hex()).write_bytes(b"y")
    assert cache.read([keccak(b"x")]) == {}
    assert not cache.has(keccak(b"x"))


def test_log_when_longer_than_one_message_then_it_arrives_whole(world: NodeWorld, gateway: GatewayInMemory) -> None:
    JobFolder(path=world.folder / "jobs" / str(JOB)).say("ü" * 60_000 * PIECES)
    _post(world, gateway)
    gateway.assigned[world.signer.address] = (JOB,)
    _ticks(world, world.agent(), 10)
    assert gateway.logs[JOB] == _log_of(world)
    assert "digest" in world.chain.program.storage


def _document(gateway: GatewayInMemory | None, **changes: Any) -> dict[str, Any]:
    named = {} if gateway is None else {"gateway": gateway.signer.address}
    return parse_job_spec({"kind": "train", "program": "swarm-train/1", "work": WORK | changes, **named}).document()


def _post(world: NodeWorld, gateway: GatewayInMemory, **changes: Any) -> None:
    world.post_job(JOB, _document(gateway, **changes))


def _log_of(world: NodeWorld) -> str:
    return (world.folder / "jobs" / str(JOB) / "log").read_text(encoding="utf-8")


def _phases(world: NodeWorld) -> dict[JobId, JobPhase]:
    state = open_state(world.folder / "state.sqlite", world.signer.address)
    return {job.job_id: job.phase for job in own_jobs(state)}


def _ticks(world: NodeWorld, agent: Any, count: int) -> None:
    for _ in range(count):
        agent.tick()
        world.clock.advance(1)
        world.chain.mine()

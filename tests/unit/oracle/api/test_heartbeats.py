"""Signs of life over HTTP: attacks 14 and 22 on heartbeats, and who may send one."""

import pytest

from oracle.pipeline.ticks import roll_call
from oracle.store import liveness
from swarm_chain.core.units import Signature
from tests.member_world import ALICE, BOB, STRANGER, MemberWorld

LONGEST = 60  # message_for of the minimal preset


def post(world: MemberWorld, body: dict[str, object]) -> tuple[int, dict[str, object]]:
    """Status and document of the answer."""
    answer = world.client.post("/v1/heartbeats", json=body)
    return answer.status_code, answer.json()


def test_heartbeat_when_fresh_then_the_node_is_present_at_the_roll_call(world: MemberWorld) -> None:
    post(world, world.beat(world.heartbeat(BOB), key=BOB))
    world.clock.advance(world.network.params.liveness.grace_for + 1)
    assert post(world, world.beat(world.heartbeat())) == (202, {"duplicate": False})
    roll_call(world.member)
    counts = {node: (present, total) for node, present, total in liveness.roll_call_counts(world.engine, world.epoch)}
    assert counts == {ALICE.address: (1, 1), BOB.address: (0, 1)}


def test_attack_14_when_replayed_then_it_keeps_nobody_alive(world: MemberWorld) -> None:
    body = world.beat(world.heartbeat(sequence=7))
    post(world, body)
    first = liveness.last_heartbeats(world.engine, world.member.desk.boot)
    world.clock.advance(20)
    assert post(world, body) == (202, {"duplicate": True})
    assert post(world, world.beat(world.heartbeat(sequence=6))) == (202, {"duplicate": True})
    assert liveness.last_heartbeats(world.engine, world.member.desk.boot) == first


def test_attack_22_when_expired_then_refused(world: MemberWorld) -> None:
    body = world.beat(world.heartbeat(lives_for=30))
    world.chain.mine(seconds=30)
    world.follow()
    status, document = post(world, body)
    assert (status, document["error"]) == (422, "expired")


@pytest.mark.parametrize(
    ("lead", "lives_for", "error"),
    [
        (LONGEST + 1, 30, "expired"),
        (-LONGEST - 1, LONGEST, "expired"),
        (0, LONGEST + 1, "bad_expiry"),
        (0, 0, "bad_expiry"),
        (0, -5, "bad_expiry"),
    ],
)
def test_attack_22_when_from_the_future_or_made_for_ever_then_refused(
    world: MemberWorld, lead: int, lives_for: int, error: str
) -> None:
    status, document = post(world, world.beat(world.heartbeat(lead=lead, lives_for=lives_for)))
    assert (status, document["error"]) == (422, error)
    assert liveness.last_heartbeats(world.engine, world.member.desk.boot) == {}


def test_heartbeat_when_the_node_is_nobodys_then_refused(world: MemberWorld) -> None:
    body = world.beat(world.heartbeat(STRANGER), key=STRANGER)
    assert post(world, body)[1]["error"] == "unknown_node"


def test_heartbeat_when_another_key_signed_then_refused(world: MemberWorld) -> None:
    assert post(world, world.beat(world.heartbeat(), key=BOB))[1]["error"] == "wrong_signer"
    assert post(world, world.beat(world.heartbeat(), signature=Signature(bytes(64) + b"\x1b")))[0] == 422


def test_heartbeat_when_the_provider_is_suspended_then_refused_until_it_is_over(world: MemberWorld) -> None:
    world.log("ProviderRegistry", "ProviderSuspended", providerId=1, suspendedUntil=world.now + 40)
    status, document = post(world, world.beat(world.heartbeat()))
    assert (status, document["error"]) == (422, "provider_suspended")
    world.chain.mine(seconds=40)
    world.follow()
    assert post(world, world.beat(world.heartbeat()))[0] == 202


def test_heartbeat_when_the_node_was_removed_then_refused(world: MemberWorld) -> None:
    world.log("ProviderRegistry", "NodeRemoved", providerId=1, node=ALICE.address)
    assert post(world, world.beat(world.heartbeat()))[1]["error"] == "unknown_node"

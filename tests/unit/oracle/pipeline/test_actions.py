"""Actions at the edge: a window is closed over what was sealed, a refused keeper action makes room for others."""

from dataclasses import replace

import pytest

from node.wire import commitment_body
from oracle.consensus.views import CloseWindow, ExecuteCase
from oracle.judge.windows import commitments_root
from oracle.pipeline.actions import perform
from oracle.pipeline.own import own_view
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.errors import RejectedError, UnavailableError
from swarm_chain.core.units import Wei
from swarm_chain.testing import reject
from swarm_chain.testing.program import Log, Storage
from tests.member_world import ALICE, BOB, MemberWorld

CASE = keccak(b"case")


@pytest.fixture
def closing(world: MemberWorld) -> MemberWorld:
    """A world whose beacon closes windows."""

    def close(storage: Storage, _sender: str, window: int, root: bytes, count: int) -> list[Log]:
        storage["closed"] = (window, root, count)
        closed = {"windowId": window, "commitmentsRoot": root, "commitmentCount": count}
        return [("ChallengeBeacon", "WindowClosed", closed)]

    world.chain.program.action("ChallengeBeacon", "close", close)
    return world


def test_close_when_it_fails_and_a_commitment_comes_meanwhile_then_the_root_stays_what_it_was(
    closing: MemberWorld,
) -> None:
    window = closing.open()
    first = closing.commitment(window)
    closing.client.post("/v1/commitments", json=commitment_body(closing.commit(first)))
    closing.chain.pool.fund(closing.signer.address, Wei(0))
    sight = closing.member.follower.sight
    with pytest.raises(RejectedError):
        perform(closing.member, sight, CloseWindow(window_id=window))

    late = closing.commit(closing.commitment(window, node=BOB), key=BOB)
    answer = closing.client.post("/v1/commitments", json=commitment_body(late))
    assert (answer.status_code, answer.json()["error"]) == (422, "wrong_window_state")

    closing.chain.pool.fund(closing.signer.address, Wei(10**18))
    perform(closing.member, sight, CloseWindow(window_id=window))
    assert closing.chain.program.storage["closed"] == (window, commitments_root([first]), 1)
    closing.follow()
    assert closing.member.follower.sight.state.windows[0].commitments_root == commitments_root([first])


def test_keeper_action_when_the_chain_refuses_then_it_is_asked_for_again_an_epoch_later(world: MemberWorld) -> None:
    def execute(_storage: Storage, _sender: str, case: bytes) -> list[Log]:
        raise reject("NotExecutable", caseId=case, executableAt=10, expiresAt=20)

    world.chain.program.action("SlashingCourt", "execute", execute)
    action = ExecuteCase(case_id=CASE)
    sight = world.member.follower.sight
    with pytest.raises(RejectedError, match="NotExecutable"):
        perform(world.member, sight, action)
    assert own_view(world.member, sight).refused == {action}
    world.chain.mine(seconds=world.network.params.epoch.epoch_for)
    world.follow()
    assert own_view(world.member, world.member.follower.sight).refused == frozenset()


def test_action_when_there_is_no_key_then_it_is_named_and_nothing_is_sent(world: MemberWorld) -> None:
    """Invariant 46."""
    dry = replace(world.member, sender=None, signer=None)
    with pytest.raises(UnavailableError, match=r"SlashingCourt\.execute") as raised:
        perform(dry, dry.follower.sight, ExecuteCase(case_id=CASE))
    assert raised.value.code == "dry_run"


def test_evidence_when_a_root_was_changed_then_the_node_is_named_in_the_answer(world: MemberWorld) -> None:
    window = world.open()
    first = world.commitment(window)
    for heads in (None, bytes(64 * first.m)):
        made = first if heads is None else world.commitment(window, heads=heads)
        answer = world.client.post("/v1/commitments", json=commitment_body(world.commit(made, key=ALICE)))
    assert answer.status_code == 409
    assert answer.json()["values"] == {"root": to_hex(first.root)}

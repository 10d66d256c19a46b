"""The agent's loop over a chain in memory: windows, restarts, liars, absences."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from node.ports import EpochProof
from node.records import own_commitments
from node.state import deliveries, open_state
from swarm_chain.core.compute import commitment_tree
from swarm_chain.core.encoding import SETTLEMENT_TAG, keccak, leaf_domain, settlement_leaf
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import WindowState
from swarm_chain.core.merkle import build_tree, path, root, verify
from swarm_chain.core.model import SettlementLeaf, WindowRecord
from swarm_chain.core.units import EpochNumber, Hash32, ProviderId, Wei, WindowId
from tests.node_world import OTHER_URL, PROVIDER, SHAPE, NodeWorld, expected_rows

WINDOW = WindowId(1 << 16)
SEED, FALSE_SEED, NEW_SEED = keccak(b"seed"), keccak(b"false seed"), keccak(b"seed of another branch")


@pytest.fixture
def world(tmp_path: Path) -> NodeWorld:
    return NodeWorld(tmp_path)


def test_agent_walks_a_window_from_opening_to_proof(world: NodeWorld) -> None:
    agent = world.agent()
    world.open(WINDOW, SEED)
    agent.tick()
    agent.tick()

    (signed,) = world.member.commitments
    assert signed.commitment.root == root(commitment_tree(world.devices.heads(world.challenge(WINDOW, SEED))))
    assert (signed.commitment.m, signed.commitment.n, signed.commitment.steps) == (SHAPE.m, SHAPE.n, SHAPE.steps)
    assert world.members[OTHER_URL].commitments == [signed]

    world.close(WINDOW)
    drawn = world.draw(WINDOW, SEED)
    agent.tick()

    (proof,) = world.member.proofs
    assert [opening.row for opening in proof.proof.openings] == list(expected_rows(world, WINDOW, SEED, drawn))
    assert world.members[OTHER_URL].proofs == [proof]
    agent.tick()
    assert len(world.member.proofs) == 1


def test_agent_stores_before_it_sends(world: NodeWorld) -> None:
    for member in world.members.values():
        member.deaf = True
    agent = world.agent()
    world.open(WINDOW, SEED)
    agent.tick()
    agent.tick()

    state = open_state(world.folder / "state.sqlite", world.signer.address)
    (own,) = own_commitments(state, world.signer.address)
    assert own.signed.commitment.window_seed == SEED
    assert deliveries(state, "commitment") == {}


def test_restarted_agent_sends_the_stored_commitment_and_computes_nothing_again(world: NodeWorld) -> None:
    for member in world.members.values():
        member.deaf = True
    world.open(WINDOW, SEED)
    before = world.agent()
    before.tick()
    before.tick()
    runs = len(world.devices.started)

    for member in world.members.values():
        member.deaf = False
    world.clock.advance(60)
    after = world.agent()
    after.tick()
    assert len(world.member.commitments) == 1
    assert len(world.devices.started) == runs == 1

    world.close(WINDOW)
    world.draw(WINDOW, SEED)
    world.agent().tick()
    assert len(world.member.proofs) == 1


def test_agent_never_signs_a_second_root_for_one_window(world: NodeWorld) -> None:
    world.open(WINDOW, SEED)
    world.agent().tick()
    first = world.member.commitments[0].commitment.root

    state = open_state(world.folder / "state.sqlite", world.signer.address)
    state.execute("UPDATE commitments SET heads = NULL")  # the agent forgets that it has committed
    world.devices.forget_work = True
    agent = world.agent()
    for _ in range(5):
        agent.tick()
        world.clock.advance(20)
    roots = {signed.commitment.root for signed in world.member.commitments}
    assert roots == {first}


def test_agent_commits_anew_where_a_reorganisation_opens_the_window_with_another_seed(world: NodeWorld) -> None:
    agent = world.agent()
    world.open(WINDOW, SEED)
    agent.tick()
    world.open(WINDOW, NEW_SEED)
    for _ in range(2):
        agent.tick()

    first, second = (signed.commitment for signed in world.member.commitments)
    assert (first.window_seed, second.window_seed) == (SEED, NEW_SEED)
    assert second.root == root(commitment_tree(world.devices.heads(world.challenge(WINDOW, NEW_SEED))))

    world.close(WINDOW)
    drawn = world.draw(WINDOW, NEW_SEED)
    agent.tick()
    (proof,) = world.member.proofs
    assert proof.proof.root == second.root, "what was signed for the other branch is not opened"
    assert [opening.row for opening in proof.proof.openings] == list(expected_rows(world, WINDOW, NEW_SEED, drawn))


def test_agent_keeps_a_commitment_of_a_branch_the_chain_left_to_itself(world: NodeWorld) -> None:
    for member in world.members.values():
        member.deaf = True
    agent = world.agent()
    world.open(WINDOW, SEED)
    agent.tick()
    world.open(WINDOW, NEW_SEED)
    for member in world.members.values():
        member.deaf = False
    world.clock.advance(60)
    for _ in range(3):
        agent.tick()

    assert [signed.commitment.window_seed for signed in world.member.commitments] == [NEW_SEED]


def test_agent_ignores_a_seed_that_only_a_member_tells(world: NodeWorld) -> None:
    told = WindowRecord(window_id=WINDOW, state=WindowState.OPEN, window_seed=FALSE_SEED)
    world.member.told = (told,)
    agent = world.agent()
    agent.tick()
    agent.tick()
    assert world.devices.started[0].window.window_seed == FALSE_SEED
    assert world.member.commitments == []

    world.member.told = ()
    world.open(WINDOW, SEED)
    agent.tick()
    agent.tick()
    (signed,) = world.member.commitments
    assert signed.commitment.root == root(commitment_tree(world.devices.heads(world.challenge(WINDOW, SEED))))


def test_agent_uses_the_head_start_of_a_member_that_sees_the_block_first(world: NodeWorld) -> None:
    world.member.told = (WindowRecord(window_id=WINDOW, state=WindowState.OPEN, window_seed=SEED),)
    agent = world.agent()
    agent.tick()
    world.open(WINDOW, SEED)
    agent.tick()
    assert len(world.devices.started) == 1
    assert len(world.member.commitments) == 1


def test_agent_drops_a_run_that_ends_after_the_window(world: NodeWorld) -> None:
    world.devices.busy = True
    agent = world.agent()
    world.open(WINDOW, SEED)
    agent.tick()
    world.close(WINDOW)
    world.devices.busy = False
    agent.tick()
    assert world.member.commitments == []

    later = WindowId(WINDOW + 1)
    world.open(later, SEED)
    agent.tick()
    agent.tick()
    assert [signed.commitment.window_id for signed in world.member.commitments] == [later]


def test_agent_does_not_open_rows_for_a_draw_that_does_not_follow_from_the_block(world: NodeWorld) -> None:
    agent = world.agent()
    world.open(WINDOW, SEED)
    agent.tick()
    world.close(WINDOW)
    world.chain.append("ChallengeBeacon", "WindowDrawn", windowId=WINDOW, drawSeed=keccak(b"chosen"))
    world.chain.mine()
    agent.tick()
    assert world.member.proofs == []


def test_one_member_away_does_not_keep_the_other_waiting(world: NodeWorld) -> None:
    world.member.away = True
    agent = world.agent()
    world.open(WINDOW, SEED)
    agent.tick()
    assert len(world.members[OTHER_URL].commitments) == 1

    world.member.away = False
    world.clock.advance(30)
    agent.tick()
    assert len(world.member.commitments) == 1


def test_members_away_at_the_opening_are_asked_again(world: NodeWorld) -> None:
    for member in world.members.values():
        member.away = True
    agent = world.agent()
    world.open(WINDOW, SEED)
    agent.tick()
    for member in world.members.values():
        member.away = False
    world.clock.advance(30)
    agent.tick()
    assert len(world.member.commitments) == 1


def test_chain_away_is_survived(world: NodeWorld) -> None:
    agent = world.agent()
    world.chain.available = False
    agent.tick()
    world.chain.available = True
    world.clock.advance(30)
    world.open(WINDOW, SEED)
    agent.tick()
    assert len(world.member.commitments) == 1


def test_heartbeats_grow_across_restarts(world: NodeWorld) -> None:
    for _ in range(3):
        agent = world.agent()
        agent.tick()
        agent.tick()
        world.clock.advance(2)
    sequences = [heartbeat.sequence for heartbeat in world.member.heartbeats]
    assert sequences == [1, 2, 3]
    now = world.chain.block("latest").timestamp
    assert world.member.heartbeats[-1].issued_at == now


def test_node_of_no_provider_sends_nothing_until_it_is_added(world: NodeWorld) -> None:
    world.chain.program.storage["provider"] = 0
    agent = world.agent()
    world.open(WINDOW, SEED)
    agent.tick()
    assert world.member.heartbeats == []
    assert world.devices.started == []

    world.chain.program.storage["provider"] = PROVIDER
    world.chain.mine()
    agent.tick()
    assert len(world.member.heartbeats) == 1


def test_drained_agent_finishes_its_run_and_takes_no_window(world: NodeWorld) -> None:
    world.devices.busy = True
    agent = world.agent()
    world.open(WINDOW, SEED)
    agent.tick()
    agent.drain()
    world.devices.busy = False
    world.open(WindowId(WINDOW + 1), SEED)
    agent.run()
    assert [signed.commitment.window_id for signed in world.member.commitments] == [WINDOW]


def test_drained_agent_gives_up_on_a_run_that_does_not_end(world: NodeWorld) -> None:
    world.devices.busy = True
    agent = world.agent()
    world.open(WINDOW, SEED)
    agent.tick()
    started = world.clock.monotonic_ms()
    agent.drain()
    agent.run()
    assert world.clock.monotonic_ms() - started >= 20_000
    assert world.member.commitments == []


def test_failed_device_is_logged_and_tried_again_in_the_same_window(world: NodeWorld) -> None:
    world.devices.fault = "torn wire"
    agent = world.agent()
    world.open(WINDOW, SEED)
    agent.tick()
    assert world.member.commitments == []

    world.devices.fault = ""
    agent.tick()
    agent.tick()
    assert len(world.member.commitments) == 1


def test_own_leaf_is_kept_once_it_verifies(world: NodeWorld) -> None:
    leaf = SettlementLeaf(provider_id=PROVIDER, cum_reward_wei=Wei(5 * 10**18), cum_penalty_wei=Wei(7))
    tree = _accept_root(world, leaf)
    world.member.proofs_of_epochs[EpochNumber(3)] = EpochProof(leaf=leaf, path=path(tree, 0))
    world.agent().tick()

    kept = json.loads((world.folder / "proofs" / "3.json").read_text())
    assert kept["cumRewardWei"] == str(5 * 10**18)
    siblings = [bytes.fromhex(sibling[2:]) for sibling in kept["path"]]
    assert verify(root(tree), _hashed(world, leaf), siblings)


def test_leaf_that_is_not_in_the_root_is_not_kept(world: NodeWorld) -> None:
    leaf = SettlementLeaf(provider_id=PROVIDER, cum_reward_wei=Wei(5), cum_penalty_wei=Wei(0))
    tree = _accept_root(world, leaf)
    more = replace(leaf, cum_reward_wei=Wei(6))
    for member in world.members.values():
        member.proofs_of_epochs[EpochNumber(3)] = EpochProof(leaf=more, path=path(tree, 0))
    world.agent().tick()
    assert not (world.folder / "proofs" / "3.json").exists()


def test_state_of_another_node_is_refused(world: NodeWorld) -> None:
    world.agent()
    with pytest.raises(InvalidInputError, match="belongs to node"):
        open_state(world.folder / "state.sqlite", world.chain.deployment.contracts["StakeVault"])


def _accept_root(world: NodeWorld, leaf: SettlementLeaf) -> bytes:
    stone = SettlementLeaf(provider_id=ProviderId(2), cum_reward_wei=Wei(0), cum_penalty_wei=Wei(0))
    tree = build_tree([_hashed(world, leaf), _hashed(world, stone)])
    event = {"rootIndex": 1, "epoch": 3, "root": root(tree), "outcomesRoot": bytes(32), "manifestHash": bytes(32)}
    totals = {"leafCount": 2, "totalReward": 5, "totalPenalty": 0, "activatesAt": 0}
    world.chain.append("RewardSettlement", "ReportAccepted", **event, **totals)
    world.chain.mine()
    return tree


def _hashed(world: NodeWorld, leaf: SettlementLeaf) -> Hash32:
    settlement = world.chain.deployment.contracts["RewardSettlement"]
    return settlement_leaf(leaf_domain(SETTLEMENT_TAG, world.chain.deployment.chain_id, settlement), leaf)

"""A node's states: what decides, what wins, and that each has a next command."""

from dataclasses import replace

import pytest

from node.standing import REMOVED_NEXT, AgentSide, ChainNodeView, NodeState, next_command, state_of
from swarm_chain.core.units import UINT64_MAX, ProviderId, Timestamp, Wei

NOBODY = ChainNodeView(
    provider_id=ProviderId(0), suspended_until=Timestamp(0), retired=False, balance_wei=Wei(0), now=Timestamp(100)
)
LIVE = replace(NOBODY, provider_id=ProviderId(1))
AWAY = replace(LIVE, maintenance_starts_at=Timestamp(100), maintenance_ends_at=Timestamp(101))
RUNNING, DRAINING = AgentSide(is_running=True), AgentSide(is_running=True, is_draining=True)


@pytest.mark.parametrize(
    ("chain", "here", "state"),
    [
        (NOBODY, AgentSide(), NodeState.NEW),
        (NOBODY, AgentSide(is_checked=True), NodeState.CHECKED),
        (LIVE, AgentSide(), NodeState.REGISTERED),
        (LIVE, RUNNING, NodeState.ACTIVE),
        (AWAY, RUNNING, NodeState.MAINTENANCE),
        (AWAY, AgentSide(), NodeState.MAINTENANCE),
        (replace(AWAY, now=Timestamp(99)), RUNNING, NodeState.ACTIVE),
        (replace(AWAY, now=Timestamp(101)), RUNNING, NodeState.ACTIVE),
        (AWAY, DRAINING, NodeState.DRAINING),
        (LIVE, replace(DRAINING, is_running=False), NodeState.REGISTERED),
        (replace(AWAY, removed_at=Timestamp(50)), DRAINING, NodeState.RETIRED),
        (replace(AWAY, retired=True), RUNNING, NodeState.RETIRED),
        (replace(AWAY, retired=True, suspended_until=Timestamp(101)), RUNNING, NodeState.SUSPENDED),
        (replace(LIVE, suspended_until=Timestamp(100)), RUNNING, NodeState.ACTIVE),
        (replace(LIVE, suspended_until=Timestamp(UINT64_MAX)), RUNNING, NodeState.EXCLUDED),
    ],
)
def test_state_when_chain_and_machine_say_so_then_it_is(
    chain: ChainNodeView, here: AgentSide, state: NodeState
) -> None:
    assert state_of(chain, here) is state


def test_next_command_when_in_any_state_then_there_is_one() -> None:
    assert all(next_command(state, LIVE).startswith("swarm ") for state in NodeState)


def test_next_command_when_only_the_node_was_removed_then_another_key_and_no_unbonding() -> None:
    removed = replace(LIVE, removed_at=Timestamp(50))

    assert next_command(NodeState.RETIRED, removed) == REMOVED_NEXT
    assert "unbond" in next_command(NodeState.RETIRED, replace(removed, retired=True))

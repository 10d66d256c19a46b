"""Roots and retirement as folded from events equal the contracts' getters."""

import pytest

from swarm_chain.adapters.contracts import encode_call
from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.core.encoding import keccak
from swarm_chain.core.model import ChainState, ContractCall
from swarm_chain.core.state import fold
from swarm_chain.testing import FakeSigner
from tests.chain_fixtures import ChainTools


@pytest.fixture
def state_with_roots(tools: ChainTools, owner: KeySigner) -> ChainState:
    """Two accepted reports, the second one disabled by the guardian."""
    tools.register(FakeSigner("alice"))
    for epoch in (0, 1):
        report = {
            "epoch": epoch,
            "refBlock": tools.reader.block("latest").number,
            "refBlockHash": tools.reader.block("latest").hash,
            "paramsVersion": 1,
            "root": keccak(b"root"),
            "leafCount": 1,
            "totalReward": 1000 + epoch,
            "totalPenalty": epoch,
            "outcomesRoot": keccak(b"outcomes"),
            "manifestHash": keccak(b"manifest"),
        }
        call = ContractCall(contract="RewardSettlement", function="acceptReport", args=(report,))
        assert tools.impersonate(tools.address("EpochOracle"), tools.address("RewardSettlement"), encode_call(call))
    tools.send(owner, "RewardSettlement", "disableRoot", 1)
    return _folded(tools)


def test_roots_equal_the_getter(tools: ChainTools, state_with_roots: ChainState) -> None:
    assert [root.disabled for root in state_with_roots.roots] == [False, True]
    for root in state_with_roots.roots:
        found = tools.call("RewardSettlement", "rootAt", root.index)
        assert isinstance(found, dict)
        assert (root.root, root.outcomes_root) == (found["root"], found["outcomesRoot"])
        assert (root.epoch, root.leaf_count) == (found["epoch"], found["leafCount"])
        assert (root.activates_at, root.disabled) == (found["activatesAt"], found["disabled"])


def test_totals_of_the_last_root_that_counts_equal_the_getter(tools: ChainTools, state_with_roots: ChainState) -> None:
    last = [root for root in state_with_roots.roots if not root.disabled][-1]

    totals = tools.call("RewardSettlement", "totals")

    assert isinstance(totals, dict)
    assert (last.total_reward_wei, last.total_penalty_wei) == (totals["reward"], totals["penalty"])


def test_retired_provider_has_no_live_nodes_but_they_are_remembered(tools: ChainTools) -> None:
    alice, node = FakeSigner("alice"), FakeSigner("node")
    provider_id = tools.register(alice, node)

    tools.send(alice, "ProviderRegistry", "retire", provider_id)

    (provider,) = _folded(tools).providers
    assert provider.retired
    assert (provider.nodes, provider.past_nodes) == ((), (node.address,))
    assert tools.call("ProviderRegistry", "nodeCount", provider_id) == 0
    assert tools.call("ProviderRegistry", "providerIdOfNode", node.address) == 0


def _folded(tools: ChainTools) -> ChainState:
    head = tools.reader.block("latest")
    return fold(tools.reader.events(0, head.number), head)

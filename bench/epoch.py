"""Settling an epoch of a million providers as a member does it: rewards, leaves, tree, shards and the next state.

The facts are given: judging is measured by bench/judge.py. Every provider has one node that passed the one window.
"""

import argparse
import resource
import sys
from collections.abc import Callable
from time import perf_counter, process_time
from typing import TypeVar

from _report import Result, print_report

from oracle.model import EpochFacts, EpochState, Network, PreviousEpoch, Settlement
from oracle.pipeline.collector import collector_paused
from oracle.publish.classes import proven_of, spreads
from oracle.publish.shards import shard_bytes
from oracle.publish.state import state_bytes
from oracle.publish.trees import settlement_domain, settlement_tree
from oracle.settle import settle_epoch
from swarm_chain.core.encoding import checksum_address, keccak
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.model import BlockRef, ChainState, ProviderRecord, SettlementLeaf, Verdict
from swarm_chain.core.units import (
    WEI_PER_SWM,
    ZERO_HASH,
    Address,
    BlockNumber,
    EpochNumber,
    Mtops,
    ProviderId,
    Timestamp,
    Wei,
    window_id,
)
from swarm_chain.params import load_params

GOAL_S, GOAL_MIB = 30.0, 2048.0
EPOCH = EpochNumber(8)
OWNER = Address("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
NETWORK = Network(
    chain_id=31337,
    genesis_at=Timestamp(1_700_000_000),
    beacon=OWNER,
    settlement=OWNER,
    court=OWNER,
    escrow=OWNER,
    params=load_params("mainnet"),
)
WINDOW = window_id(EPOCH, 0)
Made = TypeVar("Made")


def provider_of(number: int) -> ProviderRecord:
    """A provider with one node."""
    stake = Wei((5000 + number % 1000) * WEI_PER_SWM)
    return ProviderRecord(
        provider_id=ProviderId(number),
        owner=OWNER,
        operator=OWNER,
        payout=OWNER,
        hardware_class=1,
        region=b"eu-west\0",
        registered_at=NETWORK.genesis_at,
        suspended_until=Timestamp(0),
        retired=False,
        nodes=(checksum_address(keccak(number.to_bytes(4, "big"))[12:]),),
        stake_wei=stake,
        active_stake_wei=stake,
    )


def verdict_of(provider: ProviderRecord) -> Verdict:
    """Its node passed."""
    mtops = Mtops(1000 + provider.provider_id % 5000)
    return Verdict(
        window_id=WINDOW, node=provider.nodes[0], device=0, outcome=Outcome.PASSED, elapsed_ms=1000, mtops=mtops
    )


def scene(count: int) -> tuple[ChainState, EpochFacts, PreviousEpoch]:
    """Chain, facts and previous report of so many providers."""
    providers = tuple(provider_of(number) for number in range(1, count + 1))
    block = BlockRef(number=BlockNumber(1000), hash=ZERO_HASH, timestamp=NETWORK.epoch_end(EPOCH))
    facts = EpochFacts(epoch=EPOCH, windows=(WINDOW,), verdicts=tuple(map(verdict_of, providers)))
    leaves = tuple(
        SettlementLeaf(provider_id=one.provider_id, cum_reward_wei=Wei(10**21), cum_penalty_wei=Wei(10**18))
        for one in providers
    )
    state = EpochState(epoch=EpochNumber(EPOCH - 1), carry_wei=Wei(0))
    return (
        ChainState(block=block, providers=providers),
        facts,
        PreviousEpoch(manifest_hash=ZERO_HASH, leaves=leaves, state=state),
    )


def timed(work: Callable[[], Made]) -> tuple[Made, float, float]:
    """What a work gives, its seconds and its CPU seconds."""
    started, cpu = perf_counter(), process_time()
    made = work()
    return made, perf_counter() - started, process_time() - cpu


def publish(settlement: Settlement) -> tuple[bytes, tuple[bytes, ...]]:
    """Tree and shards of a settlement."""
    leaves = settlement.result.leaves
    return settlement_tree(leaves, settlement_domain(NETWORK)), shard_bytes(leaves)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--providers", type=int, default=1_000_000)
    options = parser.parse_args()
    state, facts, previous = scene(options.providers)
    given_mib = _peak_mib()
    with collector_paused():  # as the member's archive does
        settlement, settle_s, settle_cpu = timed(lambda: settle_epoch(state, facts, previous, NETWORK))
        documents, publish_s, publish_cpu = timed(lambda: publish(settlement))
        peak_mib = _peak_mib()
        _, state_s, _ = timed(lambda: state_bytes(settlement.next_state))
        document_mib = _peak_mib()
        found, spreads_s, _ = timed(lambda: spreads(state.providers, facts))
        own, own_s, _ = timed(lambda: proven_of(state.providers[-1].nodes[0], facts))
    assert settlement.total_reward_wei > sum(leaf.cum_reward_wei for leaf in previous.leaves), "nothing was paid"
    assert sum(map(len, documents[1])) == 32 * options.providers, "shards do not hold every leaf"
    assert sum(one.nodes for one in found) == options.providers, "a node is in no class"
    assert own, "the last node proved nothing"
    name = f"{options.providers} providers"
    results = [
        Result(name=f"{name}, whole", value=settle_s + publish_s, unit="s", goal=GOAL_S),
        Result(name=f"{name}, whole, CPU", value=settle_cpu + publish_cpu, unit="s"),
        Result(name=f"{name}, rewards, violations and leaves", value=settle_s, unit="s"),
        Result(name=f"{name}, tree and shards", value=publish_s, unit="s"),
        Result(name=f"{name}, state of the next epoch besides", value=state_s, unit="s"),
        Result(name="peak memory", value=peak_mib, unit="MiB", baseline=given_mib, goal=GOAL_MIB),
        Result(name="peak memory, with the state's document", value=document_mib, unit="MiB", baseline=given_mib),
        Result(name=f"{name}, deciles by class, once an epoch", value=spreads_s, unit="s"),
        Result(
            name=f"{name}, what one node proved, against deciles",
            value=own_s,
            unit="s",
            baseline=spreads_s,
            ratio=own_s / spreads_s,
        ),
    ]
    print_report("epoch", results)


def _peak_mib() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


if __name__ == "__main__":
    main()

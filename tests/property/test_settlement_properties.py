"""Settlement over arbitrary epochs: nothing is created, nothing depends on order, sums only grow (invariants 18, 23, 39, 40)."""

import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TypeVar

from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.economy import Service
from oracle.model import EpochFacts, MemberEquivocation, PreviousEpoch, Settlement
from oracle.publish.shards import parse_shards, shard_bytes
from oracle.publish.state import parse_state, state_bytes
from oracle.rewards.emission import cumulative_emission
from oracle.rewards.weights import shares
from oracle.settle import settle_epoch
from swarm_chain.core.kinds import Category, Outcome
from swarm_chain.core.model import ChainState, ProviderRecord, Verdict
from swarm_chain.core.units import (
    WEI_PER_SWM,
    ZERO_HASH,
    Address,
    Bps,
    EpochNumber,
    Hash32,
    Mtops,
    Timestamp,
    Wei,
    WindowId,
    window_id,
)
from tests.oracle_world import GENESIS_AT, NETWORK, PARAMS, provider, ref_block

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]
MOST = 6
OUTCOMES = st.sampled_from(list(Outcome))
SERVICES = st.builds(
    Service,
    error_bps=st.none() | st.integers(0, 10_000).map(Bps),
    response_us=st.none() | st.integers(0, 10**7),
    rating=st.none() | st.integers(0, 100),
    far_response_us=st.none() | st.integers(0, 10**7),
    jitter_us=st.none() | st.integers(0, 10**7),
    rate=st.none() | st.integers(0, 10**7),
    utilisation_bps=st.none() | st.integers(0, 10_000).map(Bps),
)


@st.composite
def provider_records(draw: st.DrawFn, count: int) -> tuple[ProviderRecord, ...]:
    """Providers of every kind: poor, thawing, suspended, new, retired, with none to two nodes."""
    return tuple(
        provider(
            number,
            *(f"node {number}.{k}" for k in range(draw(st.integers(0, 2)))),
            stake_wei=Wei(draw(st.integers(0, 10**6)) * WEI_PER_SWM + draw(st.integers(0, 3))),
            active_stake_wei=Wei(draw(st.integers(0, 10**4)) * WEI_PER_SWM),
            registered_at=Timestamp(GENESIS_AT + draw(st.sampled_from((-100, 30, 90)))),
            suspended_until=Timestamp(GENESIS_AT + draw(st.sampled_from((-100, 30, 90)))),
            retired=draw(st.sampled_from((False, False, False, True))),
            region=draw(st.sampled_from((b"eu-west\0", b"us-east\0"))),
            hardware_class=draw(st.sampled_from((1, 2))),
        )
        for number in range(1, count + 1)
    )


@st.composite
def epoch_facts(draw: st.DrawFn, epoch: int, providers: tuple[ProviderRecord, ...]) -> EpochFacts:
    """Verdicts of up to two windows; availability, maintenance, other categories, services and equivocations of some."""
    nodes = [node for one in providers for node in one.nodes]
    windows = tuple(window_id(EpochNumber(epoch), number) for number in range(draw(st.integers(0, 2))))
    verdicts = tuple(_verdict(window, node, *draw(_findings())) for window in windows for node in nodes)
    if not nodes:
        return EpochFacts(epoch=EpochNumber(epoch), windows=windows)
    of_nodes, others = st.sampled_from(nodes), st.sampled_from([c for c in Category if c is not Category.COMPUTE])
    shares = st.dictionaries(of_nodes, st.integers(0, 10_000).map(Bps))
    return EpochFacts(
        epoch=EpochNumber(epoch),
        windows=windows,
        verdicts=verdicts,
        availability=draw(shares),
        maintenance=draw(shares),
        proven=draw(st.dictionaries(others, st.dictionaries(of_nodes, st.integers(0, 10**6)), max_size=3)),
        services=draw(st.dictionaries(st.tuples(st.sampled_from(list(Category)), of_nodes), SERVICES, max_size=4)),
        member_equivocations=tuple(
            MemberEquivocation(member=owner, first=ZERO_HASH, second=Hash32(b"\1" * 32), epoch=EpochNumber(epoch))
            for owner in draw(st.sets(st.sampled_from([one.owner for one in providers]), max_size=2))
        ),
    )


def _findings() -> st.SearchStrategy[tuple[Outcome, int]]:
    return st.tuples(OUTCOMES, st.integers(0, 10**6))


def _verdict(window: WindowId, node: Address, outcome: Outcome, rate: int) -> Verdict:
    passed = outcome is Outcome.PASSED
    return Verdict(
        window_id=window,
        node=node,
        device=0,
        outcome=outcome,
        reason="" if passed else "false_row",
        row=None if passed else 3,
        mtops=Mtops(rate if passed else 0),
    )


@st.composite
def epochs(draw: st.DrawFn) -> list[tuple[ChainState, EpochFacts]]:
    """Two to four epochs in a row, some missed, with providers joining."""
    count, epoch, played = draw(st.integers(0, 3)), 0, []
    for _ in range(draw(st.integers(2, 4))):
        providers = draw(provider_records(count))
        played.append((ChainState(block=ref_block(epoch), providers=providers), draw(epoch_facts(epoch, providers))))
        count, epoch = min(count + draw(st.integers(0, 2)), MOST), epoch + draw(st.integers(1, 3))
    return played


def _previous(settled: Settlement) -> PreviousEpoch:
    return PreviousEpoch(manifest_hash=Hash32(b"\1" * 32), leaves=settled.result.leaves, state=settled.next_state)


@given(epochs())
@settings(max_examples=150, deadline=None)
def test_settlement_when_epochs_follow_then_conserves_grows_and_stays_bounded(
    played: list[tuple[ChainState, EpochFacts]],
) -> None:
    previous: PreviousEpoch | None = None
    rewards, penalties = PARAMS.rewards, 0
    for state, facts in played:
        settled = settle_epoch(state, facts, previous, NETWORK)
        leaves, before = settled.result.leaves, previous.leaves if previous else ()
        # Σ leaves == totals, exactly, and every line adds what it says
        assert settled.total_reward_wei == sum(leaf.cum_reward_wei for leaf in leaves)
        assert settled.total_penalty_wei == sum(leaf.cum_penalty_wei for leaf in leaves)
        rewarded = sum(line.reward_wei for line in settled.lines)
        assert settled.total_reward_wei == rewarded + sum(leaf.cum_reward_wei for leaf in before)
        # the pool is split without loss
        pools = settled.pools
        shared = sum(one.pool_wei + one.carried_in_wei for one in pools.categories)
        kept = 0 if pools.categories else previous.state.carry_wei if previous else 0
        assert rewarded + pools.carry_out_wei == shared + kept
        # sums only grow
        for old, new in zip(before, leaves, strict=False):
            assert new.cum_reward_wei >= old.cum_reward_wei
            assert new.cum_penalty_wei >= old.cum_penalty_wei
        # never more than the schedule, nor than a report may add
        covered = facts.epoch - previous.epoch if previous else 1
        allowed = cumulative_emission(rewards.emission_first_wei, rewards.emission_decay_ray, facts.epoch + 1)
        assert settled.total_reward_wei <= allowed
        assert rewarded <= covered * rewards.emission_first_wei
        assert settled.total_penalty_wei - penalties <= covered * rewards.max_penalty_per_epoch_wei
        assert all(
            line.penalty_wei <= one.stake_wei + line.reward_wei
            for line, one in zip(settled.lines, state.providers, strict=True)
        )
        # no proof, however false, makes a report slash: that takes ComputeCourt's arithmetic
        assert settle_epoch(state, replace(facts, verdicts=()), previous, NETWORK).found == settled.found
        # what is published reads back as what the next epoch builds on
        assert parse_shards(shard_bytes(leaves)) == leaves
        assert parse_state(state_bytes(settled.next_state)) == settled.next_state
        previous, penalties = _previous(settled), settled.total_penalty_wei


@given(epochs(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_settlement_when_facts_come_in_another_order_then_the_same(
    played: list[tuple[ChainState, EpochFacts]], shuffler: Random
) -> None:
    state, facts = played[-1]

    def mix(items: Iterable[T]) -> list[T]:
        mixed = list(items)
        shuffler.shuffle(mixed)
        return mixed

    mixed = replace(
        facts,
        verdicts=tuple(mix(facts.verdicts)),
        availability=dict(mix(facts.availability.items())),
        maintenance=dict(mix(facts.maintenance.items())),
        proven={category: dict(mix(units.items())) for category, units in mix(facts.proven.items())},
        services=dict(mix(facts.services.items())),
        member_equivocations=tuple(mix(facts.member_equivocations)),
    )

    assert settle_epoch(state, mixed, None, NETWORK) == settle_epoch(state, facts, None, NETWORK)


@given(st.integers(0, 10**30), st.lists(st.integers(0, 10**24), max_size=20))
def test_shares_when_split_then_conserved_monotone_and_order_free(pool: int, weights: list[int]) -> None:
    split, rest = shares(Wei(pool), weights)

    assert sum(split) + rest == pool
    assert rest < max(len(weights), 1) or sum(weights) == 0
    assert shares(Wei(pool), weights[::-1]) == (split[::-1], rest)
    by_weight = sorted(zip(weights, split, strict=True))
    assert [share for _, share in by_weight] == sorted(split)


def test_report_when_python_hashes_differently_then_the_same_bytes() -> None:
    """Sets and dictionaries of another process must not change a byte: two hash seeds, one report hash."""
    script = "from tests.golden.epoch_case import epoch_document; print(epoch_document()['reportHash'])"
    hashes = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "4242")
    }

    assert len(hashes) == 1
    assert next(iter(hashes)).startswith("0x")

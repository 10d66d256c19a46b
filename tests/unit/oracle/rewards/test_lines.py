"""The whole reward of an epoch, line by line."""

from dataclasses import replace
from typing import Any

import pytest

from oracle.economy import Service
from oracle.model import EpochFacts, JudgedJob, Pools, RewardLine
from oracle.rewards.lines import RewardInputs, reward_epoch
from oracle.rewards.weights import device_capacities
from swarm_chain.core.kinds import Category, HardwareClass, Outcome
from swarm_chain.core.model import ProviderRecord, Verdict
from swarm_chain.core.units import (
    WEI_PER_SWM,
    Address,
    Bps,
    EpochNumber,
    JobId,
    Mtops,
    ProviderId,
    Timestamp,
    Wei,
    WindowId,
)
from tests.oracle_world import GENESIS_AT, NETWORK, PARAMS, address, provider

COMPUTE_OF_EPOCH_0 = 100_000 * WEI_PER_SWM // 2 * 3000 // 10_000


def _facts(rates: dict[str, int], **changes: Any) -> EpochFacts:
    verdicts = tuple(
        Verdict(
            window_id=WindowId(0), node=address(node), device=0, outcome=Outcome.PASSED, elapsed_ms=1, mtops=Mtops(rate)
        )
        for node, rate in rates.items()
    )
    facts = EpochFacts(
        epoch=EpochNumber(0),
        windows=(WindowId(0),),
        verdicts=verdicts,
        availability={address(node): Bps(10_000) for node in rates},
    )
    return replace(facts, **changes)


def _reward(
    providers: tuple[ProviderRecord, ...], facts: EpochFacts, **changes: Any
) -> tuple[Pools, tuple[RewardLine, ...]]:
    inputs = RewardInputs(
        network=NETWORK,
        providers=providers,
        facts=facts,
        capacities=device_capacities(facts.verdicts, 1),
        carry_wei=Wei(0),
        gross_wei={},
        covered=1,
    )
    return reward_epoch(replace(inputs, **changes))


def test_reward_when_two_prove_three_to_one_then_split_three_to_one() -> None:
    pools, lines = _reward((provider(1, "a"), provider(2, "b")), _facts({"a": 30, "b": 10}))

    assert [line.reward_wei for line in lines] == [COMPUTE_OF_EPOCH_0 * 3 // 4, COMPUTE_OF_EPOCH_0 // 4]
    assert pools.utilisation_bps == 0


def test_reward_when_stake_covers_less_than_proven_then_capped() -> None:
    poor = provider(1, "a", stake_swm=1001)  # covers 20 mtops
    _, lines = _reward((poor, provider(2, "b")), _facts({"a": 80, "b": 20}))

    (weight,) = lines[0].weights
    assert (weight.category, weight.units, weight.covered) == (Category.COMPUTE, 80, 20)
    assert lines[0].reward_wei == lines[1].reward_wei


def test_reward_when_thawing_then_only_active_stake_covers() -> None:
    thawing = provider(1, "a", active_stake_wei=Wei(0))
    _, lines = _reward((thawing, provider(2, "b")), _facts({"a": 80, "b": 20}))

    assert lines[0].reward_wei == 0
    assert lines[1].reward_wei == COMPUTE_OF_EPOCH_0


@pytest.mark.parametrize("changes", [{"suspended_until": GENESIS_AT + 10}, {"retired": True}])
def test_reward_when_suspended_or_retired_then_neither_reward_nor_penalty(changes: dict[str, Any]) -> None:
    facts = _facts({"a": 80}, availability={address("a"): Bps(0)})
    _, lines = _reward((provider(1, "a", **changes),), facts, gross_wei={ProviderId(1): Wei(10**21)})

    assert (lines[0].reward_wei, lines[0].penalty_wei) == (0, 0)


@pytest.mark.parametrize("changes", [{"suspended_until": GENESIS_AT + 10}, {"retired": True}])
def test_reward_when_suspended_or_retired_then_proven_work_weighs_nothing(changes: dict[str, Any]) -> None:
    _, lines = _reward((provider(1, "a", **changes), provider(2, "b")), _facts({"a": 80, "b": 20}))

    assert [weight.weight for line in lines for weight in line.weights] == [0, 20 * 11_000]
    assert [line.reward_wei for line in lines] == [0, COMPUTE_OF_EPOCH_0]


def test_reward_when_nobody_proved_anything_then_stays_unminted_and_carry_is_kept() -> None:
    pools, lines = _reward((provider(1, "a"),), _facts({}), carry_wei=Wei(5))

    assert lines[0].reward_wei == 0
    assert (pools.categories, pools.carry_out_wei) == ((), 5)


def test_reward_when_a_remainder_was_carried_then_it_opens_the_pool() -> None:
    three = tuple(provider(number, name) for number, name in ((1, "a"), (2, "b"), (3, "c")))
    pools, lines = _reward(three, _facts({"a": 1, "b": 1, "c": 1}), carry_wei=Wei(2))

    assert sum(line.reward_wei for line in lines) + pools.carry_out_wei == COMPUTE_OF_EPOCH_0 + 2
    assert pools.carry_out_wei < 3


def test_reward_when_a_job_was_paid_for_then_the_pool_grows_with_demand() -> None:
    paid = JudgedJob(job_id=JobId(1), outcome=Outcome.PASSED, device_seconds=30)  # of 60 offered
    rejected = JudgedJob(job_id=JobId(2), outcome=Outcome.FAILED, device_seconds=30)
    pools, lines = _reward((provider(1, "a"),), _facts({"a": 10}, jobs=(paid, rejected)))

    assert pools.utilisation_bps == 5000
    assert lines[0].reward_wei == COMPUTE_OF_EPOCH_0 * 3 // 2


def test_penalty_when_silent_then_priced_at_the_last_reward() -> None:
    facts = _facts({"b": 10}, availability={address("a"): Bps(0), address("b"): Bps(10_000)})
    _, lines = _reward((provider(1, "a"), provider(2, "b")), facts, gross_wei={ProviderId(1): Wei(10**21)})

    assert lines[0].base_wei == 10**21
    assert lines[0].penalty_wei == 10**21 * 9990 // 10_000
    assert lines[1].penalty_wei == 0


def test_penalty_when_more_than_stake_then_stops_there() -> None:
    facts = _facts({}, availability={address("a"): Bps(0)})
    _, lines = _reward((provider(1, "a", stake_swm=3),), facts, gross_wei={ProviderId(1): Wei(10**24)})

    assert lines[0].penalty_wei == 3 * WEI_PER_SWM


def test_penalty_when_registered_during_the_epoch_then_none() -> None:
    young = provider(1, "a", registered_at=Timestamp(GENESIS_AT + 5))
    facts = _facts({"a": 10}, availability={address("a"): Bps(5000)})
    _, lines = _reward((young,), facts)

    assert lines[0].excused == "new"
    assert lines[0].penalty_wei == 0


def test_penalty_when_in_announced_maintenance_then_none() -> None:
    facts = _facts({}, availability={address("a"): Bps(0)}, maintenance={address("a"): Bps(10_000)})
    _, lines = _reward((provider(1, "a"),), facts, gross_wei={ProviderId(1): Wei(10**21)})

    assert lines[0].excused == "maintenance"
    assert lines[0].penalty_wei == 0


def test_penalty_when_all_are_silent_then_within_what_a_report_may_add() -> None:
    many = tuple(provider(number, f"n{number}") for number in range(1, 8))
    facts = _facts({}, availability={address(f"n{number}"): Bps(0) for number in range(1, 8)})
    gross = {ProviderId(number): Wei(90_000 * WEI_PER_SWM) for number in range(1, 8)}
    _, lines = _reward(many, facts, gross_wei=gross)

    total = sum(line.penalty_wei for line in lines)
    cap = PARAMS.rewards.max_penalty_per_epoch_wei
    assert cap - len(many) <= total <= cap


def test_reward_when_epochs_were_missed_then_covers_their_emission_and_prices_one() -> None:
    facts = _facts({"a": 10}, epoch=EpochNumber(2), availability={address("a"): Bps(9890)})
    pools, lines = _reward((provider(1, "a"),), facts, covered=3)

    assert pools.emission_wei > 2 * 99_900 * WEI_PER_SWM
    assert pools.offered_seconds == 3 * 60
    assert lines[0].base_wei == lines[0].reward_wei // 3


def _bps(availability: dict[str, int]) -> dict[Address, Bps]:
    return {address(node): Bps(share) for node, share in availability.items()}


def test_weight_when_nodes_differ_then_each_by_its_own_availability() -> None:
    facts = _facts({"steady": 10, "flaky": 10}, availability=_bps({"steady": 10_000, "flaky": 9500}))
    _, lines = _reward((provider(1, "steady", "flaky"),), facts)

    assert (lines[0].weights[0].units, lines[0].weights[0].quality_bps) == (20, 7500)


def test_weight_when_a_bad_node_joins_a_good_one_that_fills_the_stake_then_nothing_is_lost() -> None:
    poor = provider(1, "good", "bad", stake_swm=1001)  # covers 20 mtops
    alone = _facts({"good": 20, "other": 20})
    both = _facts({"good": 20, "bad": 80, "other": 20}, availability=_bps({"good": 10_000, "bad": 9000}))

    with_both, without = (_reward((poor, provider(2, "other")), facts)[1] for facts in (both, alone))

    assert with_both[0].reward_wei == without[0].reward_wei
    assert with_both[0].weights[0].quality_bps == 10_000


def test_weight_when_a_node_was_not_called_then_its_proofs_speak() -> None:
    _, lines = _reward((provider(1, "a"),), _facts({"a": 7}, availability={}))

    assert lines[0].weights[0].quality_bps == 10_000


def test_weight_when_a_node_is_anothers_then_nothing() -> None:
    _, lines = _reward((provider(1),), _facts({"a": 7}))

    assert lines[0].weights == ()


def test_weight_when_services_were_measured_then_quality_follows_in_that_category_alone() -> None:
    slow = {(Category.SERVING, address("a")): Service(response_us=2 * PARAMS.services.gpu.serving.response_us)}
    proven = {Category.SERVING: {address("a"): 5}}
    gpu = provider(1, "a", hardware_class=HardwareClass.GPU)
    _, lines = _reward((gpu,), _facts({"a": 10}, proven=proven, services=slow))

    assert [(w.category, w.quality_bps) for w in lines[0].weights] == [
        (Category.COMPUTE, 10_000),
        (Category.SERVING, 8000),
    ]
    assert lines[0].shortfall_bps == 10_000, "twice as slow as owed"
    assert [(one.category, one.factor_bps) for one in lines[0].services] == [(Category.SERVING, 8000)]


def test_penalty_when_a_cpu_node_serves_slowly_then_none_because_its_class_does_not_owe_it() -> None:
    slow = {(Category.SERVING, address("a")): Service(response_us=2 * PARAMS.services.gpu.serving.response_us)}
    _, lines = _reward((provider(1, "a", hardware_class=HardwareClass.CPU),), _facts({"a": 10}, services=slow))

    assert (lines[0].shortfall_bps, lines[0].penalty_wei) == (0, 0)


def test_reward_when_several_categories_are_proven_then_each_pool_is_shared_and_the_rest_stays_unminted() -> None:
    proven = {Category.STORAGE: {address("b"): 3, address("a"): 1}, Category.MEMORY: {}}
    pools, lines = _reward((provider(1, "a"), provider(2, "b")), _facts({"a": 10}, proven=proven), carry_wei=Wei(1))

    assert [pool.category for pool in pools.categories] == [Category.COMPUTE, Category.STORAGE]
    assert [pool.carried_in_wei for pool in pools.categories] == [1, 0]
    storage = COMPUTE_OF_EPOCH_0 * 1500 // 3000
    assert [line.reward_wei for line in lines] == [COMPUTE_OF_EPOCH_0 + 1 + storage // 4, storage * 3 // 4]


def test_reward_when_only_a_later_category_is_proven_then_it_opens_with_the_remainder() -> None:
    pools, lines = _reward(
        (provider(1, "a"),), _facts({}, proven={Category.MEMORY: {address("a"): 1}}), carry_wei=Wei(9)
    )

    assert (pools.categories[0].category, pools.categories[0].carried_in_wei) == (Category.MEMORY, 9)
    assert lines[0].reward_wei == COMPUTE_OF_EPOCH_0 // 3 + 9


def test_facts_when_compute_is_said_instead_of_proven_then_refused() -> None:
    with pytest.raises(ValueError, match="verdicts alone"):
        _facts({}, proven={Category.COMPUTE: {address("a"): 10**9}})

"""Service-level penalties: who is excused, what a shortfall costs, where it stops."""

from typing import Any

import pytest

from oracle.economy import GradedService, Service
from oracle.rewards.penalties import (
    cap_total,
    excuse,
    may_earn,
    penalty_wei,
    provider_availability,
    service_shortfall,
    shortfall_bps,
)
from swarm_chain.core.economics import ServiceLevel
from swarm_chain.core.kinds import Category
from swarm_chain.core.units import Bps, Timestamp, Wei
from tests.oracle_world import GENESIS_AT, PARAMS, address, provider

PENALTIES = PARAMS.penalties


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ""),
        ({"suspended_until": GENESIS_AT + 1}, "suspended"),
        ({"suspended_until": GENESIS_AT}, ""),
        ({"retired": True}, "retired"),
        ({"registered_at": GENESIS_AT + 1}, "new"),
        ({"registered_at": GENESIS_AT}, ""),
        ({"nodes": ()}, "without_nodes"),
    ],
)
def test_excuse_when_the_chain_says_so(changes: dict[str, Any], expected: str) -> None:
    assert excuse(provider(1, "a", **changes), GENESIS_AT, {}) == expected


def test_excuse_when_all_nodes_are_in_maintenance_then_excused_but_not_for_some() -> None:
    both = provider(1, "a", "b")

    whole = {address("a"): Bps(10_000), address("b"): Bps(10_000)}

    assert excuse(both, GENESIS_AT, whole) == "maintenance"
    assert excuse(both, GENESIS_AT, {**whole, address("b"): Bps(9999)}) == "", "part of the epoch is no whole epoch"
    assert excuse(both, GENESIS_AT, {address("a"): Bps(10_000)}) == ""


def test_may_earn_when_new_but_not_when_suspended() -> None:
    assert may_earn("")
    assert may_earn("new")
    assert not any(may_earn(reason) for reason in ("suspended", "retired", "without_nodes", "maintenance"))


def test_availability_when_nodes_differ_then_average_rounded_up() -> None:
    both = provider(1, "a", "b", "unmeasured")

    assert provider_availability(both, {address("a"): Bps(10_000), address("b"): Bps(9999)}) == 10_000


def test_availability_when_nobody_measured_then_unknown() -> None:
    assert provider_availability(provider(1, "a", "b"), {}) is None


@pytest.mark.parametrize(("availability", "expected"), [(None, 0), (10_000, 0), (9990, 0), (9989, 1), (0, 9990)])
def test_shortfall_when_below_target_then_the_difference(availability: int | None, expected: int) -> None:
    assert shortfall_bps(None if availability is None else Bps(availability), Bps(0), PENALTIES) == expected


def test_shortfall_when_services_miss_their_levels_too_then_the_sum_up_to_the_cap() -> None:
    assert shortfall_bps(Bps(9890), Bps(40), PENALTIES) == 140
    assert shortfall_bps(None, Bps(40), PENALTIES) == 40
    assert shortfall_bps(Bps(0), Bps(20_000), PENALTIES) == PENALTIES.penalty_cap_bps


def _served(missed: int | None) -> GradedService:
    return GradedService(
        node=address("a"),
        category=Category.SERVING,
        service=Service(),
        owed=ServiceLevel(),
        judged=ServiceLevel(),
        median_rating=0,
        factor_bps=Bps(10_000),
        missed_bps=None if missed is None else Bps(missed),
    )


def test_service_shortfall_when_services_differ_then_the_average_of_those_owed_rounded_down() -> None:
    assert service_shortfall(map(_served, (10, 0, 1))) == 3
    assert service_shortfall(map(_served, (10, None, 1))) == 5, "what is not owed dilutes nothing"
    assert service_shortfall([_served(None)]) == service_shortfall([]) == 0


def test_penalty_when_priced_then_base_times_shortfall_rounded_down_and_never_above_what_can_be_taken() -> None:
    assert penalty_wei(Wei(1001), Bps(9990), Wei(10**30), PENALTIES) == 1001 * 9990 // 10_000
    assert penalty_wei(Wei(1001), Bps(9990), Wei(7), PENALTIES) == 7
    assert penalty_wei(Wei(0), Bps(9990), Wei(10**30), PENALTIES) == 0


def test_cap_when_penalties_exceed_what_a_report_may_add_then_scaled_down() -> None:
    amounts = [Wei(60), Wei(30), Wei(10)]

    assert cap_total(amounts, Wei(100)) == amounts
    assert cap_total(amounts, Wei(50)) == [30, 15, 5]
    assert sum(cap_total(amounts, Wei(33))) <= 33


def test_excuse_when_epoch_starts_later_then_the_same_provider_is_no_longer_new() -> None:
    young = provider(1, "a", registered_at=Timestamp(GENESIS_AT + 1))

    assert excuse(young, Timestamp(GENESIS_AT + 60), {}) == ""

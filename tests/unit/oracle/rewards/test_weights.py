"""Capacity, stake cover, quality and shares."""

from dataclasses import replace

import pytest

from oracle.rewards.weights import (
    covered_mtops,
    device_capacities,
    interpolate,
    multiplier_bps,
    node_units,
    quality_units,
    shares,
)
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.model import Verdict
from swarm_chain.core.units import WEI_PER_SWM, Address, Bps, Mtops, Wei, WindowId
from tests.oracle_world import PARAMS, address, provider

TABLE = PARAMS.rewards.availability_table


def _verdict(window: int, node: str, mtops: int, outcome: Outcome = Outcome.PASSED, device: int = 0) -> Verdict:
    return Verdict(window_id=WindowId(window), node=Address(node), device=device, outcome=outcome, mtops=Mtops(mtops))


def test_capacity_when_all_windows_passed_then_the_minimum() -> None:
    verdicts = [_verdict(0, "a", 90), _verdict(1, "a", 70), _verdict(2, "a", 80)]

    assert device_capacities(verdicts, 3) == {("a", 0): 70}


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.MISSING])
def test_capacity_when_one_window_is_not_passed_then_nothing(outcome: Outcome) -> None:
    verdicts = [_verdict(0, "a", 90), _verdict(1, "a", 0, outcome)]

    assert device_capacities(verdicts, 2) == {}


def test_capacity_when_a_window_has_no_verdict_for_a_device_then_nothing() -> None:
    assert device_capacities([_verdict(0, "late joiner", 90)], 2) == {}


def test_node_units_when_a_node_has_devices_then_their_sum() -> None:
    assert node_units({(Address("a"), 0): Mtops(3), (Address("a"), 1): Mtops(4), (Address("b"), 0): Mtops(5)}) == {
        "a": 7,
        "b": 5,
    }


@pytest.mark.parametrize(
    ("swm", "expected"),
    [(0, 0), (999, 0), (1000, 0), (1050, 1000), (1075, 1500), (1001, 20), (6000, 100_000)],
)
def test_cover_when_stake_lies_above_the_minimum_then_fifty_swm_a_tops(swm: int, expected: int) -> None:
    assert covered_mtops(Wei(swm * WEI_PER_SWM), PARAMS.stake) == expected


def test_cover_when_a_wei_short_then_rounded_down() -> None:
    assert covered_mtops(Wei(1050 * WEI_PER_SWM - 1), PARAMS.stake) == 999


@pytest.mark.parametrize(
    ("availability", "expected"),
    [
        (0, 0),
        (8999, 0),
        (9000, 0),
        (9250, 2500),
        (9500, 5000),
        (9700, 7000),
        (9900, 9000),
        (9990, 10000),
        (10000, 10000),
    ],
)
def test_quality_when_read_from_the_table_then_piecewise_linear(availability: int, expected: int) -> None:
    assert interpolate(TABLE, availability) == expected


def test_multiplier_when_factors_multiply_then_capped() -> None:
    assert multiplier_bps((), Bps(20_000)) == 10_000
    assert multiplier_bps((Bps(11_000), Bps(12_500)), Bps(20_000)) == 13_750
    assert multiplier_bps((Bps(15_000), Bps(15_000)), Bps(20_000)) == 20_000


def test_quality_units_when_nodes_differ_then_each_by_its_own_availability() -> None:
    both = provider(1, "steady", "flaky")
    units = {address("steady"): Mtops(10), address("flaky"): Mtops(10)}
    availability = {address("steady"): Bps(10_000), address("flaky"): Bps(9500)}

    assert quality_units(both, units, availability, PARAMS.rewards) == (20, 10 * 10_000 + 10 * 5000)


def test_quality_units_when_nobody_called_the_roll_then_proofs_speak() -> None:
    assert quality_units(provider(1, "a"), {address("a"): Mtops(7)}, {}, PARAMS.rewards) == (7, 70_000)


def test_quality_units_when_the_node_is_anothers_then_nothing() -> None:
    stranger = replace(provider(1, "a"), nodes=())

    assert quality_units(stranger, {address("a"): Mtops(7)}, {}, PARAMS.rewards) == (0, 0)


def test_shares_when_split_then_floor_and_remainder() -> None:
    assert shares(Wei(10), [1, 1, 1]) == ([3, 3, 3], 1)


def test_shares_when_all_weigh_nothing_then_the_pool_remains() -> None:
    assert shares(Wei(10), [0, 0]) == ([0, 0], 10)
    assert shares(Wei(10), []) == ([], 10)

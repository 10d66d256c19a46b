"""Capacity of devices and nodes, and shares of a pool."""

import pytest

from oracle.rewards.weights import device_capacities, node_units, shares
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.model import Verdict
from swarm_chain.core.units import Address, Mtops, Wei, WindowId


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


def test_shares_when_split_then_floor_and_remainder() -> None:
    assert shares(Wei(10), [1, 1, 1]) == ([3, 3, 3], 1)


def test_shares_when_all_weigh_nothing_then_the_pool_remains() -> None:
    assert shares(Wei(10), [0, 0]) == ([0, 0], 10)
    assert shares(Wei(10), []) == ([], 10)

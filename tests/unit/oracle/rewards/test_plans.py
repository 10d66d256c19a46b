"""Plans of the next epoch."""

from dataclasses import replace

import pytest

from oracle.model import Plan
from oracle.rewards.plans import next_plans, planned_run
from swarm_chain.core.compute import ComputeShape, mtops
from swarm_chain.core.units import Mtops
from swarm_chain.params import load_params
from tests.oracle_world import PARAMS, address

COMPUTE = replace(PARAMS.compute, steps=8, max_steps=1024)
MAINNET = load_params("mainnet").compute
A, B = sorted((address("a"), address("b")), key=lambda node: bytes.fromhex(node[2:]))


def _plan(node: str, steps: int, device: int = 0, m: int = COMPUTE.m) -> Plan:
    return Plan(node=address(node), device=device, m=m, n=COMPUTE.n, steps=steps)


@pytest.mark.parametrize("preset", ["minimal", "mainnet"])
@pytest.mark.parametrize("rate", [200, 4000, 30_000])
def test_run_when_done_at_the_measured_rate_then_takes_about_the_target(preset: str, rate: int) -> None:
    compute = replace(load_params(preset).compute, steps=1, max_steps=10**9)

    m, steps = planned_run(Mtops(rate), compute)

    took_ms = 2 * m * compute.n * compute.n * steps // (rate * 10**6)
    one_step_ms = 2 * m * compute.n * compute.n // (rate * 10**6) + 1
    assert compute.target_ms - one_step_ms <= took_ms <= compute.target_ms


def test_run_when_too_small_or_too_large_then_clamped() -> None:
    assert planned_run(Mtops(0), MAINNET) == (MAINNET.min_m, MAINNET.steps)
    assert planned_run(Mtops(10**12), MAINNET) == (MAINNET.max_m, MAINNET.max_steps)


def test_run_when_measured_from_a_run_then_inverse_of_the_rate() -> None:
    shape = ComputeShape(m=MAINNET.m, n=MAINNET.n, steps=512)

    m, steps = planned_run(mtops(shape, MAINNET.target_ms), MAINNET)

    assert (m, steps) in ((MAINNET.m, 511), (MAINNET.m, 512))


def test_run_when_a_device_is_faster_than_all_steps_then_it_gets_more_rows_not_a_shorter_run() -> None:
    for tops in range(113, 3600, 35):
        m, steps = planned_run(Mtops(1000 * tops), MAINNET)

        assert m > MAINNET.m
        assert MAINNET.max_steps // 2 <= steps <= MAINNET.max_steps


def paid(identities: int, rate: Mtops) -> list[Mtops]:
    """What each identity on one device is measured at once plans have settled: one run after the other in each window."""
    seen = [Mtops(rate // place) for place in range(1, identities + 1)]
    for _ in range(30):
        elapsed_ms, measured = 0, []
        for one in seen:
            m, steps = planned_run(one, MAINNET)
            shape = ComputeShape(m=m, n=MAINNET.n, steps=steps)
            elapsed_ms += max(mtops(shape, 1) // rate, 1)
            measured.append(mtops(shape, elapsed_ms))
        seen = measured
    return seen


def test_device_when_it_serves_two_nodes_then_the_second_is_paid_next_to_nothing() -> None:
    """One device serving two nodes in the same window: a hundred devices, from a small GPU to the fastest."""
    for rate in map(Mtops, range(5_000, 3_505_000, 35_000)):
        (alone,) = paid(1, rate)
        first, second = paid(2, rate)

        assert 0.99 * rate <= alone <= 1.01 * rate, "an honest device is measured as what it is"
        assert first == alone
        assert second <= 0.04 * rate
        assert sum(paid(8, rate)) <= 1.1 * alone


def test_plans_when_a_device_proved_nothing_then_keeps_its_plan() -> None:
    assert next_plans([_plan("a", 77)], {}, [address("a")], COMPUTE) == (_plan("a", 77),)


def test_plans_when_a_node_left_or_the_shape_changed_then_dropped() -> None:
    assert next_plans([_plan("a", 77)], {}, [address("b")], COMPUTE) == ()
    assert next_plans([_plan("a", 77, m=2 * COMPUTE.max_m)], {}, [address("a")], COMPUTE) == ()
    assert next_plans([_plan("a", 77, m=COMPUTE.min_m // 2)], {}, [address("a")], COMPUTE) == ()


def test_plans_when_devices_are_given_in_any_order_then_ordered_by_node_and_device() -> None:
    rates = {(B, 0): Mtops(5), (A, 1): Mtops(5), (A, 0): Mtops(5)}

    plans = next_plans([], rates, [B, A], COMPUTE)

    assert [(plan.node, plan.device) for plan in plans] == [(A, 0), (A, 1), (B, 0)]

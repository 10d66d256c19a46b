"""Plans of the next epoch."""

from dataclasses import replace

import pytest

from oracle.model import Plan
from oracle.rewards.plans import next_plans, planned_steps
from swarm_chain.core.compute import ComputeShape, mtops
from swarm_chain.core.units import Mtops
from swarm_chain.params import load_params
from tests.oracle_world import PARAMS, address

COMPUTE = replace(PARAMS.compute, steps=8, max_steps=1024)
A, B = sorted((address("a"), address("b")), key=lambda node: bytes.fromhex(node[2:]))


def _plan(node: str, steps: int, device: int = 0, m: int = COMPUTE.m) -> Plan:
    return Plan(node=address(node), device=device, m=m, n=COMPUTE.n, steps=steps)


@pytest.mark.parametrize("preset", ["minimal", "mainnet"])
@pytest.mark.parametrize("rate", [200, 4000, 30_000])
def test_steps_when_run_at_the_measured_rate_then_take_about_the_target(preset: str, rate: int) -> None:
    compute = replace(load_params(preset).compute, steps=1, max_steps=10**9)

    steps = planned_steps(Mtops(rate), compute)

    took_ms = 2 * compute.m * compute.n * compute.n * steps // (rate * 10**6)
    one_step_ms = 2 * compute.m * compute.n * compute.n // (rate * 10**6) + 1
    assert compute.target_ms - one_step_ms <= took_ms <= compute.target_ms


def test_steps_when_too_few_or_too_many_then_clamped() -> None:
    assert planned_steps(Mtops(0), COMPUTE) == 8
    assert planned_steps(Mtops(10**12), COMPUTE) == 1024


def test_steps_when_measured_from_a_run_then_inverse_of_the_rate() -> None:
    compute = replace(load_params("mainnet").compute, max_steps=10**6)
    shape = ComputeShape(m=compute.m, n=compute.n, steps=512)

    assert planned_steps(mtops(shape, compute.target_ms), compute) in (511, 512)


def test_plans_when_a_device_proved_nothing_then_keeps_its_plan() -> None:
    assert next_plans([_plan("a", 77)], {}, [address("a")], COMPUTE) == (_plan("a", 77),)


def test_plans_when_a_node_left_or_the_shape_changed_then_dropped() -> None:
    assert next_plans([_plan("a", 77)], {}, [address("b")], COMPUTE) == ()
    assert next_plans([_plan("a", 77, m=2 * COMPUTE.m)], {}, [address("a")], COMPUTE) == ()


def test_plans_when_devices_are_given_in_any_order_then_ordered_by_node_and_device() -> None:
    rates = {(B, 0): Mtops(5), (A, 1): Mtops(5), (A, 0): Mtops(5)}

    plans = next_plans([], rates, [B, A], COMPUTE)

    assert [(plan.node, plan.device) for plan in plans] == [(A, 0), (A, 1), (B, 0)]

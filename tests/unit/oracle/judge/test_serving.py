"""The judge of serving against every attack we know; the honest node passes each time."""

from dataclasses import replace

import pytest

from oracle.consensus.medians import proven_units
from oracle.judge.serving import CustomerFigures, ServingCase, ServingFinding, judge_serving, rung_fault
from oracle.model import Measurement, Observation
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Category, Outcome
from swarm_chain.core.units import Address, Bps, EpochNumber
from tests.serving_world import (
    LEVEL,
    PARAMS,
    Absent,
    Canned,
    Refusing,
    SimulatedNode,
    Slow,
    SometimesWrong,
    Stalling,
    Truncated,
)

CLAIM, TIMES = 8, 100
OTHER_EPOCH = SimulatedNode(model=keccak(b"model of another epoch"))


def judged(node: SimulatedNode, claim: int = CLAIM, number: int = 0) -> ServingFinding:
    found = judge_serving(ServingCase(claim=claim, rungs=node.ladder(claim, number)), LEVEL, PARAMS)
    assert found is not None
    return found


def test_node_when_honest_then_its_claim_is_proven_a_hundred_times_in_a_row() -> None:
    found = [judged(SimulatedNode(), number=number) for number in range(TIMES)]

    assert {(one.outcome, one.reason, one.units, one.error_bps) for one in found} == {(Outcome.PASSED, "", CLAIM, 0)}
    assert all(5_000 < (one.ttft_us or 0) < (one.p50_us or 0) <= (one.p95_us or 0) < 40_000 for one in found)


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (Canned(), "wrong_answer"),
        (OTHER_EPOCH, "wrong_answer"),
        (Truncated(), "wrong_answer"),
        (Slow(), "slow"),
        (Stalling(), "slow"),
        (Absent(), "no_answer"),
    ],
)
def test_node_when_it_cheats_then_nothing_is_proven_a_hundred_times_in_a_row(node: SimulatedNode, reason: str) -> None:
    found = [judged(node, number=number) for number in range(TIMES)]

    assert {(one.reason, one.units) for one in found} == {(reason, 0)}
    assert all(one.outcome is not Outcome.PASSED for one in found)


def test_node_when_half_of_its_answers_are_copies_then_nothing_is_proven() -> None:
    found = [judged(SometimesWrong(), number=number) for number in range(TIMES)]

    assert {(one.reason, one.units) for one in found} == {("wrong_answer", 0)}


def test_node_when_it_refuses_above_the_level_then_not_its_claim() -> None:
    found = [judged(Refusing(), claim=16, number=number) for number in range(TIMES)]

    assert all(one.reason in {"errors", "no_answer"} and one.units < 16 for one in found)


def test_node_when_it_claims_more_than_it_can_then_the_knee_and_no_more() -> None:
    strict = replace(LEVEL, response_us=400_000)
    rungs = SimulatedNode(capacity=20).ladder(64)
    found = judge_serving(ServingCase(claim=64, rungs=rungs), strict, PARAMS)

    assert found is not None
    assert (found.outcome, found.reason, found.units) == (Outcome.PASSED, "slow", 16)


def test_prober_when_it_waited_for_late_answers_then_their_lateness_counts_all_the_same() -> None:
    (rung,) = SimulatedNode().ladder(2)
    waited = replace(
        rung,
        samples=tuple(replace(one, sent_us=4_000_000, done_us=4_010_000, first_us=4_005_000) for one in rung.samples),
    )

    assert rung_fault(waited, LEVEL, replace(PARAMS, lag_us=10**7)) == "slow"


def test_prober_when_late_itself_then_the_node_is_not_judged_by_it() -> None:
    late = SimulatedNode(lag_us=PARAMS.lag_us + 1)
    on_time, held_up = SimulatedNode().ladder(2)[0], late.ladder(4)[1]

    assert judge_serving(ServingCase(claim=2, rungs=late.ladder(2)), LEVEL, PARAMS) is None
    found = judge_serving(ServingCase(claim=4, rungs=(on_time, held_up)), LEVEL, PARAMS)
    assert found is not None
    assert (found.reason, found.units) == ("prober_late", 2)


def test_probes_when_served_better_than_customers_then_customers_count() -> None:
    rungs = SimulatedNode().ladder(CLAIM)
    slow = CustomerFigures(requests=50, errors=0, p50_us=4_000_000, p95_us=5_000_000)
    slower = CustomerFigures(requests=50, errors=0, p50_us=300_000, p95_us=400_000)
    alike = CustomerFigures(requests=50, errors=0, p50_us=25_000, p95_us=30_000)
    few = replace(slow, requests=PARAMS.least_customers - 1)
    told = [
        judge_serving(ServingCase(claim=CLAIM, rungs=rungs, customers=one), LEVEL, PARAMS)
        for one in (slow, slower, alike, few)
    ]

    assert [(one.reason, one.units) for one in told if one] == [
        ("customers_slower", 0),
        ("customers_slower", CLAIM),
        ("", CLAIM),
        ("", CLAIM),
    ]
    assert told[1] is not None
    assert told[1].p95_us == 400_000


def test_node_when_it_answers_one_member_only_then_the_median_is_nothing() -> None:
    node = Address("0x6156fEB3ED0e75F93e3B3353A313aeB5382D7FAC")
    units = [judged(one).units for one in (SimulatedNode(), Absent(), Absent())]
    observations = [
        Observation(
            epoch=EpochNumber(1),
            member=Address(f"0x{number:040x}"),
            measurements=(Measurement(node=node, category=Category.SERVING, units=one),),
        )
        for number, one in enumerate(units, start=1)
    ]

    assert units == [CLAIM, 0, 0]
    assert proven_units(observations) == {}


def test_errors_when_some_failed_then_rounded_up_over_the_rungs_that_count() -> None:
    rungs = SimulatedNode().ladder(4)
    first = rungs[1].samples[0]
    one_failed = replace(rungs[1], samples=(replace(first, error="timeout", done_us=None), *rungs[1].samples[1:]))
    case = ServingCase(claim=4, rungs=(rungs[0], one_failed))
    lenient = judge_serving(case, replace(LEVEL, error_bps=Bps(2500), response_us=0), PARAMS)
    strict = judge_serving(case, LEVEL, PARAMS)

    assert lenient is not None
    assert strict is not None
    assert (lenient.units, lenient.error_bps) == (4, 1667)
    assert (strict.units, strict.error_bps, strict.reason) == (2, 0, "errors")


def test_case_when_rungs_are_missing_empty_or_out_of_order_then_refused() -> None:
    low, high = SimulatedNode().ladder(4)
    for rungs in ((high, low), (low, low), (replace(low, samples=()),)):
        with pytest.raises(InvalidInputError):
            ServingCase(claim=4, rungs=rungs)
    with pytest.raises(InvalidInputError):
        judge_serving(ServingCase(claim=4, rungs=()), LEVEL, PARAMS)

"""What is offered follows the plan, and nothing above the customer's word is."""

import pytest

from swarm_chain.client.model import Offer, Plan, PlannedNode
from swarm_chain.client.offers import LEAST_RUN_FOR, Terms, make_offer
from swarm_chain.client.refunds import refund_table
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.kinds import JobKind
from swarm_chain.core.units import ProviderId, Wei
from swarm_chain.testing import FakeSigner

PRICE = Wei(5 * 10**18)


def _plan(*missing: str, seconds: int = 40) -> Plan:
    node = PlannedNode(node=FakeSigner("node").address, provider_id=ProviderId(1), price_wei=PRICE)
    return Plan(spec_hash=keccak(b""), nodes=(node,), price_wei=PRICE, seconds=seconds, missing=missing)


def _offer(plan: Plan | None, most: int, **terms: int) -> Offer:
    said = Terms(
        budget_wei=Wei(terms["budget"]) if "budget" in terms else None,
        accept_for=terms.get("accept_for", 60),
        run_for=terms.get("run_for"),
    )
    return make_offer(JobKind.TRAIN, plan, Wei(most), Wei(terms.get("least", 1)), said)


def test_budget_when_not_said_then_is_the_planned_price() -> None:
    assert _offer(_plan(), PRICE).budget_wei == PRICE
    assert _offer(_plan(), 2 * PRICE).budget_wei == PRICE
    assert _offer(_plan(), 2 * PRICE, budget=PRICE + 1).budget_wei == PRICE + 1
    assert _offer(None, PRICE, budget=PRICE).budget_wei == PRICE


def test_budget_when_the_plan_is_below_what_escrow_takes_then_is_what_it_takes() -> None:
    assert _offer(_plan(), 2 * PRICE, least=2 * PRICE).budget_wei == 2 * PRICE
    with pytest.raises(InvalidInputError, match="more than"):
        _offer(_plan(), PRICE, least=PRICE + 1)


def test_time_when_not_said_then_leaves_room_for_the_plan() -> None:
    assert _offer(_plan(), PRICE).run_for == LEAST_RUN_FOR
    assert _offer(_plan(seconds=10_000), PRICE).run_for == 30_000
    assert _offer(_plan(seconds=10_000), PRICE, run_for=20).run_for == 20


@pytest.mark.parametrize(
    ("plan", "most", "terms", "code"),
    [
        (_plan(), PRICE - 1, {}, "above_max_cost"),
        (_plan(), PRICE, {"budget": PRICE + 1}, "above_max_cost"),
        (_plan(), PRICE - 1, {"budget": PRICE - 1}, "above_max_cost"),
        (_plan(), PRICE, {"budget": PRICE - 1}, "below_price"),
        (None, PRICE, {}, "no_budget"),
        (None, PRICE, {"budget": PRICE + 1}, "above_max_cost"),
    ],
)
def test_offer_when_against_the_customers_word_then_is_refused(
    plan: Plan | None, most: int, terms: dict[str, int], code: str
) -> None:
    with pytest.raises(InvalidInputError) as refused:
        _offer(plan, most, **terms)

    assert refused.value.code == code
    assert refused.value.fix


def test_offer_when_no_node_can_run_it_then_says_what_is_missing() -> None:
    with pytest.raises(UnavailableError, match="no node has 4 gpus") as refused:
        _offer(_plan("no node has 4 gpus"), PRICE)

    assert refused.value.code == "no_node"


def test_refunds_when_work_is_found_right_then_nothing_returns_else_everything() -> None:
    offer = Offer(kind=JobKind.TRAIN, budget_wei=PRICE, accept_for=60, run_for=120)
    table = refund_table(offer, judge_for=600)

    assert [refund.returned_wei for refund in table] == [PRICE] * 4 + [0]
    assert [number for number in ("60 s", "120 s", "600 s") if any(number in row.when for row in table)] == [
        "60 s",
        "120 s",
        "600 s",
    ]

"""From a plan to what is offered, and refused where the customer said so. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from swarm_chain.client.model import Offer, Plan
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.kinds import JobKind
from swarm_chain.core.units import Wei, format_swm

ACCEPT_FOR: Final = 3600  # s a node has to take a job, if the customer does not say
LEAST_RUN_FOR: Final = 3600  # s a node has to finish it, if the customer does not say; at least RUN_TIMES the plan
RUN_TIMES: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How a job is offered. None: the budget is the planned price, `run_for` follows the plan.

    `again` posts it although the same spec waits, runs or was paid; `approve` sees offer and plan before anything is sent,
    and raises to refuse.
    """

    budget_wei: Wei | None = None
    accept_for: int = ACCEPT_FOR
    run_for: int | None = None
    again: bool = False
    approve: Callable[[Offer, Plan | None], None] | None = None


def run_for_of(plan: Plan | None) -> int:
    """Seconds a node gets to finish what was planned."""
    return LEAST_RUN_FOR if plan is None else max(LEAST_RUN_FOR, RUN_TIMES * plan.seconds)


def price_of(plan: Plan, least_wei: Wei) -> Wei:
    """What is locked for a plan: its price, at least what escrow takes."""
    return max(plan.price_wei, least_wei)


def make_offer(kind: JobKind, plan: Plan | None, max_cost_wei: Wei, least_wei: Wei, terms: Terms) -> Offer:
    """Budget and times of a job.

    Args:
        kind: of the job.
        plan: a gateway's; None: nobody planned, so the budget must be said.
        max_cost_wei: most it may cost.
        least_wei: least budget that escrow takes.
        terms: what the customer said.

    Raises:
        UnavailableError: the plan names no node (no_node).
        InvalidInputError: above the most (above_max_cost), below the plan's price (below_price), or no budget (no_budget).
    """
    if plan is not None and plan.missing:
        raise UnavailableError(
            f"no node can run this now: {'; '.join(plan.missing)}",
            fix="ask for less in `placement` or `resources`, or try again later",
            code="no_node",
            retry_after=60,
        )
    price = None if plan is None else price_of(plan, least_wei)
    budget = price if terms.budget_wei is None else terms.budget_wei
    if budget is None:
        raise InvalidInputError(
            "nobody planned this job, so its budget must be said",
            fix="give --budget, or --gateway-url for a plan",
            code="no_budget",
        )
    if max(budget, price or 0) > max_cost_wei:
        raise InvalidInputError(
            f"the job costs {_swm(max(budget, price or 0))}, more than the {_swm(max_cost_wei)} allowed; nothing was sent",
            fix="raise --max-cost, or ask for less work",
            code="above_max_cost",
            values={"costWei": str(max(budget, price or 0)), "maxCostWei": str(max_cost_wei)},
        )
    if price is not None and budget < price:
        raise InvalidInputError(
            f"a budget of {_swm(budget)} is below the planned price of {_swm(price)}: no node would take it",
            fix="leave --budget out, or raise it",
            code="below_price",
            values={"budgetWei": str(budget), "priceWei": str(price)},
        )
    run_for = run_for_of(plan) if terms.run_for is None else terms.run_for
    return Offer(kind=kind, budget_wei=budget, accept_for=terms.accept_for, run_for=run_for)


def _swm(amount: int) -> str:
    return f"{format_swm(Wei(amount))} SWM"

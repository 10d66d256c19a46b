"""What comes back when, as JobEscrow enforces it: a budget leaves whole, to one side. Pure.

Source: contracts/src/JobEscrow.sol.
"""

from swarm_chain.client.model import Offer, Refund
from swarm_chain.core.units import Wei


def refund_table(offer: Offer, judge_for: int) -> tuple[Refund, ...]:
    """Every way a job can end.

    Args:
        offer: budget and times.
        judge_for: seconds members have to judge a completed job.
    """
    everything, nothing = offer.budget_wei, Wei(0)
    return (
        Refund(
            case="no node accepts it",
            when=f"at once when you cancel; {offer.accept_for} s to accept",
            returned_wei=everything,
        ),
        Refund(case="its node does not finish", when=f"{offer.run_for} s after it accepted", returned_wei=everything),
        Refund(case="it is not judged", when=f"{judge_for} s after it was completed", returned_wei=everything),
        Refund(
            case="the work is found wrong, missing or failed",
            when="when the report is settled",
            returned_wei=everything,
        ),
        Refund(case="the work is found right", when="when the report is settled", returned_wei=nothing),
    )

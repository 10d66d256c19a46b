"""Judges one member's probe of a serving endpoint: the largest rate it answers rightly, in time and without too many errors.

    rungs, lowest rate first --wrong answer anywhere? nothing--> in level? --> knee: the last rung before the first that is not

Times are one member's own, so what fails only withholds reward. Source: docs/spec/serving.md "Verdict".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from swarm_chain.core.economics import ServiceLevel
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.probing import Rung, RungFigures, rung_figures
from swarm_chain.core.serving import ServingParams
from swarm_chain.core.units import BPS, Bps


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerFigures:
    """What gateways report, signed, of customers' requests to a node in an epoch; times in us."""

    requests: int
    errors: int
    p50_us: int
    p95_us: int

    @property
    def error_bps(self) -> Bps:
        """Failed requests, rounded up."""
        return Bps(-(-self.errors * BPS // max(self.requests, 1)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingCase:
    """A probe as far as it came: the claimed rate, its rungs from the lowest rate up, and what customers saw, if known."""

    claim: int
    rungs: tuple[Rung, ...]
    customers: CustomerFigures | None = None

    def __post_init__(self) -> None:
        rates = [rung.rate for rung in self.rungs]
        if rates != sorted(set(rates)) or not all(rung.samples for rung in self.rungs):
            raise InvalidInputError("rungs must ascend, each with samples", fix="give what the prober measured")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingFinding:
    """What one member found: requests/s proven, and how it was served at the lowest rung, us; None: not measured.

    `reason` is "" for a proven claim, else what ended the ladder.
    """

    outcome: Outcome
    reason: str = ""
    units: int = 0
    error_bps: Bps | None = None
    p50_us: int | None = None
    p95_us: int | None = None
    p99_us: int | None = None
    ttft_us: int | None = None


def rung_fault(rung: Rung, level: ServiceLevel, params: ServingParams) -> str:
    """Say what keeps a rung from counting.

    Args:
        rung: all of its samples.
        level: most errors, bps, and longest p95, us; 0 is no such level.
        params: how late the prober itself may be.

    Returns:
        "" if nothing; "wrong_answer", "prober_late" (the member's own fault), "no_answer", "errors" or "slow".
    """
    figures = rung_figures(rung)
    faults = {
        "wrong_answer": any(one.is_wrong for one in rung.samples),
        "prober_late": figures.lag_us > params.lag_us,
        "no_answer": figures.errors == figures.requests,
        "errors": figures.errors * BPS > level.error_bps * figures.requests,
        "slow": 0 < level.response_us < figures.p95_us,
    }
    return next((name for name, holds in faults.items() if holds), "")


def judge_serving(case: ServingCase, level: ServiceLevel, params: ServingParams) -> ServingFinding | None:
    """Judge a probe.

    Args:
        case: rungs, at least one, and what customers saw.
        level: the service level of serving.
        params: the prober's own bounds, and how much slower than probes customers may be.

    Returns:
        The finding, or None where the member could not measure even the lowest rung. Units are the rate of the last rung before
        the first with a fault, at most the claim.

    Raises:
        InvalidInputError: there is no rung.
    """
    if not case.rungs:
        raise InvalidInputError("nothing was measured", fix="probe at least the lowest rung")
    faults = [rung_fault(rung, level, params) for rung in case.rungs]
    if "wrong_answer" in faults:
        return ServingFinding(outcome=Outcome.FAILED, reason="wrong_answer")
    if faults[0] == "prober_late":
        return None
    good = [rung for rung, _ in takewhile(lambda pair: not pair[1], zip(case.rungs, faults, strict=True))]
    reason = next(filter(None, faults), "")
    found = _measured(good, case, rung_figures(case.rungs[0]), reason)
    return _bounded(found, case.customers, level, params)


def _measured(good: Sequence[Rung], case: ServingCase, lowest: RungFigures, reason: str) -> ServingFinding:
    counted = [rung_figures(rung) for rung in good] or [lowest]
    requests, errors = sum(one.requests for one in counted), sum(one.errors for one in counted)
    units = min(good[-1].rate, case.claim) if good else 0
    return ServingFinding(
        outcome=_outcome(units, reason),
        reason=reason,
        units=units,
        error_bps=Bps(-(-errors * BPS // requests)),
        p50_us=lowest.p50_us,
        p95_us=lowest.p95_us,
        p99_us=lowest.p99_us,
        ttft_us=lowest.ttft_us,
    )


def _bounded(
    found: ServingFinding, customers: CustomerFigures | None, level: ServiceLevel, params: ServingParams
) -> ServingFinding:
    """A node that serves probes better than customers is measured by its customers."""
    if customers is None or customers.requests < params.least_customers or found.p50_us is None:
        return found
    if customers.p50_us * BPS <= found.p50_us * params.customers_bps:
        return found
    served = 0 < customers.p95_us <= (level.response_us or customers.p95_us) and customers.error_bps <= level.error_bps
    units = found.units if served else 0
    return ServingFinding(
        outcome=_outcome(units, "customers_slower"),
        reason="customers_slower",
        units=units,
        error_bps=max(customers.error_bps, found.error_bps or Bps(0)),
        p50_us=customers.p50_us,
        p95_us=customers.p95_us,
        p99_us=max(customers.p95_us, found.p99_us or 0),
        ttft_us=found.ttft_us,
    )


def _outcome(units: int, reason: str) -> Outcome:
    if units:
        return Outcome.PASSED
    return Outcome.MISSING if reason == "no_answer" else Outcome.FAILED

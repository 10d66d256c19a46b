"""Times that depend on each other across contracts: none of these rules stands in a single constructor.

offence     epoch ends     report due    root active    case opened         veto over
   |------------|--------------|--------------|---- grace ----|------------------|
   |<------------------------- min_unbonding_for ------------------------------->|   stake asked back right after the offence

Source: invariants 13, 33 and 34; docs/spec/deployment.md.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarm_chain.core.errors import InvalidInputError

if TYPE_CHECKING:
    from swarm_chain.core.params import Params

MAX_CASE_FOR = 864_000  # 10 d: MAX_CASE_FOR of both courts
MAX_ACTIVATION_FOR = 604_800  # 7 d: SettlementRoots.MAX_ACTIVATION_FOR
# 40 d that the folded state keeps an absence after its end: it takes from the budget of the epochs after it until the last of
# them is reported on, and nothing older is ever asked for (core.maintenance).
ANNOUNCED_FOR = 3_456_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRule:
    """`name` must last at least as long as the parts together, seconds; each part is (name, seconds)."""

    name: str
    have_for: int
    parts: tuple[tuple[str, int], ...]

    @property
    def need_for(self) -> int:
        """Seconds the parts take together."""
        return sum(seconds for _, seconds in self.parts)

    @property
    def holds(self) -> bool:
        """Whether the time is long enough."""
        return self.have_for >= self.need_for

    @property
    def sum_text(self) -> str:
        """The parts and their sum for a person."""
        shown = " + ".join(f"{name} {seconds}" for name, seconds in self.parts)
        return f"{shown} = {self.need_for}" if len(self.parts) > 1 else shown


def window_rules(params: "Params") -> tuple[WindowRule, ...]:
    """Every rule between windows, whether it holds or not.

    Args:
        params: protocol numbers, checked or not.
    """
    stake, court = params.stake, params.court
    veto_for = max(court.veto_for, court.severe_veto_for)
    compute = params.compute_court
    report = _report(params)
    return (
        _rule("min_unbonding_for", stake.min_unbonding_for, *report, ("veto", veto_for), ("grace", stake.grace_for)),
        _rule(
            "min_unbonding_for",
            stake.min_unbonding_for,
            ("accuse", compute.accuse_for),
            ("answer and moves", compute.longest_for - compute.accuse_for),
        ),
        _rule("min_unbonding_for", stake.min_unbonding_for, ("max_offence_age_for", court.max_offence_age_for)),
        _rule("max_offence_age_for", court.max_offence_age_for, *report, ("grace", stake.grace_for)),
        _rule("stale_after_for", params.epoch.stale_after_for, *report),
        *_bounds(params),
    )


def check_windows(params: "Params") -> None:
    """Refuse windows of which one ends too early.

    Raises:
        InvalidInputError: a rule does not hold (code "windows"); `values` lists all that do not.
    """
    broken = [rule for rule in window_rules(params) if not rule.holds]
    if not broken:
        return
    texts = [f"{rule.name} is {rule.have_for} s, it must be at least {rule.sum_text} s" for rule in broken]
    raise InvalidInputError(
        f"params {params.name}: {'; '.join(texts)}",
        code="windows",
        fix=f"lengthen {broken[0].name}, or shorten what it has to outlast",
        values={"broken": texts},
    )


def _report(params: "Params") -> tuple[tuple[str, int], ...]:
    epoch = params.epoch
    return (
        ("epoch", epoch.epoch_for),
        ("report window", epoch.report_window_for),
        ("activation", epoch.activation_for),
    )


def _bounds(params: "Params") -> tuple[WindowRule, ...]:
    stake, court, epoch = params.stake, params.court, params.epoch
    return (
        _rule("unbonding_for", stake.unbonding_for, ("min_unbonding_for", stake.min_unbonding_for)),
        _rule("max_unbonding_for", stake.max_unbonding_for, ("unbonding_for", stake.unbonding_for)),
        _rule(
            "the time announcements are kept",
            ANNOUNCED_FOR,
            ("budget_epochs", params.maintenance.budget_epochs * epoch.epoch_for),
            ("report_window_for", epoch.report_window_for),
        ),
        _rule("epoch_for", epoch.epoch_for, ("report_window_for", epoch.report_window_for)),
        _rule("the longest activation", MAX_ACTIVATION_FOR, ("activation_for", epoch.activation_for)),
        _rule("the longest case", MAX_CASE_FOR, ("veto_for", court.veto_for), ("execute_for", court.execute_for)),
        _rule(
            "the longest case",
            MAX_CASE_FOR,
            ("severe_veto_for", court.severe_veto_for),
            ("severe_execute_for", court.severe_execute_for),
        ),
        _rule(
            "the longest case",
            MAX_CASE_FOR,
            ("answer and moves", params.compute_court.longest_for - params.compute_court.accuse_for),
        ),
    )


def _rule(name: str, have_for: int, *parts: tuple[str, int]) -> WindowRule:
    return WindowRule(name=name, have_for=have_for, parts=parts)

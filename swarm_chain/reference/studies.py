"""A search over parameters: its trials, and the rule that ends bad ones early. Pure, integers only.

    generation 0: trials 0 … g-1     proposed at random            none is stopped
    generation 1: trials g … 2g-1    proposed from generation 0    stopped by what generation 0 reached at the same rung
    …

The trials of a generation run side by side and know nothing of each other, so that everything about a trial follows from the
generations before its own, whichever finishes first. With one trial a generation the rule is that of Ray's ASHAScheduler.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A trial that ended: parameters by name, and its value after each rung it ran, the lower the better."""

    number: int
    parameters: Mapping[str, int]
    values: tuple[int, ...]
    stopped: bool

    def document(self) -> dict[str, object]:
        """The trial as contents state it."""
        return {
            "trial": self.number,
            "parameters": dict(self.parameters),
            "values": list(self.values),
            "stopped": self.stopped,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Halving:
    """Asynchronous successive halving by generations.

    A trial that reaches a milestone (rung 1, `reduction`, `reduction`², …) goes on if its value is within the best
    1/`reduction` of what earlier generations had there.

    Source: arXiv 1810.05934, algorithm 2; the cutoff is Ray's: the percentile with linear interpolation.
    """

    rungs: int
    reduction: int
    together: int

    def generation(self, number: int) -> int:
        """Number of the first trial of a trial's generation; those before it are what it follows from."""
        return number - number % self.together

    def milestones(self) -> Iterator[int]:
        """Rungs at which trials are stopped, ascending; the last rung ends them anyway."""
        milestone = 1
        while milestone < self.rungs:
            yield milestone
            milestone *= self.reduction

    def stops(self, earlier: Sequence[Trial], values: Sequence[int]) -> bool:
        """Tell whether a trial is stopped after its newest rung.

        Args:
            earlier: all trials of the generations before its own.
            values: of its rungs so far, at least one.
        """
        rung = len(values)
        if rung not in self.milestones():
            return False
        reached = sorted(trial.values[rung - 1] for trial in earlier if len(trial.values) >= rung)
        return bool(reached) and values[-1] * self.reduction > _cutoff(reached, self.reduction)

    def ends(self, earlier: Sequence[Trial], values: Sequence[int]) -> bool:
        """Tell whether a trial is over after its newest rung; arguments as `stops`."""
        return len(values) == self.rungs or self.stops(earlier, values)

    def is_rightly_ended(self, earlier: Sequence[Trial], trial: Trial) -> bool:
        """Tell whether a trial ran exactly as long as it had to; `earlier` as `stops`."""
        if not 1 <= len(trial.values) <= self.rungs or trial.stopped != (len(trial.values) < self.rungs):
            return False
        ends = [rung for rung in range(1, len(trial.values) + 1) if self.ends(earlier, trial.values[:rung])]
        return ends == [len(trial.values)]


def best_of(trials: Sequence[Trial]) -> Trial:
    """The trial with the lowest value among those that ran furthest; the first of equals."""
    return min(trials, key=lambda trial: (-len(trial.values), trial.values[-1], trial.number))


def _cutoff(ascending: Sequence[int], reduction: int) -> int:
    """`reduction` times the 1/`reduction` quantile of the values, exactly."""
    low, rest = divmod(len(ascending) - 1, reduction)
    above = ascending[low + 1] if rest else ascending[low]
    return ascending[low] * (reduction - rest) + above * rest

"""A measured number, or the reason why there is none: what was not measured is never zero."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from swarm_chain.core.compute import ComputeShape

HERE = "this machine"
NOBODY = "nobody"
PEERS = "drawn peers, both sign"
MEMBERS = "oracle members, median"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric of the founding pages. `value` is an integer of `unit`, or None, and then `problem` says why.

    `paid_by` is who measures it where it raises a reward: what this machine says of itself never does.
    """

    category: str
    name: str
    unit: str
    method: str
    paid_by: str = NOBODY
    value: int | None = None
    problem: str = ""

    def __post_init__(self) -> None:
        if (self.value is None) != bool(self.problem):
            raise ValueError(f"{self.name}: either a value or a reason")

    @property
    def measured_by(self) -> str:
        """Who measured the value, or would."""
        return self.paid_by if self.value is None else HERE

    def as_dict(self) -> Mapping[str, object]:
        """The metric as JSON."""
        return {
            "category": self.category,
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "method": self.method,
            "measuredBy": self.measured_by,
            "paidBy": self.paid_by,
            "problem": self.problem,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """How to measure: size and number of the compute runs, torch's device, a folder on the data path, a clock in ns."""

    shape: ComputeShape
    runs: int
    device: str
    threads: int
    folder: Path
    clock_ns: Callable[[], int]


def per_second(amount: int, elapsed_ns: int) -> int:
    """Rate of an amount, rounded down; an elapsed time of zero counts as a nanosecond."""
    return amount * 10**9 // max(elapsed_ns, 1)

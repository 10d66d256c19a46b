"""What every benchmark prints: one JSON object, the baseline measured in the same run."""

import json
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import perf_counter


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One figure. `ratio` is against `baseline`, and `goal` is what `ratio` (or, without one, `value`) should reach."""

    name: str
    value: float
    unit: str
    baseline: float | None = None
    ratio: float | None = None
    goal: float | None = None


def print_report(bench: str, results: Sequence[Result], device: str = "cpu") -> None:
    """Print the report of a benchmark to stdout.

    Args:
        bench: its name.
        results: its figures.
        device: what was measured on, if not the CPU.
    """
    rounded = [{name: _rounded(value) for name, value in asdict(result).items()} for result in results]
    print(json.dumps({"bench": bench, "machine": _machine(device), "results": rounded}, indent=1))


def seconds_of(*works: Callable[[], object], rounds: int) -> list[list[float]]:
    """Time several works in turn, so that other load on the machine hits all of them alike.

    Args:
        works: what to time.
        rounds: how often each is done.

    Returns:
        Seconds of each round, one list per work.
    """
    times: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for work, measured in zip(works, times, strict=True):
            started = perf_counter()
            work()
            measured.append(perf_counter() - started)
    return times


def typical_ratio(above: Sequence[float], below: Sequence[float]) -> float:
    """Median over rounds of above[i] / below[i]."""
    return median(a / b for a, b in zip(above, below, strict=True))


def _machine(device: str) -> dict[str, object]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
    return {"cpu": _cpu_name(), "cores": cores, "python": platform.python_version(), "device": device, "load": load}


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _rounded(value: object) -> object:
    return float(f"{value:.4g}") if isinstance(value, float) else value

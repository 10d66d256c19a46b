"""Mean error of the load forecast against the last value and a moving average, on loads of several shapes.

The horizon is that of the policy. Loads are drawn from fixed seeds: requests under way, one sample after the other.
"""

import argparse
import math
import random
from collections.abc import Callable, Sequence
from statistics import fmean

from _report import Result, print_report

from node.jobs.kinds.forecast import AHEAD, Trend, after, ahead

SAMPLES = 2000
WINDOW = 6


def day(noise: random.Random) -> list[float]:
    """Up and down in 300 samples."""
    return [20 + 18 * math.sin(number / 48) + noise.gauss(0, 1) for number in range(SAMPLES)]


def ramps(noise: random.Random) -> list[float]:
    """Campaigns: 120 samples of growth, then nothing."""
    return [(number % 120) / 3 + noise.gauss(0, 1) for number in range(SAMPLES)]


def steady(noise: random.Random) -> list[float]:
    """Nothing but noise: where a trend sees what is not there."""
    return [20 + noise.gauss(0, 2) for _ in range(SAMPLES)]


def walk(noise: random.Random) -> list[float]:
    """A random walk: no forecast beats the last value."""
    load, found = 20.0, []
    for _ in range(SAMPLES):
        load = max(0.0, load + noise.gauss(0, 1))
        found.append(load)
    return found


def by_trend(loads: Sequence[float]) -> list[float]:
    """Forecasts of the policy, one after each sample."""
    trend: Trend | None = None
    found = []
    for load in loads:
        trend = after(trend, load)
        found.append(ahead(trend, AHEAD))
    return found


def by_mean(loads: Sequence[float]) -> list[float]:
    """Moving average."""
    return [fmean(loads[max(0, end - WINDOW) : end]) for end in range(1, len(loads) + 1)]


def error(forecasts: Sequence[float], loads: Sequence[float]) -> float:
    """Mean absolute error, requests."""
    return fmean(abs(one - loads[number + AHEAD]) for number, one in enumerate(forecasts[:-AHEAD]))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    seed, results = parser.parse_args().seed, []
    shapes: tuple[Callable[[random.Random], list[float]], ...] = (day, ramps, steady, walk)
    for shape in shapes:
        loads = shape(random.Random(seed))
        ours, last, mean = error(by_trend(loads), loads), error(loads, loads), error(by_mean(loads), loads)
        for name, baseline in (("last value", last), ("moving average", mean)):
            results.append(
                Result(
                    name=f"{shape.__name__}, over {name}",
                    value=ours,
                    unit="requests",
                    baseline=baseline,
                    ratio=ours / baseline,
                )
            )
    print_report("forecast", results)


if __name__ == "__main__":
    main()

"""How many replicas the load that is coming wants: Holt's damped linear trend over the arrival history. Pure.

requests under way --a sample every SAMPLE_S--> level and slope --AHEAD samples on--> load --/ target--> replicas

Source: Gardner & McKenzie, Forecasting trends in time series, Management Science 31 (1985); bench/forecast.py compares it with
the last value and a moving average.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

SAMPLE_S: Final = 10.0  # Ray's own replicas and handles tell their load as often
AHEAD: Final = 2  # samples: one is old when it is seen, and a replica with torch in it needs some six seconds to start
LEVEL_WEIGHT: Final = 0.4
SLOPE_WEIGHT: Final = 0.2
DAMPING: Final = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """Where the load is and how much it grows from sample to sample; requests under way."""

    level: float
    slope: float


def after(trend: Trend | None, load: float) -> Trend:
    """The trend once another sample is known.

    Args:
        trend: before it; None before the first.
        load: the sample.
    """
    if trend is None:
        return Trend(level=load, slope=0.0)
    expected = trend.level + DAMPING * trend.slope
    level = expected + LEVEL_WEIGHT * (load - expected)
    slope = DAMPING * trend.slope + SLOPE_WEIGHT * (level - trend.level - DAMPING * trend.slope)
    return Trend(level=level, slope=slope)


def ahead(trend: Trend, samples: int) -> float:
    """Load expected so many samples later; never below zero."""
    damped = sum(DAMPING**step for step in range(1, samples + 1))
    return max(0.0, trend.level + damped * trend.slope)


def replicas_ahead(context: Any) -> tuple[float, Mapping[str, float]]:
    """A policy of Ray Serve's autoscaling: replicas for the load that is coming, never fewer than for the one that is here.

    Ray keeps to the deployment's bounds and delays by itself.

    Args:
        context: Ray Serve's AutoscalingContext; `policy_state` is what the last call gave.

    Returns:
        Replicas wanted, and the state for the next call.
    """
    load, now, state = float(context.total_num_requests), float(context.current_time), context.policy_state
    known = Trend(level=state["level"], slope=state["slope"]) if "level" in state else None
    if known is None or now - state["at"] >= SAMPLE_S:
        known, state = after(known, load), {"at": now}
    wanted = max(load, ahead(known, AHEAD)) / context.config.target_ongoing_requests
    return wanted, {"level": known.level, "slope": known.slope, "at": state["at"]}

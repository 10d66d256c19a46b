"""What the members' observations say together: medians and majorities, so that no single member decides.

Of two middle values the one that favours the node is taken.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from oracle.economy import Service
from oracle.judge.liveness import availability_bps, is_measured
from oracle.model import JobFinding, Measurement, Observation
from swarm_chain.core.kinds import Category, Outcome
from swarm_chain.core.params import EpochParams, LivenessParams
from swarm_chain.core.units import Address, Bps, JobId, WindowId

ArrivalKey = tuple[WindowId, Address, int]
ServiceKey = tuple[Category, Address]
Number = TypeVar("Number", bound=int)


def median_elapsed(observations: Sequence[Observation]) -> dict[ArrivalKey, int]:
    """Give the median time from opening to commitment of every device.

    A member that did not get the commitment counts as "never", so a device that most members did not hear has no entry.

    Args:
        observations: one a member.

    Returns:
        Milliseconds by (window, node, device); the lower median where their number is even.
    """
    heard: dict[ArrivalKey, list[int]] = {}
    for observation in observations:
        for arrival in observation.arrivals:
            heard.setdefault((arrival.window_id, arrival.node, arrival.device), []).append(arrival.elapsed_ms)
    middle = (len(observations) - 1) // 2
    return {key: sorted(times)[middle] for key, times in heard.items() if len(times) > middle}


def median_availability(
    observations: Iterable[Observation], epoch: EpochParams, liveness: LivenessParams
) -> dict[Address, Bps]:
    """Give the median availability of every measured node.

    Args:
        observations: one a member.
        epoch: length of an epoch.
        liveness: seconds between roll calls; a member that called too rarely has no say.

    Returns:
        bps by node; the upper median where their number is even; no entry for a node nobody measured.
    """
    measured: dict[Address, list[Bps]] = {}
    for observation in observations:
        for call in observation.roll_calls:
            if is_measured(call.total, epoch, liveness):
                measured.setdefault(call.node, []).append(availability_bps(call.present, call.total))
    return {node: sorted(shares)[len(shares) // 2] for node, shares in measured.items()}


def proven_units(observations: Sequence[Observation]) -> dict[Category, dict[Address, int]]:
    """Give the median of the units every node proved in each category.

    A member to which a node proved nothing counts as zero: units are paid for, and fewer than half of the members cannot
    make any up.

    Args:
        observations: one a member.

    Returns:
        Units by category and node; the upper median where the number of members is even.
    """
    proven: dict[Category, dict[Address, int]] = {}
    for (category, node), ones in _measurements(observations).items():
        units = [0] * len(observations)
        for place, one in enumerate(ones):
            units[place] = one.units or 0
        median = sorted(units)[len(units) // 2]
        if median:
            proven.setdefault(category, {})[node] = median
    return proven


def median_services(observations: Sequence[Observation]) -> dict[ServiceKey, Service]:
    """Give how every node served in each category: the median of every figure.

    A number that fewer than half of the members measured is not measured at all: it lowers and raises nothing.

    Args:
        observations: one a member.

    Returns:
        By category and node; lower medians of what is better low, upper of what is better high. No entry where nothing was
        measured.
    """
    found = {
        key: Service(
            error_bps=_lower([one.service.error_bps for one in ones], len(observations)),
            response_us=_lower([one.service.response_us for one in ones], len(observations)),
            rating=_upper([one.service.rating for one in ones], len(observations)),
            far_response_us=_lower([one.service.far_response_us for one in ones], len(observations)),
            jitter_us=_lower([one.service.jitter_us for one in ones], len(observations)),
            rate=_upper([one.service.rate for one in ones], len(observations)),
            utilisation_bps=_upper([one.service.utilisation_bps for one in ones], len(observations)),
        )
        for key, ones in _measurements(observations).items()
    }
    return {key: service for key, service in found.items() if service != Service()}


def _measurements(observations: Sequence[Observation]) -> Mapping[ServiceKey, list[Measurement]]:
    found: defaultdict[ServiceKey, list[Measurement]] = defaultdict(list)
    for observation in observations:
        for one in observation.measurements:
            found[one.category, one.node].append(one)
    return found


def _lower(numbers: Iterable[Number | None], members: int) -> Number | None:
    known = sorted(number for number in numbers if number is not None)
    return known[(len(known) - 1) // 2] if 2 * len(known) >= members and known else None


def _upper(numbers: Iterable[Number | None], members: int) -> Number | None:
    known = sorted(number for number in numbers if number is not None)
    return known[len(known) // 2] if 2 * len(known) >= members and known else None


def agreed_jobs(observations: Sequence[Observation]) -> dict[JobId, JobFinding]:
    """Give the finding on every job that more than half of the members share; the others stay open.

    Args:
        observations: one a member.

    Returns:
        Findings by job, with the reason most of them gave (the first in the alphabet where reasons tie).
    """
    votes: dict[JobId, list[JobFinding]] = {}
    for observation in observations:
        for finding in observation.jobs:
            votes.setdefault(finding.job_id, []).append(finding)
    agreed: dict[JobId, JobFinding] = {}
    for job_id, findings in votes.items():
        outcome, count = Counter(finding.outcome for finding in findings).most_common(1)[0]
        if 2 * count > len(observations) and outcome is not Outcome.MISSING:
            reasons = Counter(sorted(finding.reason for finding in findings if finding.outcome is outcome))
            agreed[job_id] = JobFinding(job_id=job_id, outcome=outcome, reason=reasons.most_common(1)[0][0])
    return agreed

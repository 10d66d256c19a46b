"""What the members' observations say together: medians and majorities, so that no single member decides.

Of two middle values the one that favours the node is taken.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from oracle.judge.liveness import availability_bps, is_measured
from oracle.model import JobFinding, Observation
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.params import EpochParams, LivenessParams
from swarm_chain.core.units import Address, Bps, JobId, WindowId

ArrivalKey = tuple[WindowId, Address, int]


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

"""Availability of nodes from roll calls: how often a member, asking at fixed intervals, had a fresh heartbeat.

A roll call is taken every `roll_call_for` seconds; a node is present if its last heartbeat is at most `grace_for` old.
"""

from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.params import EpochParams, LivenessParams
from swarm_chain.core.units import BPS, Bps

# A member that called the roll less than a quarter of the time was itself away and cannot accuse anyone of absence.
LEAST_CALLED_BPS = 2500


def is_present(silent_ms: int, liveness: LivenessParams) -> bool:
    """Tell whether a node counts as present.

    Args:
        silent_ms: milliseconds of the member's own clock since the node's last heartbeat, >= 0.
        liveness: grace, in seconds.
    """
    return silent_ms <= liveness.grace_for * 1000


def availability_bps(present: int, total: int) -> Bps:
    """Give the share of roll calls a node answered, rounded up: a fraction of a bps is not worth a penalty.

    Args:
        present: roll calls it answered, 0 to `total`.
        total: roll calls taken, > 0.

    Raises:
        InvalidInputError: the counts make no sense.
    """
    if not 0 <= present <= total or total == 0:
        raise InvalidInputError(f"{present} of {total} roll calls is no availability", fix="count present up to total")
    return Bps(-(-present * BPS // total))


def is_measured(total: int, epoch: EpochParams, liveness: LivenessParams) -> bool:
    """Tell whether a member called the roll often enough to hold an absence against a node.

    Args:
        total: roll calls the member took for the node in the epoch.
        epoch: length of an epoch.
        liveness: seconds between two roll calls.
    """
    due = epoch.epoch_for // liveness.roll_call_for
    return total > 0 and total * BPS >= due * LEAST_CALLED_BPS

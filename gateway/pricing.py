"""What a job is estimated to take and to cost. Pure: integers, rounded up, so that no node is paid short.

device-seconds = units x ms per unit of the same program before, else UNIT_MS for every device the spec asks for
price          = device-seconds x node's price x (1 + fee), at least the escrow's smallest budget
"""

from collections.abc import Sequence
from typing import Final

from gateway.model import Terms
from swarm_chain.core.gateway import BPS
from swarm_chain.core.jobs import Resources
from swarm_chain.core.units import Wei

UNIT_MS: Final = 1000  # of a program nobody has finished here: a second a unit and device
HISTORY: Final = 101  # latest finished jobs of a program that count


def device_seconds(resources: Resources, units: int, history: Sequence[int]) -> int:
    """Device-seconds a job is estimated to take, at least 1.

    Args:
        resources: of the spec.
        units: of its program.
        history: device-milliseconds per unit of finished jobs of the same program; may be empty.
    """
    devices = resources.workers * max(1, resources.gpus)
    per_unit = median(history) if history else UNIT_MS * devices
    return max(1, -(-units * per_unit // 1000))


def job_price(seconds: int, price_wei: Wei, terms: Terms) -> Wei:
    """What a job costs on a node, wei.

    Args:
        seconds: device-seconds it is estimated to take.
        price_wei: the node's, for one device-second.
        terms: the gateway's.
    """
    with_fee = -(-seconds * price_wei * (BPS + terms.fee_bps) // BPS)
    return Wei(max(with_fee, terms.min_price_wei))


def median(values: Sequence[int]) -> int:
    """Middle of at least one value; of two in the middle the larger."""
    return sorted(values)[len(values) // 2]

"""Announced maintenance as settlement needs it: the part of an epoch by node (economics.md, Maintenance)."""

from collections.abc import Iterable

from oracle.model import Network
from swarm_chain.core.maintenance import excused_seconds
from swarm_chain.core.model import Announcement
from swarm_chain.core.units import BPS, Address, Bps, EpochNumber


def maintenance_bps(announcements: Iterable[Announcement], epoch: EpochNumber, network: Network) -> dict[Address, Bps]:
    """Give the part of an epoch that each node announced to be away and may be.

    Args:
        announcements: all of this network, in any order, such as a chain's state holds them; what lies after the epoch
            changes nothing.
        epoch: the one that is settled.
        network: epochs and params.

    Returns:
        Bps of the epoch by node, rounded up in its favour, for `EpochFacts.maintenance`; no entry is none.
    """
    by_node: dict[Address, list[Announcement]] = {}
    for one in announcements:
        by_node.setdefault(one.node, []).append(one)
    length, excused = network.params.epoch.epoch_for, {}
    for node, own in by_node.items():
        (seconds,) = excused_seconds(own, [epoch], network.genesis_at, network.params)
        if seconds:
            excused[node] = Bps(-(-seconds * BPS // length))
    return excused

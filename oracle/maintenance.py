"""Announced maintenance: how much of an epoch a node is excused for, within its budget (economics.md, Slashing).

announcements --notice, union--> announced seconds by epoch --budget over the epochs before--> bps of one epoch excused
"""

from collections.abc import Iterable, Mapping

from oracle.economy import Announcement
from oracle.model import Network
from swarm_chain.core.units import BPS, Address, Bps, EpochNumber

Span = tuple[int, int]


def maintenance_bps(announcements: Iterable[Announcement], epoch: EpochNumber, network: Network) -> dict[Address, Bps]:
    """Give the part of an epoch that each node announced to be away and may be.

    An announcement excuses from `notice_for` after it was made on, and no longer than the whole budget; announcements
    that overlap count once. In any `budget_epochs` epochs in a row a node is excused for `budget_for` seconds, first come
    first served, so that more announcements never excuse more than the budget.

    Args:
        announcements: all of this network, in any order; what lies after the epoch changes nothing.
        epoch: the one that is settled.
        network: epochs and params.

    Returns:
        Bps of the epoch by node, rounded up in its favour, for `EpochFacts.maintenance`; no entry is none.
    """
    spans: dict[Address, list[Span]] = {}
    for one in announcements:
        span = _counted(one, epoch, network)
        if span[0] < span[1]:
            spans.setdefault(one.node, []).append(span)
    excused = {node: _granted(_by_epoch(_union(held), network), epoch, network) for node, held in spans.items()}
    length = network.params.epoch.epoch_for
    return {node: Bps(-(-seconds * BPS // length)) for node, seconds in excused.items() if seconds}


def _counted(one: Announcement, epoch: EpochNumber, network: Network) -> Span:
    limits = network.params.maintenance
    start = max(one.starts_at, one.announced_at + limits.notice_for, network.genesis_at)
    return start, min(one.ends_at, start + limits.budget_for, network.epoch_end(epoch))


def _union(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def _by_epoch(spans: Iterable[Span], network: Network) -> dict[int, int]:
    seconds: dict[int, int] = {}
    for start, end in spans:
        for epoch in range(network.epoch_at(start), network.epoch_at(end - 1) + 1):
            inside = min(end, network.epoch_end(epoch)) - max(start, network.epoch_start(epoch))
            seconds[epoch] = seconds.get(epoch, 0) + inside
    return seconds


def _granted(announced: Mapping[int, int], epoch: EpochNumber, network: Network) -> int:
    limits = network.params.maintenance
    granted: dict[int, int] = {}
    for number in sorted(announced):
        used = sum(granted.get(earlier, 0) for earlier in range(number - limits.budget_epochs + 1, number))
        granted[number] = min(announced[number], limits.budget_for - used)
    return granted.get(epoch, 0)

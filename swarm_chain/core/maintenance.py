"""What announced absence excuses, within a node's budget: the one rule for the oracle that settles and the node that announces.

one node's announcements --notice, union--> announced seconds by epoch --less the budget that is spoken for--> seconds excused
"""

from collections.abc import Iterable

from swarm_chain.core.model import Announcement
from swarm_chain.core.params import Params
from swarm_chain.core.units import Timestamp

Span = tuple[int, int]


def excused_seconds(
    announcements: Iterable[Announcement], epochs: Iterable[int], genesis_at: Timestamp, params: Params
) -> tuple[int, ...]:
    """Give the seconds of each epoch that a node announced to be away and is excused for.

    An announcement excuses from `notice_for` after it was made on, and no longer than the whole budget; seconds that are
    announced twice count once. An epoch is excused for what the epochs before it left of the budget: `budget_for` seconds
    in any `budget_epochs` epochs in a row, first come first served. What was announced counts, used or not, so that an
    epoch follows from the announcements that reach into its own `budget_epochs` alone, and nothing older must be kept.

    Args:
        announcements: of one node, in any order; what lies after an epoch changes nothing in it.
        epochs: the numbers asked for.
        genesis_at: start of epoch 0, unix s.
        params: lengths of epoch, notice and budget, seconds.

    Returns:
        One number for each of `epochs`, from 0 to the length of an epoch.

    Source: economics.md, Maintenance; invariant 42.
    """
    limits, length = params.maintenance, params.epoch.epoch_for
    spans = _union(_excusable(one, genesis_at, params) for one in announcements)

    def announced(epoch: int) -> int:
        first = genesis_at + epoch * length
        return sum(max(min(end, first + length) - max(start, first), 0) for start, end in spans)

    def excused(epoch: int) -> int:
        used = sum(announced(earlier) for earlier in range(max(epoch - limits.budget_epochs + 1, 0), epoch))
        return min(announced(epoch), max(limits.budget_for - used, 0))

    return tuple(excused(epoch) for epoch in epochs)


def _excusable(one: Announcement, genesis_at: Timestamp, params: Params) -> Span:
    limits = params.maintenance
    start = max(one.starts_at, one.announced_at + limits.notice_for, genesis_at)
    return start, min(one.ends_at, start + limits.budget_for)


def _union(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged

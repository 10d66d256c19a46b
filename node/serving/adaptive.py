"""How many requests are decoded side by side at most, by what the last batch took. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPace:
    """Bounds of the lid on a batch, and how long one may take, ms: whoever comes meanwhile waits as long again."""

    most: int
    batch_ms: int


def next_lid(lid: int, taken: int, took_ms: int, pace: BatchPace) -> int:
    """Lid on the next batch: half as much again after a full batch in time, a quarter less after one that took too long.

    Args:
        lid: of the last batch, >= 1.
        taken: requests that were in it.
        took_ms: how long it took.
        pace: bounds.

    Returns:
        1 to `most`. A batch that was not full says nothing about a larger one and leaves the lid as it is.
    """
    if took_ms > pace.batch_ms:
        return max(1, min(lid, taken) * 3 // 4)
    return min(pace.most, lid + max(1, lid // 2)) if taken >= lid else lid

"""Protocol numbers of the memory set, and the question they fix for a claimed size.

Source: docs/spec/memory.md "Numbers".
"""

from dataclasses import dataclass

from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.memory import MAX_ITEMS, MemoryShape, items_of
from swarm_chain.core.units import BPS, Bps

_CACHE_SHARE = 4  # the least dataset is at least so many caches: else the cache alone would be most of what is shown


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryParams:
    """Sizes, claims and times of the memory set."""

    cache_rows: int
    generations: int
    mixes: int
    lanes: int
    least_reads: int
    draws: int
    least_mib: int
    most_mib: int
    share_bps: Bps
    answer_ms: int
    ask_for: int


def planned_shape(params: MemoryParams, claimed_mib: int) -> MemoryShape:
    """Give the question for a device of a claimed size.

    Args:
        params: the preset's numbers.
        claimed_mib: memory the device is registered with, MiB.

    Returns:
        The shape; its items fill `share_bps` of the claim, rounded down.

    Raises:
        InvalidInputError: a claim outside [least_mib, most_mib] (code "claim").
    """
    if not params.least_mib <= claimed_mib <= params.most_mib:
        raise InvalidInputError(
            f"{claimed_mib} MiB of device memory cannot be claimed",
            code="claim",
            fix=f"claim from {params.least_mib} to {params.most_mib} MiB",
        )
    return MemoryShape(
        cache_rows=params.cache_rows,
        generations=params.generations,
        mixes=params.mixes,
        items=items_of(claimed_mib, params.share_bps),
        lanes=params.lanes,
        least_reads=params.least_reads,
    )


def memory_rules(memory: MemoryParams) -> dict[str, bool]:
    """Give what must hold between the numbers, and whether it does."""
    least, most = items_of(memory.least_mib, memory.share_bps), items_of(memory.most_mib, memory.share_bps)
    return {
        "cache rows and lanes of the memory set must be powers of two": _is_power(memory.cache_rows)
        and _is_power(memory.lanes),
        "generations, mixes and reads of the memory set must be positive": min(
            memory.generations, memory.mixes, memory.least_reads
        )
        > 0,
        "at least one lane is drawn, at most all": 0 < memory.draws <= memory.lanes,
        "a dataset takes nothing, or more than what is claimed": 0 < memory.share_bps <= BPS,
        f"the least dataset is {_CACHE_SHARE} caches, and claims ascend": _CACHE_SHARE * memory.cache_rows
        <= least
        <= most
        <= MAX_ITEMS,
        "an answer about memory needs time": min(memory.ask_for, memory.answer_ms) > 0,
    }


def _is_power(value: int) -> bool:
    return value > 1 and value & (value - 1) == 0

"""What a Ray worker does for one device: it proves its backend once, then answers challenges with it."""

from collections.abc import Sequence
from functools import lru_cache
from time import perf_counter_ns

import structlog

from node.prove import checked_heads
from swarm_chain.core.compute import ComputeChallenge
from swarm_chain.core.rowchain import Compute
from swarm_chain.reference.backends import candidates, choose

log = structlog.get_logger()


def run_challenge(challenge: ComputeChallenge, device: str, threads: int, check_rows: Sequence[int]) -> bytes:
    """Compute the heads of a challenge in this process.

    Args:
        challenge: what to compute.
        device: torch device string as this process sees it.
        threads: CPU threads to use.
        check_rows: rows to recompute on the reference, each in [0, m).

    Returns:
        m · 64 bytes in row order.

    Raises:
        InconsistentError: no backend knows its answers, or the one in use computed a row wrongly.
    """
    return checked_heads(challenge, backend(device, threads), check_rows)


def backend_name(device: str, threads: int) -> str:
    """Name of the backend this process uses for a device; the first call examines the candidates."""
    return backend(device, threads).name


@lru_cache
def backend(device: str, threads: int) -> Compute:
    """Backend this process uses for a device: chosen at its first challenge, kept for its life.

    Args:
        device: torch device string as this process sees it.
        threads: CPU threads to use.

    Returns:
        The fastest backend that gave the known answers.

    Raises:
        InconsistentError: none did.
    """
    choice = choose(candidates(device, threads), perf_counter_ns)
    for one in choice.rejected:
        log.error(
            "compute_backend_rejected", backend=one.name, reason=one.reason, used=choice.compute.name, device=device
        )
    return choice.compute

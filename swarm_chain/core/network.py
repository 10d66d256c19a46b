"""Protocol numbers of the network category, and what they fix for a claimed bandwidth.

Source: docs/spec/network.md "Numbers".
"""

from dataclasses import dataclass

from swarm_chain.core.errors import InvalidInputError

BLOCK_BYTES = (
    16_384  # of a payload: some thousand a second, so that drawing their order costs nothing beside sending them
)
LEAST_BLOCKS = 32  # of the smallest payload: 32! orders cannot be guessed

_BYTES_PER_MBPS_MS = 125  # 10^6 bit/s for a millisecond
_BITS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkParams:
    """Sizes, claims and times of bandwidth audits."""

    target_ms: int
    limit_ms: int
    least_mbps: int
    most_mbps: int
    at_once: int
    ask_for: int


def payload_blocks(params: NetworkParams, claimed_mbps: int) -> int:
    """Give the size of the payload for a claim: what a line of that speed moves in `target_ms`, in blocks, rounded up.

    Args:
        params: the preset's numbers.
        claimed_mbps: 10^6 bit/s in both directions.

    Raises:
        InvalidInputError: a claim outside [least_mbps, most_mbps] (code "claim").
    """
    if not params.least_mbps <= claimed_mbps <= params.most_mbps:
        raise InvalidInputError(
            f"a bandwidth of {claimed_mbps} Mbit/s cannot be claimed",
            code="claim",
            fix=f"claim from {params.least_mbps} to {params.most_mbps} Mbit/s",
        )
    return -(-claimed_mbps * params.target_ms * _BYTES_PER_MBPS_MS // BLOCK_BYTES)


def rate_mbps(size: int, elapsed_ms: int) -> int:
    """Give 10^6 bit/s, rounded down: a fraction of one is not paid.

    Args:
        size: bytes moved.
        elapsed_ms: how long it took; less than a millisecond counts as one.
    """
    return size * _BITS // (max(elapsed_ms, 1) * 1000)


def network_rules(network: NetworkParams, open_for: int) -> dict[str, bool]:
    """Give what must hold between the numbers, and whether it does.

    Args:
        network: the numbers.
        open_for: seconds after a window's close within which everything about it is over.
    """
    return {
        "a claim of bandwidth ascends, and its least payload has an order that cannot be guessed": 0
        < network.least_mbps
        <= network.most_mbps
        and network.least_mbps * network.target_ms * _BYTES_PER_MBPS_MS >= LEAST_BLOCKS * BLOCK_BYTES,
        "a payload needs time, and is given more than it should take": 0 < network.target_ms < network.limit_ms,
        "somebody must be audited at a time": network.at_once > 0,
        "an audit of bandwidth ends while its window still counts": 0
        < network.ask_for * 1000 + 2 * network.limit_ms
        <= open_for * 1000,
    }

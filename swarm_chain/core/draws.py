"""Drawing without replacement: what is opened or replayed is drawn from randomness made after the answer was fixed.

Source: compute-proof.md, section Bytes; docs/spec/memory.md; docs/spec/protocol.md "Drawing of job segments".
"""

from swarm_chain.core.checks import check_range
from swarm_chain.core.encoding import keccak, words


def draw_distinct(what: str, prefix: bytes, count: int, size: int) -> tuple[int, ...]:
    """Draw distinct numbers: keccak256(prefix ‖ uint256 counter) mod size for counter 0, 1, …, repeats passed over.

    Args:
        what: is drawn, in the plural, for the error.
        prefix: whole 32-byte words that bind the draw to its seed and to what was answered.
        count: how many, 1 <= count <= size.
        size: how many numbers there are, > 0.

    Returns:
        `count` distinct numbers in draw order, each in [0, size).

    Raises:
        InvalidInputError: more are drawn than there are, or none.
    """
    check_range(f"number of drawn {what}", count, 1, size)
    drawn: dict[int, None] = {}
    counter = 0
    while len(drawn) < count:
        drawn[int.from_bytes(keccak(prefix + words(counter)), "big") % size] = None
        counter += 1
    return tuple(drawn)

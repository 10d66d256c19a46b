"""The chain's state at any block, read in portions that public endpoints answer."""

from swarm_chain.core.model import BlockRef, ChainState
from swarm_chain.core.state import advance
from swarm_chain.core.units import BlockNumber
from swarm_chain.ports import ChainReader

CHUNK = 2_000  # blocks a range request asks for; public endpoints refuse more


def before(reader: ChainReader, first_block: BlockNumber) -> ChainState:
    """The empty state before the first block of a deployment.

    Raises:
        UnavailableError: no endpoint answers.
    """
    return ChainState(block=reader.block(max(first_block - 1, 0)))


def advance_to(reader: ChainReader, state: ChainState, block: BlockRef) -> ChainState:
    """State at a later block.

    Args:
        reader: the chain.
        state: state at an earlier block, or at this one.
        block: the later block.

    Raises:
        UnavailableError: no endpoint answers.
        InconsistentError: the events do not fit together.
    """
    while state.block.number < block.number:
        last = min(state.block.number + CHUNK, block.number)
        at = block if last == block.number else reader.block(last)
        state = advance(state, reader.events(state.block.number + 1, last), at)
    return state

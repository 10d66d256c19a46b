"""The chain's state as settlement sees it, folded from its events.

    events of blocks (a, b]  +  state at a  --advance-->  state at b          fold = advance from nothing

What each event changes stands in `transitions`.
"""

from collections.abc import Iterable
from dataclasses import replace

from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.kinds import WindowState
from swarm_chain.core.model import Announcement, BlockRef, ChainEvent, ChainState, WindowRecord
from swarm_chain.core.transitions import STEPS, Draft, payout_in_force
from swarm_chain.core.units import ZERO_HASH, Address, BlockNumber, Timestamp
from swarm_chain.core.windows import ANNOUNCED_FOR

# Blocks after closing within which a window can be drawn (ChallengeBeacon.DRAW_WINDOW).
DRAW_WINDOW = 256

_BEFORE_ALL = BlockRef(number=BlockNumber(-1), hash=ZERO_HASH, timestamp=Timestamp(0))


def fold(events: Iterable[ChainEvent], block: BlockRef) -> ChainState:
    """State at a block from all events up to it.

    Args:
        events: every event since the deployment, in chain order; those that do not matter here are skipped.
        block: the block the state is meant for.

    Returns:
        The state at the end of the block.

    Raises:
        InconsistentError: events out of order, beyond the block, or about something that was never created.
    """
    return advance(ChainState(block=_BEFORE_ALL), events, block)


def advance(state: ChainState, events: Iterable[ChainEvent], block: BlockRef) -> ChainState:
    """State at a later block.

    Args:
        state: state at an earlier block.
        events: every event of the blocks after `state.block` up to `block`, in chain order.
        block: the later block; its number and timestamp decide which windows are void and which payouts are in force.

    Returns:
        The state at the end of `block`; `state` is unchanged.

    Raises:
        InconsistentError: as in `fold`, or `block` is not later.
    """
    if block.number < state.block.number:
        raise InconsistentError(f"block {block.number} is before the state's block {state.block.number}")
    draft = Draft(
        providers={provider.provider_id: provider for provider in state.providers},
        windows={window.window_id: window for window in state.windows},
        jobs={job.job_id: job for job in state.jobs},
        roots={root.index: root for root in state.roots},
        members=list(state.members),
        quorum=state.quorum,
        announcements=_by_node(state.announcements),
    )
    last = (state.block.number, 2**63)
    for event in events:
        if not last < (event.block, event.log_index) or event.block > block.number:
            raise InconsistentError(f"{event.contract}.{event.name} in block {event.block} is out of order")
        last = (event.block, event.log_index)
        step = STEPS.get((event.contract, event.name))
        if step is not None:
            step(draft, event)
    return _close(draft, block)


def _close(draft: Draft, block: BlockRef) -> ChainState:
    return ChainState(
        block=block,
        providers=tuple(payout_in_force(draft.providers[key], block.timestamp) for key in sorted(draft.providers)),
        windows=tuple(_void_if_missed(draft.windows[key], block.number) for key in sorted(draft.windows)),
        jobs=tuple(draft.jobs[key] for key in sorted(draft.jobs)),
        roots=tuple(draft.roots[key] for key in sorted(draft.roots)),
        members=tuple(draft.members),
        quorum=draft.quorum,
        announcements=tuple(
            one
            for node in sorted(draft.announcements)
            for one in draft.announcements[node]
            if one.ends_at + ANNOUNCED_FOR > block.timestamp
        ),
    )


def _by_node(announcements: Iterable[Announcement]) -> dict[Address, tuple[Announcement, ...]]:
    found: dict[Address, tuple[Announcement, ...]] = {}
    for one in announcements:
        found[one.node] = (*found.get(one.node, ()), one)
    return found


def _void_if_missed(window: WindowRecord, head: BlockNumber) -> WindowRecord:
    missed = window.state is WindowState.CLOSED and head > window.closed_block + DRAW_WINDOW
    return replace(window, state=WindowState.VOID) if missed else window

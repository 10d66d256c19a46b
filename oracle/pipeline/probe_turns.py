"""When a member probes which node. Pure.

    window opened   |--busy_for--| quiet | turn 0 | turn 1 | … |--busy_for of the next window--| turn … goes on |
                                           order of members by keccak(epoch seed, node, member); then around again

Only quiet seconds are counted, and every member counts the same ones by the chain: so no two probe a node at a time, and none
while devices compute.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from oracle.model import Network
from swarm_chain.core.kinds import WindowState
from swarm_chain.core.model import WindowRecord
from swarm_chain.core.probing import ladder_for, turn_order
from swarm_chain.core.units import Address, EpochNumber, Hash32, epoch_of, window_id

_OPENED = (WindowState.OPEN, WindowState.CLOSED, WindowState.DRAWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Whose turn a node is now, and for how many more quiet seconds."""

    member: Address
    left_for: int


def epoch_seed(windows: Iterable[WindowRecord], epoch: EpochNumber) -> Hash32 | None:
    """Seed of an epoch: that of its first window, None before it opened."""
    wanted = window_id(epoch, 0)
    return next((one.window_seed for one in windows if one.window_id == wanted and one.state in _OPENED), None)


def is_busy(windows: Iterable[WindowRecord], now: int, busy_for: int) -> bool:
    """Whether devices may be computing for a window at a moment of chain time."""
    return any(one.state in _OPENED and one.opened_at <= now < one.opened_at + busy_for for one in windows)


def turn_of(
    windows: Sequence[WindowRecord], network: Network, now: int, node: Address, members: Sequence[Address]
) -> Turn | None:
    """Say whose turn it is to probe a node.

    Args:
        windows: all there are, by the chain.
        network: numbers of the preset.
        now: chain time.
        node: who is probed.
        members: the committee.

    Returns:
        None while nobody's: no members, no seed yet, or a window was opened lately.
    """
    epoch, busy_for = network.epoch_at(now), network.params.serving.busy_for
    seed = epoch_seed(windows, epoch)
    if seed is None or not members or is_busy(windows, now, busy_for):
        return None
    slot_for = network.params.serving.slot_for
    quiet_for = _quiet_for([one for one in windows if epoch_of(one.window_id) == epoch], now, busy_for)
    order = turn_order(seed, node, members)
    return Turn(member=order[quiet_for // slot_for % len(order)], left_for=slot_for - quiet_for % slot_for)


def may_begin(turn: Turn | None, member: Address, claim: int, network: Network, now: int) -> bool:
    """Whether a member may begin a probe: its turn and the epoch both leave the time for the whole ladder."""
    if turn is None or turn.member != member:
        return False
    left_for = min(turn.left_for, network.epoch_end(network.epoch_at(now)) - now)
    return ladder_for(network.params.serving, claim) <= left_for


def _quiet_for(windows: Sequence[WindowRecord], now: int, busy_for: int) -> int:
    """Seconds since the epoch's seed was known in which no window had been opened lately."""
    opened = sorted(one.opened_at for one in windows if one.state in _OPENED)
    quiet = 0
    for begin, end in zip(opened, (*opened[1:], now), strict=True):
        quiet += max(end - (begin + busy_for), 0)
    return quiet

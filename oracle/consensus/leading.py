"""Who leads: members take turns by epoch, and one that stays silent is passed over after its slot."""

from collections.abc import Sequence

from oracle.consensus.views import CycleView
from swarm_chain.core.encoding import address_bytes
from swarm_chain.core.units import Address


def leader_at(members: Sequence[Address], epoch: int, elapsed_for: int, period_for: int) -> Address:
    """Give the member whose turn it is.

    Args:
        members: current members, at least one; their order does not matter.
        epoch: epoch the duty belongs to.
        elapsed_for: seconds since the duty began, >= 0.
        period_for: seconds the duty may take; each member gets an equal slot of it.

    Returns:
        Members in the order of their address bytes, from `epoch` on, one a slot.
    """
    ordered = sorted(members, key=address_bytes)
    slot_for = max(period_for // len(ordered), 1)
    return ordered[(epoch + elapsed_for // slot_for) % len(ordered)]


def leads_epoch(view: CycleView, member: Address) -> bool:
    """Tell whether it is a member's turn in the running epoch: windows, cases and jobs."""
    network, now = view.network, view.state.block.timestamp
    epoch = network.epoch_at(now)
    elapsed_for = max(now - network.epoch_start(epoch), 0)
    return leader_at(view.state.members, epoch, elapsed_for, network.params.epoch.epoch_for) == member


def in_first_half(view: CycleView, epoch: int) -> bool:
    """Tell whether the slot of whoever leads the report of an ended epoch now is less than half over."""
    network = view.network
    slot_for = max(network.params.epoch.report_window_for // len(view.state.members), 1)
    elapsed_for = max(view.state.block.timestamp - network.epoch_end(epoch), 0)
    return 2 * (elapsed_for % slot_for) < slot_for


def leads_report(view: CycleView, member: Address, epoch: int) -> bool:
    """Tell whether it is a member's turn to bundle and submit the report of an ended epoch."""
    network = view.network
    elapsed_for = max(view.state.block.timestamp - network.epoch_end(epoch), 0)
    return leader_at(view.state.members, epoch, elapsed_for, network.params.epoch.report_window_for) == member

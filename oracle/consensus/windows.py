"""The part of the cycle that runs the compute windows of an epoch, one after the other.

    epoch   |--- slot 0 ---|--- slot 1 ---|--- slot 2 ---| …     slots of equal length, 1 + confirmations of them
    window  |  ^ opens at a moment only its secret tells  |     where a slot is too short for that: at once

A window is opened only if nodes get their full time to commit and to open rows before the epoch ends.
"""

from collections.abc import Iterable

from oracle.consensus.leading import leads_epoch
from oracle.consensus.views import (
    Action,
    CloseWindow,
    CommitSecret,
    CycleView,
    Device,
    DrawWindow,
    JudgeWindow,
    OpenWindow,
    OwnView,
    OwnWindow,
    Wait,
)
from oracle.judge.windows import owed_shapes
from oracle.model import Network, Plan
from swarm_chain.core.encoding import keccak
from swarm_chain.core.kinds import WindowState
from swarm_chain.core.model import ChainState, WindowRecord
from swarm_chain.core.units import EpochNumber, Hash32, Timestamp, WindowId, epoch_of, window_id

# blockhash(c + 2) must exist when the draw is mined, and is forgotten 256 blocks later (compute-proof.md).
DRAW_DELAY_BLOCKS = 2
DRAW_WITHIN_BLOCKS = 256


def expected_devices(state: ChainState, plans: Iterable[Plan], network: Network) -> frozenset[Device]:
    """Give the devices a window waits for: those that owe a run, of providers that are neither suspended nor retired.

    Args:
        state: the chain at its latest block.
        plans: what the last report fixed.
        network: shape of a device without history.
    """
    working = (p for p in state.providers if not p.retired and p.suspended_until <= state.block.timestamp)
    nodes = [node for provider in working for node in provider.nodes]
    return frozenset(owed_shapes(nodes, plans, network.params.compute))


def opens_at(network: Network, window: WindowId, secret: Hash32) -> Timestamp:
    """Give the moment a window is due, which nobody without its secret can foresee.

    Args:
        network: length of an epoch and times of a window.
        window: the window.
        secret: 32 bytes, known to the member that committed to it.

    Returns:
        Chain time within the window's slot; the start of the epoch if slots are too short to hide anything.
    """
    compute, start = network.params.compute, network.epoch_start(epoch_of(window))
    slot_for = network.params.epoch.epoch_for // (1 + compute.confirmations)
    slack = slot_for - _takes(network)
    if slack <= 0:
        return start
    return Timestamp(start + (window & 0xFFFF) * slot_for + int.from_bytes(keccak(secret), "big") % slack)


def takes_evidence(view: CycleView, epoch: EpochNumber) -> bool:
    """Tell whether nodes may still commit in a window of an epoch or open its rows.

    Args:
        view: the chain at its latest block.
        epoch: the epoch.
    """
    now, open_for = view.state.block.timestamp, view.network.params.compute.open_for
    states = (WindowState.CLOSED, WindowState.DRAWN)
    return any(
        window.state is WindowState.OPEN or (window.state in states and now < window.closed_at + open_for)
        for window in view.state.windows
        if epoch_of(window.window_id) == epoch
    )


def window_action(view: CycleView, own: OwnView) -> Action | None:
    """Give the next step of the running epoch's windows, if one is due.

    Args:
        view: the chain at its latest block.
        own: secrets and evidence of the windows.
    """
    network, now = view.network, view.state.block.timestamp
    epoch = network.epoch_at(now)
    records = {record.window_id: record for record in view.state.windows}
    for window in _windows_of(network, epoch):
        record = records.get(window, WindowRecord(window_id=window, state=WindowState.NONE))
        kept = next((one for one in own.windows if one.window_id == window), OwnWindow(window_id=window))
        action = _step(record, kept, view, own)
        if action is not None:
            return action
    return None


def secret_ahead(view: CycleView, own: OwnView) -> Action | None:
    """Fix secrets of later windows of this epoch and of the next one, when there is nothing else to do."""
    if not leads_epoch(view, own.member):
        return None
    epoch = view.network.epoch_at(view.state.block.timestamp)
    made = {record.window_id for record in view.state.windows if record.state is not WindowState.NONE}
    later = (*_windows_of(view.network, epoch), *_windows_of(view.network, EpochNumber(epoch + 1)))
    wanted = (window for window in later if window not in made)
    return next((CommitSecret(window_id=window) for window in wanted if _is_useful(view, window)), None)


def _step(record: WindowRecord, kept: OwnWindow, view: CycleView, own: OwnView) -> Action | None:
    if record.state in (WindowState.NONE, WindowState.COMMITTED):
        return _open_step(record, kept, view, own)
    if record.state is WindowState.OPEN:
        return _close_step(record, kept, view, own)
    if record.state is WindowState.CLOSED:
        return _draw_step(record, view)
    return _judge_step(record, kept, view) if record.state is WindowState.DRAWN else None


def _open_step(record: WindowRecord, kept: OwnWindow, view: CycleView, own: OwnView) -> Action | None:
    network, block = view.network, view.state.block
    if not _is_useful(view, record.window_id):
        return None
    if record.state is WindowState.NONE:
        mine = leads_epoch(view, own.member) and view.state.providers
        return CommitSecret(window_id=record.window_id) if mine else Wait(reason="window")
    if kept.secret is None:
        # Lost, or made by a member that may still open it: a leader goes on with the next window meanwhile.
        return None if leads_epoch(view, own.member) else Wait(reason="window")
    due_at = opens_at(network, record.window_id, kept.secret)
    if block.timestamp < due_at or block.number <= view.secret_blocks.get(record.window_id, block.number):
        return Wait(reason="window", until=due_at)
    return OpenWindow(window_id=record.window_id)


def _close_step(record: WindowRecord, kept: OwnWindow, view: CycleView, own: OwnView) -> Action:
    until = Timestamp(record.opened_at + view.network.params.compute.commit_for)
    complete = own.expected <= kept.committed
    if not leads_epoch(view, own.member) or not (complete or view.state.block.timestamp >= until):
        return Wait(reason="commitments", until=until)
    return CloseWindow(window_id=record.window_id)


def _draw_step(record: WindowRecord, view: CycleView) -> Action | None:
    number = view.state.block.number
    if number > record.closed_block + DRAW_WITHIN_BLOCKS:
        return None  # void: nobody is paid or punished for it
    if number <= record.closed_block + DRAW_DELAY_BLOCKS:
        return Wait(reason="draw")
    return DrawWindow(window_id=record.window_id)


def _judge_step(record: WindowRecord, kept: OwnWindow, view: CycleView) -> Action | None:
    if kept.judged:
        return None
    until = Timestamp(record.closed_at + view.network.params.compute.open_for)
    if not kept.committed <= kept.proven and view.state.block.timestamp < until:
        return Wait(reason="proofs", until=until)
    return JudgeWindow(window_id=record.window_id)


def _windows_of(network: Network, epoch: EpochNumber) -> tuple[WindowId, ...]:
    return tuple(window_id(epoch, number) for number in range(1 + network.params.compute.confirmations))


def _is_useful(view: CycleView, window: WindowId) -> bool:
    last = view.network.epoch_end(epoch_of(window)) - _takes(view.network)
    return view.state.block.timestamp <= last


def _takes(network: Network) -> int:
    return network.params.compute.commit_for + network.params.compute.open_for

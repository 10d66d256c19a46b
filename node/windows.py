"""Compute windows as an agent sees them, and what it owes in each. Pure.

COMMITTED --WindowOpened--> OPEN: plans, run, sign, hand in --WindowClosed--> CLOSED --WindowDrawn--> DRAWN: open rows
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from node.events import hash_of, integer_of
from node.model import (
    Action,
    DiscardRun,
    FetchPlans,
    Own,
    SendCommitment,
    SendProof,
    SignRun,
    StartRun,
    View,
)
from swarm_chain.core.compute import ComputeChallenge
from swarm_chain.core.encoding import keccak, words
from swarm_chain.core.kinds import WindowState
from swarm_chain.core.model import ChainEvent, Commitment, WindowRecord
from swarm_chain.core.units import Hash32, Timestamp, WindowId, epoch_of

Windows = Mapping[WindowId, WindowRecord]

KEPT_EPOCHS = 2
CLOSE_TO_DRAW = 2  # blocks from the closing one to the one whose hash is drawn from
_BEFORE_OPEN = (WindowState.NONE, WindowState.COMMITTED)


def fold_windows(windows: Windows, events: Iterable[ChainEvent]) -> dict[WindowId, WindowRecord]:
    """Add the beacon's events to what is known of its windows; those of epochs long over are dropped.

    Args:
        windows: windows known before.
        events: further events, in chain order; other contracts' are ignored.
    """
    known = dict(windows)
    for event in events:
        if event.contract == "ChallengeBeacon" and "windowId" in event.args:
            number = WindowId(integer_of(event, "windowId"))
            known[number] = _apply(known.get(number, WindowRecord(window_id=number, state=WindowState.NONE)), event)
    oldest = max((epoch_of(number) for number in known), default=0) - KEPT_EPOCHS
    return {number: window for number, window in known.items() if epoch_of(number) >= oldest}


def draw_seed(block_hash: Hash32, window: WindowRecord) -> Hash32:
    """Randomness of a window's draw.

    Args:
        block_hash: hash of block c + 2, c the block that closed the window.
        window: the closed window.

    Source: compute-proof.md "Timeline of one window".
    """
    return keccak(words(block_hash, window.window_seed, window.commitments_root))


def window_steps(view: View, own: Own) -> tuple[Action, ...]:
    """What is to be done for compute windows now, in order of urgency.

    Args:
        view: the chain and what members announced.
        own: own records and runs.
    """
    chain = {window.window_id: window for window in view.windows}
    steps: list[Action] = [*_hand_in(chain, own), *_sign_or_discard(chain, own), *_open(chain, own)]
    for window in _startable(view, own):
        steps.extend(_start(window, own))
    return tuple(steps)


def owed_windows(view: View, own: Own) -> tuple[WindowId, ...]:
    """Windows in which something signed has reached no member yet though it could: a commitment, or the drawn openings.

    Members pass on what one of them has, so a member that is away keeps nothing back.

    Args:
        view: the chain.
        own: own records.
    """
    chain = {window.window_id: window for window in view.windows}
    unheard = replace(own, commitments=tuple(c for c in own.commitments if not c.delivered))
    unopened = replace(own, commitments=tuple(c for c in own.commitments if not c.opened))
    owed = {step.window_id for step in _hand_in(chain, unheard)}
    owed |= {step.window.window_id for step in _open(chain, unopened)}
    return tuple(sorted(owed))


def _startable(view: View, own: Own) -> Iterator[WindowRecord]:
    """Open windows: the chain's, and those an oracle member saw open before our endpoint did."""
    chain = {window.window_id: window for window in view.windows}
    ahead = (w for w in view.announced if chain.get(w.window_id, w).state in (w.state, *_BEFORE_OPEN))
    merged = {window.window_id: window for window in (*ahead, *view.windows) if window.state is WindowState.OPEN}
    return iter(merged.values()) if not own.draining else iter(())


def _start(window: WindowRecord, own: Own) -> Iterator[Action]:
    number = window.window_id
    busy = {device for _, device in own.running} | {challenge.device for challenge in own.ready}
    signed = {c.signed.commitment.device for c in own.commitments if _answers(c.signed.commitment, window)}
    owed = [device for device in own.devices if device not in signed]
    if not owed:
        return
    if own.plans_for != number:
        yield FetchPlans(window_id=number)
        return
    for plan in own.plans:
        if plan.device in owed and plan.device not in busy:
            yield StartRun(window_id=number, window_seed=window.window_seed, plan=plan)


def _sign_or_discard(chain: Windows, own: Own) -> Iterator[Action]:
    for challenge in own.ready:
        window = chain.get(challenge.window.window_id)
        if window is None or window.state in _BEFORE_OPEN:
            continue  # announced by a member; our endpoint has not seen it yet
        yield SignRun(challenge=challenge) if _confirmed(window, challenge) else DiscardRun(challenge=challenge)


def _answers(commitment: Commitment, window: WindowRecord) -> bool:
    # Where a reorganisation opened a window anew, what was signed for the other branch is void and stays unsent.
    return (commitment.window_id, commitment.window_seed) == (window.window_id, window.window_seed)


def _confirmed(window: WindowRecord, challenge: ComputeChallenge) -> bool:
    return window.state is WindowState.OPEN and window.window_seed == challenge.window.window_seed


def _hand_in(chain: Windows, own: Own) -> Iterator[SendCommitment]:
    for record in own.commitments:
        commitment = record.signed.commitment
        window = chain.get(commitment.window_id)
        if window is None or window.state is not WindowState.OPEN or not _answers(commitment, window):
            continue
        for member in own.members:
            if member not in record.delivered:
                yield SendCommitment(
                    window_id=window.window_id, window_seed=window.window_seed, device=commitment.device, member=member
                )


def _open(chain: Windows, own: Own) -> Iterator[SendProof]:
    newest = max((epoch_of(number) for number in chain), default=0)
    for record in own.commitments:
        commitment = record.signed.commitment
        window = chain.get(commitment.window_id)
        if window is None or window.state is not WindowState.DRAWN or epoch_of(window.window_id) < newest - 1:
            continue
        if not _answers(commitment, window):
            continue
        for member in sorted(record.delivered - record.opened):
            yield SendProof(window=window, device=commitment.device, member=member)


def _apply(window: WindowRecord, event: ChainEvent) -> WindowRecord:
    if event.name == "SecretCommitted":
        return replace(window, state=WindowState.COMMITTED)
    if event.name == "WindowOpened":
        return replace(
            window,
            state=WindowState.OPEN,
            window_seed=hash_of(event, "windowSeed"),
            opened_at=Timestamp(event.timestamp),
            opened_block=event.block,
        )
    if event.name == "WindowClosed":
        return replace(
            window,
            state=WindowState.CLOSED,
            commitments_root=hash_of(event, "commitmentsRoot"),
            commitment_count=integer_of(event, "commitmentCount"),
            closed_at=Timestamp(event.timestamp),
            closed_block=event.block,
        )
    if event.name == "WindowDrawn":
        return replace(window, state=WindowState.DRAWN, draw_seed=hash_of(event, "drawSeed"))
    return window

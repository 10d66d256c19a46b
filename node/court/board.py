"""Accusations as the chain shows them, and what this node does about those against itself. Pure.

ACCUSED --trace, answer--> ANSWERED ..pick..> PICKED --reveal--> REVEALED ..prove..> PROVEN ..execute..> CONVICTED
            an accuser that misses its move --timeout--> ACQUITTED: the bond goes to the provider
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from node.events import address_of, hash_of, integer_of
from node.model import Action, CheckReserve, Defend, ForgetHeads, Own, TraceRow, View
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.kinds import AccusationState
from swarm_chain.core.model import BlockRef, ChainEvent
from swarm_chain.core.params import Params
from swarm_chain.core.units import ZERO_ADDRESS, Address, Hash32, ProviderId, WindowId, epoch_of
from swarm_chain.court.fold import advance_view, commitment_from_args
from swarm_chain.court.model import CONTRACT, Accusation, CourtView, MoveKind, Side
from swarm_chain.court.moves import NEEDS_EVIDENCE, move_due

RESERVE_EVERY_MS = 60_000
SLACK_EPOCHS = 2  # heads outlive the last accusation: an epoch begins before its windows close, and the newest one runs
NEAR_PART = 4  # a deadline is near when a quarter of a move's time is left


def fold_court(
    view: CourtView, events: Iterable[ChainEvent], block: BlockRef, *, node: Address, provider_id: ProviderId
) -> CourtView:
    """Add the court's events about a node and its provider to what is known; what had ended before leaves.

    Args:
        view: accusations known before.
        events: further events, in chain order; other contracts' and other providers' are ignored.
        block: the last block of the events.
        node: the node that looks.
        provider_id: its provider, zero for none.

    Raises:
        InconsistentError: an event does not have the form of its contract.
    """
    open_ones = {key: found for key, found in view.accusations.items() if found.is_open}
    mine = _events_about(frozenset(open_ones), events, node, provider_id)
    return advance_view(replace(view, accusations=open_ones), mine, block)


def is_own(accusation: Accusation, node: Address) -> bool:
    """Whether it is the node itself that stands accused, not another node of its provider or an oracle member."""
    return accusation.commitment.node == node and accusation.member == ZERO_ADDRESS


def purpose_of(kind: MoveKind, accusation_id: Hash32) -> str:
    """Purpose of a move's transaction: one of a kind is under way at a time."""
    return f"{kind.value}/{to_hex(accusation_id)}"


def urgent_moves(view: View, own: Own, params: Params) -> tuple[Action, ...]:
    """Moves that go before all other work, because their deadline is near."""
    return tuple(_moves(view, own, params, near=True))


def court_steps(view: View, own: Own, params: Params) -> tuple[Action, ...]:
    """Moves that have time, and what keeps the node able to defend itself.

    Args:
        view: the chain.
        own: own records, evidence at hand and transactions under way.
        params: the protocol's numbers.
    """
    return (*_moves(view, own, params, near=False), *_reserve(own), *_forget(view, own, params))


def _moves(view: View, own: Own, params: Params, *, near: bool) -> Iterator[Action]:
    for accusation in view.court.accusations.values():
        if not is_own(accusation, view.node) or accusation.accusation_id in own.given_up:
            continue
        kind = move_due(accusation, Side.ACCUSED, view.court)
        left = accusation.deadline - view.block.timestamp
        hurries = kind in NEEDS_EVIDENCE and left * NEAR_PART <= params.compute_court.move_for
        if hurries is near:
            yield from _move(accusation.accusation_id, kind, own)


def _move(accusation_id: Hash32, kind: MoveKind, own: Own) -> Iterator[Action]:
    if purpose_of(kind, accusation_id) in own.sending:
        return
    if kind is MoveKind.TIMEOUT or (kind in NEEDS_EVIDENCE and accusation_id in own.traced):
        yield Defend(accusation_id=accusation_id, kind=kind)
    elif kind in NEEDS_EVIDENCE and accusation_id not in own.tracing:
        yield TraceRow(accusation_id=accusation_id)


def _reserve(own: Own) -> Iterator[Action]:
    if own.reserve_ms is None or own.now_ms - own.reserve_ms >= RESERVE_EVERY_MS:
        yield CheckReserve()


def _forget(view: View, own: Own, params: Params) -> Iterator[Action]:
    # As long as a row can be accused or an accusation may be open, its path is one look into the heads.
    kept = -(-params.compute_court.longest_for // params.epoch.epoch_for) + SLACK_EPOCHS
    newest = max((epoch_of(window.window_id) for window in view.windows), default=0)
    before = WindowId(max(0, newest - kept) << 16)
    if own.oldest_heads is not None and own.oldest_heads < before:
        yield ForgetHeads(before=before)


def _events_about(
    known: frozenset[Hash32], events: Iterable[ChainEvent], node: Address, provider_id: ProviderId
) -> Iterator[ChainEvent]:
    ids = set(known)
    for event in events:
        if event.contract != CONTRACT:
            continue
        if event.name == "Accused" and _concerns(event, node, provider_id):
            ids.add(hash_of(event, "accusationId"))
        if event.name == "Convicted" or event.args.get("accusationId") in ids:
            yield event


def _concerns(event: ChainEvent, node: Address, provider_id: ProviderId) -> bool:
    commitment = event.args.get("commitment")
    if not isinstance(commitment, dict):
        raise InconsistentError(
            f"{event.contract}.{event.name} carries no commitment",
            fix="check that node and contracts are of one version",
        )
    about_node = commitment_from_args(commitment).node == node and address_of(event, "member") == ZERO_ADDRESS
    return about_node or (provider_id != 0 and integer_of(event, "providerId") == provider_id)


EVENT_OF_STATE = {
    AccusationState.ACCUSED: "accused",
    AccusationState.ANSWERED: "accusation_answered",
    AccusationState.PICKED: "step_picked",
    AccusationState.REVEALED: "row_revealed",
    AccusationState.PROVEN: "accusation_proven",
    AccusationState.CONVICTED: "accusation_lost",
    AccusationState.ACQUITTED: "accusation_won",
    AccusationState.DISMISSED: "accusation_dismissed",
}

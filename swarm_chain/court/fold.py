"""The court's state from its events: one function an event.

Accused --AccusationAnswered--> ANSWERED --StepPicked--> PICKED --RowRevealed--> REVEALED --FalseByteProven--> PROVEN
            ANSWERED --ContradictionProven--> PROVEN;   any of them --AccusationEnded--> its end
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.kinds import AccusationState
from swarm_chain.core.model import BlockRef, ChainEvent, Commitment
from swarm_chain.core.state import advance
from swarm_chain.core.units import Hash32
from swarm_chain.court.model import CONTRACT, Accusation, CourtView

Table = dict[Hash32, Accusation]


def advance_view(view: CourtView, events: Iterable[ChainEvent], block: BlockRef) -> CourtView:
    """View of the chain and its court at a later block.

    Args:
        view: an earlier view; `CourtView()` before the deployment.
        events: every event of the deployment's contracts after it up to `block`, in chain order.
        block: the later block.

    Returns:
        The view at the end of `block`; `view` is unchanged.

    Raises:
        InconsistentError: events out of order, or about an accusation no event made.
    """
    found = tuple(events)
    chain = advance(view.chain, found, block)
    table, convicted = dict(view.accusations), set(view.convicted)
    for event in found:
        if event.contract != CONTRACT:
            continue
        if event.name == "Convicted":
            convicted.add(_hash(event, "offenceId"))
        elif event.name in _STEPS:
            accusation = _STEPS[event.name](table, event)
            table[accusation.accusation_id] = accusation
            if accusation.state is AccusationState.PROVEN:
                convicted.add(accusation.offence_id)
    return CourtView(chain=chain, accusations=table, convicted=frozenset(convicted))


def commitment_from_args(args: Mapping[str, Any]) -> Commitment:
    """A commitment from the struct of an event or view."""
    return Commitment(
        window_id=args["windowId"],
        window_seed=args["windowSeed"],
        node=args["node"],
        device=args["device"],
        m=args["m"],
        n=args["n"],
        steps=args["steps"],
        root=args["root"],
    )


def _accused(_: Table, event: ChainEvent) -> Accusation:
    a: Any = event.args
    return Accusation(
        accusation_id=a["accusationId"],
        provider_id=a["providerId"],
        accuser=a["accuser"],
        commitment=commitment_from_args(a["commitment"]),
        row=a["row"],
        member=a["member"],
        bond_wei=a["bond"],
        deadline=a["deadline"],
    )


def _answered(table: Table, event: ChainEvent) -> Accusation:
    a: Any = event.args
    found = replace(_known(table, event), state=AccusationState.ANSWERED, deadline=a["deadline"])
    return replace(found, hashes=tuple(a["hashes"]), head=a["head"])


def _picked(table: Table, event: ChainEvent) -> Accusation:
    a: Any = event.args
    return replace(_known(table, event), state=AccusationState.PICKED, deadline=a["deadline"], step=a["step"])


def _revealed(table: Table, event: ChainEvent) -> Accusation:
    a: Any = event.args
    return replace(_known(table, event), state=AccusationState.REVEALED, deadline=a["deadline"], revealed=a["row"])


def _proven(table: Table, event: ChainEvent) -> Accusation:
    return replace(_known(table, event), state=AccusationState.PROVEN)


def _ended(table: Table, event: ChainEvent) -> Accusation:
    a: Any = event.args
    return replace(_known(table, event), state=AccusationState(a["state"]))


def _known(table: Table, event: ChainEvent) -> Accusation:
    found = table.get(_hash(event, "accusationId"))
    if found is None:
        raise InconsistentError(
            f"{CONTRACT}.{event.name} in block {event.block} is about an accusation that no event made",
            fix="read the events from the deployment's first block on",
        )
    return found


def _hash(event: ChainEvent, name: str) -> Hash32:
    a: Any = event.args
    return Hash32(a[name])


_STEPS: Mapping[str, Callable[[Table, ChainEvent], Accusation]] = {
    "Accused": _accused,
    "AccusationAnswered": _answered,
    "StepPicked": _picked,
    "RowRevealed": _revealed,
    "FalseByteProven": _proven,
    "ContradictionProven": _proven,
    "AccusationEnded": _ended,
}

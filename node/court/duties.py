"""Carries out what `next_steps` asks for accusations. The row is computed elsewhere; here is only what was found."""

import structlog

from node.court.board import EVENT_OF_STATE, is_own, purpose_of
from node.memory import Memory
from node.model import CheckReserve, Defend, TraceRow, View
from node.ports import AccusedRow, TracedRow
from node.records import kept_heads
from node.tools import Tools
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.kinds import AccusationState
from swarm_chain.core.units import Address
from swarm_chain.court.model import Accusation, CourtView, Side, challenge_of
from swarm_chain.court.moves import next_move

log = structlog.get_logger()


def trace_row(tools: Tools, memory: Memory, view: View, action: TraceRow) -> None:
    """Has the accused row computed again, beside the devices; heads that are lost are computed with it."""
    accusation = view.court.accusations[action.accusation_id]
    heads = kept_heads(tools.state, accusation.commitment)
    accused = AccusedRow(
        accusation_id=accusation.accusation_id,
        commitment=accusation.commitment,
        challenge=challenge_of(accusation.commitment, tools.deployment),
        row=accusation.row,
        heads=heads,
    )
    tools.tracer.start(accused)
    memory.tracing.add(accusation.accusation_id)
    log.info("row_traced", accusation_id=to_hex(accusation.accusation_id), row=accusation.row, heads_kept=bool(heads))


def collect_row(memory: Memory, traced: TracedRow) -> None:
    """Keeps the evidence of an accused row; a trace that failed will be made again."""
    memory.tracing.discard(traced.accusation_id)
    if traced.evidence is not None:
        memory.evidence[traced.accusation_id] = traced.evidence


def defend(tools: Tools, memory: Memory, view: View, action: Defend) -> None:
    """Sends the move this node owes; where its own evidence says that the accuser is right, nothing is sent any more."""
    accusation = view.court.accusations[action.accusation_id]
    move = next_move(accusation, Side.ACCUSED, view.court, memory.evidence.get(action.accusation_id))
    if move.call is None:
        memory.given_up.add(action.accusation_id)
        log.error("accusation_indefensible", reason=move.effect, fix="stop the device and run `swarm node bench`")
        return
    tools.outbox.send(purpose_of(move.kind, action.accusation_id), move.call)


def check_reserve(tools: Tools, memory: Memory, _: View, __: CheckReserve) -> None:
    """Looks whether the node key could pay for a defence, and warns when that changes."""
    memory.reserve_ms = tools.clock.monotonic_ms()
    have_wei = tools.chain.balance(tools.node)
    can_defend = have_wei >= tools.reserve_wei
    if can_defend is memory.can_defend:
        return
    amounts = {"have_wei": str(have_wei), "want_wei": str(tools.reserve_wei)}
    if can_defend:
        log.info("defence_funded", **amounts)
    else:
        fix = f"send at least {tools.reserve_wei - have_wei} wei of the native coin to {tools.node}"
        log.warning("defence_underfunded", **amounts, fix=fix)
    memory.can_defend = can_defend


def tell_accusations(memory: Memory, court: CourtView, node: Address) -> None:
    """Logs what became of accusations since the last look; of those an agent meets at its start, only open ones.

    Evidence of accusations that are over leaves.
    """
    told = memory.accusations_told
    for key, accusation in court.accusations.items():
        is_news = accusation.is_open if told is None else told.get(key) is not accusation.state
        if is_news:
            _tell(accusation, node)
    memory.accusations_told = {key: found.state for key, found in court.accusations.items()}
    memory.evidence = {key: kept for key, kept in memory.evidence.items() if key in court.accusations}


def _tell(accusation: Accusation, node: Address) -> None:
    c, own = accusation.commitment, is_own(accusation, node)
    facts = {
        "accusation_id": to_hex(accusation.accusation_id),
        "window_id": c.window_id,
        "node": c.node,
        "row": accusation.row,
        "own": own,
        "deadline": accusation.deadline,
        "bond_wei": str(accusation.bond_wei),
    }
    if not own and accusation.is_open:
        facts["fix"] = "this node defends only itself: run `swarm court defend` with the owner's or a defender's key"
    names = {AccusationState.ACCUSED: log.warning, AccusationState.CONVICTED: log.error}
    names.get(accusation.state, log.info)(EVENT_OF_STATE[accusation.state], **facts)

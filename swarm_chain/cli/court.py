"""`swarm court`: accuse a false commitment, defend a true one; arithmetic decides."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from swarm_chain.adapters.clock import SystemClock
from swarm_chain.cli.amounts import parse_address, parse_amount
from swarm_chain.cli.context import Session, session_of
from swarm_chain.cli.court_evidence import EvidenceSource, open_desk, open_recomputer, open_salts, row_counter
from swarm_chain.cli.court_loops import Backend, defence, defend, watch
from swarm_chain.cli.keys import own_address
from swarm_chain.cli.output import facts, swm, table
from swarm_chain.cli.shared import TransactionCommand
from swarm_chain.cli.tx import Intent, send
from swarm_chain.cli.views import existing_provider, transaction_document, view, when
from swarm_chain.core.encoding import hash_from_hex, to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import AccusationState
from swarm_chain.core.model import ContractCall, TxOutcome
from swarm_chain.core.units import ZERO_ADDRESS, Wei, WindowId, epoch_of
from swarm_chain.court.charges import Charge
from swarm_chain.court.desk import CourtDesk
from swarm_chain.court.evidence import Suspect, accusable, false_rows, is_true, offence_is_over, unaccused
from swarm_chain.court.model import Accusation, CourtView, MoveKind, Side
from swarm_chain.court.moves import TURNS, move_due
from swarm_chain.court.play import accusers_evidence, decide
from swarm_chain.court.recompute import Recomputer
from swarm_chain.court.watch import Watcher, WatchLimits

app = typer.Typer(help="A false commitment loses by arithmetic.")
app.command()(defend)
app.command()(watch)
POLL_S = 1
_STEPPED = (AccusationState.PICKED, AccusationState.REVEALED, AccusationState.PROVEN, AccusationState.CONVICTED)
Bundle = Annotated[Path | None, typer.Option("--bundle", help="Bundle file; default: ask the oracle.", metavar="FILE")]


@app.command(cls=TransactionCommand)
def accuse(
    ctx: typer.Context,
    node: Annotated[str, typer.Option("--node", help="Node that signed the commitment.")],
    window: Annotated[int, typer.Option("--window", help="Window id (epoch · 65536 + window).", min=0)],
    device: Annotated[int, typer.Option("--device", help="Device of the node.", min=0)] = 0,
    row: Annotated[int | None, typer.Option("--row", help="Default: the first false opened row.", min=0)] = None,
    bundle: Bundle = None,
    max_bond: Annotated[str, typer.Option("--max-bond", help="Highest bond, SWM.")] = "1000",
    even_if_true: Annotated[
        bool, typer.Option("--even-if-true", help="Accuse a row that is true: loses the bond.")
    ] = False,
    backend: Backend = "auto",
) -> None:
    """Accuses one row of a commitment: recomputes it first, seals, and opens the accusation with a bond one block later."""
    session = session_of(ctx)
    desk, recomputer = open_desk(session), open_recomputer(session, backend)
    view = desk.look()
    suspect = _suspect(EvidenceSource(session, bundle), desk, view, (node, WindowId(window), device))
    chosen = _row(session, suspect, row, recomputer, view, even_if_true=even_if_true)
    charge = Charge(signed=suspect.signed, accuser=own_address(session), row=chosen)
    limits = WatchLimits(max_bond_wei=parse_amount(max_bond))
    watcher = Watcher(own_address(session), desk, open_salts(session), recomputer, limits)
    _pressed(session, watcher, charge, desk)
    opened = desk.look().accusations[charge.subject]
    shown = {
        "accusation": to_hex(charge.subject),
        "row": chosen,
        "bond": swm(opened.bond_wei),
        "answer due": when(opened.deadline),
        "next": "swarm court watch follows it to its end, swarm court answer makes one move",
    }
    session.output.show(_document(opened), facts("accused", shown))


@app.command(cls=TransactionCommand)
def answer(
    ctx: typer.Context,
    accusation: Annotated[str, typer.Argument(help="0x and 64 hex digits; see: swarm court status.")],
    bundle: Bundle = None,
    backend: Backend = "auto",
) -> None:
    """Makes the one move your key owes: answer or reveal as the accused, pick or prove as the accuser, end what is over."""
    session = session_of(ctx)
    desk = open_desk(session)
    view = desk.look()
    found = _known(view, accusation)
    side = _side(session, desk, found, view)
    source = EvidenceSource(session, bundle)
    if side is Side.ACCUSED:
        evidence = defence(session, source, backend)
    else:
        evidence = accusers_evidence(open_recomputer(session, backend), session.deployment, source.openings)
    move = decide(found, side, view, evidence)
    if move.call is None:
        fix = "see whose move it is: swarm court status"
        raise InvalidInputError(
            move.effect, fix=fix, code=move.kind.name.lower(), values={"state": found.state.name.lower()}
        )
    outcome = send(session, Intent(call=move.call, effect=move.effect))
    after = desk.look().accusations[found.accusation_id]
    shown = {"accusation": accusation, "state": after.state.name.lower(), "deadline": when(after.deadline)}
    session.output.show(
        {"moved": move.kind.value, **_document(after), "transaction": transaction_document(outcome)},
        facts(move.kind.value, shown),
    )


@app.command()
def status(
    ctx: typer.Context,
    provider_id: Annotated[int | None, typer.Option("--provider", help="Only this provider.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Ended ones too.")] = False,
) -> None:
    """Lists accusations: what each is about, whose move it is and until when."""
    session = session_of(ctx)
    wanted = None if provider_id is None else existing_provider(session, provider_id)
    view = open_desk(session).look()
    shown = [
        found for found in view.accusations.values() if (every or found.is_open) and wanted in {None, found.provider_id}
    ]
    documents = [_document(found) for found in shown]
    columns = ("accusation", "provider", "accused", "window", ">row", "state", "whose move", "until", ">bond")
    rows = [_cells(found) for found in shown]
    session.output.show({"chainTime": view.now, "accusations": documents}, table("accusations", columns, rows))


@app.command(cls=TransactionCommand)
def claim(ctx: typer.Context) -> None:
    """Pays out the bounties of your convictions."""
    session = session_of(ctx)
    reporter = own_address(session)
    owed = Wei(view(session, "SlashSink", "bountyOf", reporter))
    if owed == 0:
        session.output.note(f"{reporter} has no bounty to claim; nothing to do")
        session.output.show({"claimedWei": owed}, facts("bounty", {"reporter": reporter, "owed": swm(owed)}))
        return
    call = ContractCall(contract="SlashSink", function="claimBounty", args=(reporter,))
    outcome = send(session, Intent(call=call, effect=f"pay {reporter} its bounty of {swm(owed)}"))
    session.output.show(
        {"claimedWei": owed, "transaction": transaction_document(outcome)},
        facts("claimed", {"reporter": reporter, "paid": swm(owed)}),
    )


def _suspect(source: EvidenceSource, desk: CourtDesk, view: CourtView, wanted: tuple[str, WindowId, int]) -> Suspect:
    node, window_id, device = parse_address(wanted[0]), wanted[1], wanted[2]
    evidence = source.epoch(epoch_of(window_id))
    for signed in evidence.commitments:
        c = signed.commitment
        if (c.node, c.window_id, c.device) == (node, window_id, device):
            suspect = accusable(signed, evidence.openings(c), view, desk.deployment, desk.accuse_for)
            if suspect is not None:
                return suspect
            raise InvalidInputError(
                f"the commitment of {node} in window {window_id} cannot be accused (any more)",
                fix=f"its window must be drawn, on this branch, and have closed less than {desk.accuse_for} seconds ago; "
                "its key must not have been removed before the window opened",
                code="not_accusable",
            )
    raise InvalidInputError(
        f"the bundle has no commitment of {node}, device {device}, in window {window_id}",
        fix="check --node, --device and --window",
        code="unknown_commitment",
    )


def _row(
    session: Session, suspect: Suspect, row: int | None, recomputer: Recomputer, view: CourtView, *, even_if_true: bool
) -> int:
    """The row to accuse: the wanted one, else the first false opened one that this key has not accused."""
    if offence_is_over(suspect.commitment, view):
        raise InvalidInputError(
            "somebody has been convicted of this already", fix="nothing is left to do", code="already_convicted"
        )
    false = false_rows(suspect, recomputer)
    if row is None:
        free = next(unaccused(suspect.commitment, false, view, own_address(session)), None)
        if free is not None:
            return free
        raise InvalidInputError(
            "you have accused every false opened row already" if false else "every opened row is true",
            fix="give --row to have the whole commitment recomputed",
            code="nothing_to_accuse",
        )
    if row not in false:
        _warn_of_true_row(session, suspect, row, recomputer, even_if_true=even_if_true)
    return row


def _warn_of_true_row(
    session: Session, suspect: Suspect, row: int, recomputer: Recomputer, *, even_if_true: bool
) -> None:
    shown = {opening.row for opening in suspect.openings}
    doubt = False
    if row not in shown and not even_if_true:
        with session.output.steps("recomputing the whole commitment") as steps:
            doubt = not is_true(suspect, recomputer, row_counter(steps))
    if not (even_if_true or doubt):
        raise InvalidInputError(
            f"row {row} is true: accusing it loses the bond",
            fix="choose a false row, or add --even-if-true if you mean to lose the bond",
            code="row_is_true",
        )
    session.output.note(
        f"WARNING: row {row} may be true, only the commitment as a whole is false: if it is true, the bond is lost"
        if doubt
        else f"WARNING: row {row} was not found to be false: the accused can answer truly, and the bond is then lost"
    )


def _pressed(session: Session, watcher: Watcher, charge: Charge, desk: CourtDesk) -> None:
    """Seal, next block, bond and accusation; a run that was interrupted between them goes on where it was."""
    clock = SystemClock()

    def ask_and_send(call: ContractCall, effect: str) -> TxOutcome:
        return send(session, Intent(call=call, effect=effect))

    while True:
        event = watcher.press(charge, desk.look(), ask_and_send)
        if event is not None and event.name == "accused":
            return
        if event is not None and event.name != "sealed":
            raise InvalidInputError(event.text, fix="raise --max-bond, or wait", code=event.name)
        clock.sleep(POLL_S)


def _side(session: Session, desk: CourtDesk, found: Accusation, view: CourtView) -> Side:
    who = own_address(session)
    if found.state is AccusationState.PROVEN:
        return Side.ACCUSER  # whoever pays the gas may execute
    sides = [Side.ACCUSED] if desk.may_defend(found.provider_id, who) else []
    sides += [Side.ACCUSER] if found.accuser == who else []
    idle = {MoveKind.WAIT, MoveKind.LATE, MoveKind.DONE}
    for side in sides:
        if move_due(found, side, view) not in idle:
            return side
    if sides:
        return sides[0]
    raise InvalidInputError(
        f"{who} has no part in this accusation",
        fix="use the accuser's key, or one of the accused provider (owner, operator, defender, node)",
        code="no_part",
        exit_code=3,
    )


def _known(view: CourtView, text: str) -> Accusation:
    found = view.accusations.get(hash_from_hex(text))
    if found is None:
        raise InvalidInputError(
            f"unknown accusation {text}", fix="see which there are: swarm court status --all", code="unknown_accusation"
        )
    return found


def _document(found: Accusation) -> dict[str, object]:
    c, turn = found.commitment, TURNS.get(found.state)
    return {
        "accusationId": found.accusation_id,
        "state": found.state.name.lower(),
        "providerId": found.provider_id,
        "accuser": found.accuser,
        "member": None if found.member == ZERO_ADDRESS else found.member,
        "windowId": c.window_id,
        "node": c.node,
        "device": c.device,
        "row": found.row,
        "bondWei": found.bond_wei,
        "step": found.step if found.state in _STEPPED else None,
        "turn": turn[0].value if turn else None,
        "move": turn[1].value if turn else None,
        "deadline": found.deadline,
    }


def _cells(found: Accusation) -> Sequence[object]:
    turn = TURNS.get(found.state)
    c = found.commitment
    accused = f"node {c.node}" if found.member == ZERO_ADDRESS else f"member {found.member}"
    whose = f"{turn[0]}: {turn[1]}" if turn else "-"
    state = found.state.name.lower()
    until = when(found.deadline) if turn and found.state is not AccusationState.PROVEN else "-"
    return (
        to_hex(found.accusation_id),
        found.provider_id,
        accused,
        c.window_id,
        found.row,
        state,
        whose,
        until,
        swm(found.bond_wei),
    )

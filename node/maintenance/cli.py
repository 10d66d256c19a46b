"""`swarm node maintenance`: announce, list and cancel the absence of this node."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swarm_chain.cli.context import Session, session_of
from swarm_chain.cli.output import facts, table
from swarm_chain.cli.shared import TransactionCommand

if TYPE_CHECKING:
    from node.config import NodeSettings

app = typer.Typer(help="Announce on chain that this node will be away.")

Folder = Annotated[Path | None, typer.Option(help="Folder of this node.", metavar="DIR")]
NodeKey = Annotated[bool, typer.Option("--node-key", help="Pay and sign with the node's own key.")]


@app.command(cls=TransactionCommand)
def announce(
    ctx: typer.Context,
    length: Annotated[str, typer.Option("--for", help="How long: 90m, 2h30m.", metavar="LENGTH")],
    at: Annotated[
        str | None, typer.Option(help="Start: +2h, 2030-01-31T18:00Z or unix s; default: as soon as excused.")
    ] = None,
    anyway: Annotated[bool, typer.Option("--anyway", help="Also where not all of it is excused.")] = False,
    node_key: NodeKey = False,
    folder: Folder = None,
) -> None:
    """Announces that this node will be away; the agent then takes nothing new, and comes back by itself."""
    from node.maintenance.announce import announce_absence
    from swarm_chain.cli.views import transaction_document, when

    session, settings = _opened(ctx, folder, node_key=node_key)
    done = announce_absence(session, settings, at, length, anyway=anyway)
    document = {
        "node": done.said.node,
        "startsAt": done.said.starts_at,
        "endsAt": done.said.ends_at,
        "excusedFor": done.excused_for,
        "transaction": transaction_document(done.outcome),
    }
    shown = {
        "node": done.said.node,
        "from": when(done.said.starts_at),
        "until": when(done.said.ends_at),
        "excused": f"{done.excused_for} s",
        "next": "swarm node maintenance list",
    }
    session.output.show(document, facts("maintenance announced", shown))


@app.command("list")
def list_announced(ctx: typer.Context, folder: Folder = None) -> None:
    """Shows what was announced, what of it is excused, and what the budget still holds."""
    from node.maintenance.announce import calendar_of
    from node.maintenance.plan import budget_left, excused_of, phase_of
    from node.registration import known_address
    from swarm_chain.cli.views import when

    session, settings = _opened(ctx, folder)
    node = known_address(settings)
    calendar = calendar_of(session, node)
    left = budget_left(calendar, node)
    found = [(one, excused_of(one, calendar), phase_of(one, calendar.now)) for one in calendar.announced]
    document = {
        "node": node,
        "announced": [
            {"startsAt": one.starts_at, "endsAt": one.ends_at, "excusedFor": seconds, "phase": phase}
            for one, seconds, phase in found
        ],
        "leftFor": left,
        "budgetFor": calendar.params.maintenance.budget_for,
    }
    rows = [(when(one.starts_at), when(one.ends_at), f"{seconds} s", phase) for one, seconds, phase in found]
    session.output.show(document, table(f"node {node}: {left} s left", ("from", "until", "excused", "phase"), rows))


@app.command(cls=TransactionCommand)
def cancel(ctx: typer.Context, node_key: NodeKey = False, folder: Folder = None) -> None:
    """Withdraws what was announced, as long as it has not begun."""
    from node.maintenance.announce import withdraw_absence
    from swarm_chain.cli.views import transaction_document

    session, settings = _opened(ctx, folder, node_key=node_key)
    node, outcome = withdraw_absence(session, settings)
    document = {"node": node, "withdrawn": True, "transaction": transaction_document(outcome)}
    session.output.show(document, facts("maintenance withdrawn", {"node": node, "next": "swarm node status"}))


def _opened(ctx: typer.Context, folder: Path | None, *, node_key: bool = False) -> "tuple[Session, NodeSettings]":
    from node.config import load_settings

    session = session_of(ctx)
    settings = load_settings({**session.options, "node_folder": folder})
    if node_key:
        session.options |= {"keystore": settings.key_file, "password_file": settings.password_file}
    return session, settings

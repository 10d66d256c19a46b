"""`swarm oracle`: run a member, do one step by hand, replay what was published."""

from pathlib import Path
from typing import Annotated, Any

import typer

from swarm_chain.cli.context import Session, session_of
from swarm_chain.cli.output import facts

app = typer.Typer(help="Run an oracle member; check what members published.", no_args_is_help=True)

DatabaseUrl = Annotated[
    str | None, typer.Option("--database-url", help="sqlite:///file or postgresql+psycopg://…; default: in SWARM_HOME.")
]


Host = Annotated[str | None, typer.Option("--host", help="Address to listen on; default: loopback.")]
Port = Annotated[int | None, typer.Option("--port", help="Port to listen on; default: 8700.")]
FirstEpoch = Annotated[int, typer.Option("--from", help="First epoch.", min=0)]
LastEpoch = Annotated[int, typer.Option("--to", help="Last epoch, included.", min=0)]


@app.command()
def run(
    ctx: typer.Context,
    database_url: DatabaseUrl = None,
    host: Host = None,
    port: Port = None,
    dry: Annotated[
        bool, typer.Option("--dry-run", help="Send nothing, even with a key; without a key it is a dry run anyway.")
    ] = False,
) -> None:
    """Runs a member until SIGTERM: serves nodes, judges, votes, submits, carries out outcomes."""
    from oracle.config import load_settings
    from oracle.logs import log_as_json
    from oracle.main import log_dissent, open_member, run_member

    session = session_of(ctx)
    session.on_dissent = log_dissent
    settings = load_settings(database_url=database_url, host=host, port=port)
    log_as_json(settings.log_level)
    with open_member(settings, _connection(session, dry), session.settings.home) as member:
        run_member(member, settings, session.deployment)


@app.command()
def once(
    ctx: typer.Context,
    database_url: DatabaseUrl = None,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Perform the action; else only say what it would be.")
    ] = False,
) -> None:
    """Says what the member would do next and, with --confirm, does it."""
    from oracle.config import load_settings
    from oracle.logs import log_as_json
    from oracle.main import open_member
    from oracle.pipeline.ticks import choose_action, follow, keep_lease, work

    session = session_of(ctx)
    log_as_json()
    settings = load_settings(database_url=database_url)
    with open_member(settings, _connection(session, dry=False), session.settings.home) as member:
        if member.signer is None:
            session.output.note("warning: no key is configured (--keystore, --account): a dry run, nothing is sent")
        follow(member)
        action = choose_action(member)
        document = {"action": type(action).__name__, "details": repr(action), "performed": confirm}
        if confirm:
            keep_lease(member)
            member.keeper.require()
            work(member)
    session.output.show(document, facts("next action", document))


@app.command("renew-storage")
def renew_storage(ctx: typer.Context, database_url: DatabaseUrl = None) -> None:
    """Ends every volume, shows their keys and makes a new storage secret; nodes begin anew. Stop the member first."""
    from oracle.config import load_settings
    from oracle.logs import log_as_json
    from oracle.main import open_member, renew_secret

    session = session_of(ctx)
    log_as_json()
    home = session.settings.home
    session.output.confirm("End every volume of this member? What nodes hold for it stops counting.")
    with open_member(load_settings(database_url=database_url), _connection(session, dry=True), home) as member:
        document = {"retired": renew_secret(member, home)}
    session.output.show(document, facts("storage secret renewed", document))


@app.command()
def replay(
    ctx: typer.Context,
    epoch: Annotated[int, typer.Option("--epoch", help="Epoch number.", min=0)],
    keep: Annotated[Path | None, typer.Option("--keep", help="Folder for the fetched documents.")] = None,
) -> None:
    """Rebuilds a report from published data and the chain, and compares it byte for byte. Needs no key."""
    from oracle.audit_commands import open_audit, raise_verdict, replay_one

    session = session_of(ctx)
    with session.output.progress(f"replaying epoch {epoch}"):
        found = replay_one(open_audit(session), epoch, keep)
    document: dict[str, Any] = found.as_dict() | {"matches": not found.faults, "difference": "; ".join(found.faults)}
    session.output.show(document, facts(f"replay of epoch {epoch}", document))
    raise_verdict([found])


@app.command()
def audit(
    ctx: typer.Context,
    first: FirstEpoch,
    last: LastEpoch,
    folder: Annotated[
        Path | None, typer.Option("--from-folder", help="What `export` wrote, instead of members.")
    ] = None,
) -> None:
    """Recomputes every report of a range from published data and the chain; names what differs. Needs no key."""
    from oracle.audit_commands import audit_epochs, open_audit

    audit_epochs(session_of(ctx), open_audit(session_of(ctx), folder), first, last)


@app.command()
def export(
    ctx: typer.Context,
    first: FirstEpoch,
    last: LastEpoch,
    out: Annotated[Path, typer.Option("--out", help="Folder; an interrupted export goes on there.")],
) -> None:
    """Writes everything published of a range into a folder, each epoch once it was audited. Needs no key."""
    from oracle.audit_commands import export_epochs, open_audit

    export_epochs(session_of(ctx), open_audit(session_of(ctx)), (first, last), out)


@app.command()
def members(
    ctx: typer.Context,
    last: Annotated[int, typer.Option("--last", help="Latest reports to count missed votes in.", min=1)] = 30,
) -> None:
    """Shows the committee: who sits in it, how each voted, whether each answers. Needs no key."""
    from oracle.config import load_settings
    from oracle.operator_commands import show_members

    show_members(session_of(ctx), load_settings(), last)


@app.command()
def keys(ctx: typer.Context) -> None:
    """Shows which key this member would sign with, and for how many epochs it can pay."""
    from oracle.operator_commands import show_keys

    show_keys(session_of(ctx))


@app.command()
def check(
    ctx: typer.Context,
    database_url: DatabaseUrl = None,
    host: Host = None,
    port: Port = None,
) -> None:
    """Looks at everything a member needs before it runs, and says what to do; exit 6 if something blocks."""
    from oracle.config import load_settings
    from oracle.operator_commands import run_check

    run_check(session_of(ctx), load_settings(database_url=database_url, host=host, port=port))


def _connection(session: Session, dry: bool) -> Any:
    from oracle.main import Connection
    from swarm_chain.cli.keys import key_choice

    # A key that is configured and cannot be read is an error, never a dry run.
    signer = None if dry or not key_choice(session.settings).configured else session.signer
    return Connection(chain=session.chain, deployment=session.deployment, signer=signer)

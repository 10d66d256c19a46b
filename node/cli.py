"""`swarm node`: register this machine, run its agent, measure it, compare what everybody knows of it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from node.maintenance.cli import app as maintenance_app
from node.service.cli import app as service_app
from swarm_chain.cli.context import Session, session_of
from swarm_chain.cli.output import facts
from swarm_chain.cli.shared import TransactionCommand

if TYPE_CHECKING:
    from node.config import NodeSettings

app = typer.Typer(help="Prove and work.")
app.add_typer(service_app, name="service")
app.add_typer(maintenance_app, name="maintenance")

Folder = Annotated[Path | None, typer.Option(help="Folder of this node: key, state, proofs.", metavar="DIR")]


@app.command(cls=TransactionCommand)
def register(
    ctx: typer.Context,
    folder: Folder = None,
    provider: Annotated[int | None, typer.Option(help="Provider id; default: the one the chosen key owns.")] = None,
) -> None:
    """Adds this machine to a provider, with a hot key of its own; the owner's or operator's key pays."""
    from node.registration import register_node
    from swarm_chain.cli.views import provider_or_own, transaction_document

    session = session_of(ctx)
    settings = _settings(session, node_folder=folder)
    done = register_node(session, settings, provider_or_own(session, provider))
    document: dict[str, Any] = {
        "node": done.node,
        "providerId": done.provider_id,
        "registered": done.outcome is not None,
        "folder": str(settings.folder),
    }
    if done.outcome is not None:
        document["transaction"] = transaction_document(done.outcome)
    shown = {"node": done.node, "provider": done.provider_id, "folder": settings.folder, "next": "swarm node run"}
    session.output.show(document, facts("node added" if done.outcome else "node was added before", shown))


@app.command()
def run(
    ctx: typer.Context,
    folder: Folder = None,
    jobs: Annotated[bool | None, typer.Option("--jobs/--no-jobs", help="Take customers' jobs.")] = None,
    ray_address: Annotated[
        str | None, typer.Option(help="Ray cluster to join; default: a small one of its own.")
    ] = None,
    poll_ms: Annotated[int | None, typer.Option(help="Pause between two looks, milliseconds.")] = None,
) -> None:
    """Runs the node until SIGTERM: heartbeats, windows, proofs, jobs. Logs are JSON lines on stderr."""
    from node.main import run_agent

    session = session_of(ctx)
    settings = _settings(session, node_folder=folder, jobs=jobs, ray_address=ray_address, poll_ms=poll_ms)
    run_agent(settings)


@app.command()
def bench(
    ctx: typer.Context,
    categories: Annotated[
        list[str] | None, typer.Argument(help="compute memory training storage …; default: all.")
    ] = None,
    preset: Annotated[str, typer.Option(help="minimal, cpu, gpu or gpu-large.")] = "cpu",
    runs: Annotated[int, typer.Option(help="Compute runs of each backend; the shortest counts.", min=1, max=100)] = 3,
    device: Annotated[str, typer.Option(help="Device as torch names it: cpu, cuda:0, ...")] = "cpu",
    folder: Folder = None,
    submit: Annotated[
        bool, typer.Option("--submit", help="Sign it with the node's key and hand it to every member.")
    ] = False,
) -> None:
    """Measures what this machine can do; sends nothing without --submit. What nobody measured is never a zero."""
    from node.suite.cli import plan_of, show_bench
    from node.suite.submit import open_submission

    session = session_of(ctx)
    settings = _settings(session, node_folder=folder)
    plan = plan_of(settings, preset, runs, device)
    show_bench(session, plan, categories or [], open_submission(session, settings) if submit else None)


@app.command()
def doctor(
    ctx: typer.Context,
    folder: Folder = None,
    port: Annotated[
        list[int] | None, typer.Option(help="Port that members shall call back; repeatable.", min=1024, max=65535)
    ] = None,
) -> None:
    """Looks at machine, chain, oracle and keys; exit 6 if something blocks. Nothing is changed."""
    from node.doctor.cli import show_doctor

    session = session_of(ctx)
    show_doctor(session, _settings(session, node_folder=folder), port or [])


@app.command("why-idle")
def why_idle(ctx: typer.Context, folder: Folder = None) -> None:
    """Says why no work comes: one sentence a reason, the one that explains the others first."""
    from node.idle.cli import show_idle

    session = session_of(ctx)
    show_idle(session, _settings(session, node_folder=folder))


@app.command()
def status(ctx: typer.Context, folder: Folder = None) -> None:
    """Compares what this machine, the oracle and the chain know of the node."""
    from node.overview import show_status

    session = session_of(ctx)
    show_status(session, _settings(session, node_folder=folder))


def _settings(session: Session, **own: object) -> "NodeSettings":
    from node.config import load_settings

    return load_settings({**session.options, **own})

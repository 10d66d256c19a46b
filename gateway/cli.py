"""`swarm cluster`: run a gateway beside a Ray head, look at both, end both."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swarm_chain.cli.context import Session, session_of
from swarm_chain.cli.output import facts, table

if TYPE_CHECKING:
    from gateway.config import GatewaySettings

app = typer.Typer(help="Give customers' jobs to nodes of one Ray cluster.")

Folder = Annotated[Path | None, typer.Option(help="Folder of this gateway: key, store, Ray head.", metavar="DIR")]


@app.command()
def head(
    ctx: typer.Context,
    folder: Folder = None,
    host: Annotated[str | None, typer.Option(help="Address to answer on; default: this machine only.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to answer on; 0: a free one.", min=0, max=65535)] = None,
    ray_address: Annotated[
        str | None, typer.Option(help="Ray head that runs already; default: one started here.")
    ] = None,
    fee_bps: Annotated[int | None, typer.Option(help="On top of a node's price, in 1/10,000.")] = None,
) -> None:
    """Runs the gateway until SIGTERM; the Ray head is started or found again, and goes on. Logs are JSON lines on stderr."""
    from gateway.main import run_gateway

    session = session_of(ctx)
    own = {"folder": folder, "host": host, "port": port, "ray_address": ray_address, "fee_bps": fee_bps}
    run_gateway(_settings(session, own))


@app.command()
def status(ctx: typer.Context, folder: Folder = None) -> None:
    """Shows gateway, Ray head and nodes."""
    from gateway.overview import overview

    session = session_of(ctx)
    found = overview(_settings(session, {"folder": folder}))
    gateway, ray = found["gateway"] or {}, found["rayHead"] or {}
    shown = {
        "gateway": gateway.get("address", "does not run"),
        "url": gateway.get("url", "-"),
        "Ray head": ray.get("address", "does not run"),
        "folder": found["folder"],
    }
    rows = [(one["node"], one["provider"], one["region"], one["gpus"], one["jobs"]) for one in found["nodes"]]
    nodes = table("nodes", ("node", "provider", "region", "gpus", "jobs"), rows)
    session.output.show(found, facts("cluster", shown), *([nodes] if rows else []))


@app.command()
def down(ctx: typer.Context, folder: Folder = None) -> None:
    """Ends the gateway and its Ray head; what is stored stays."""
    from gateway.overview import end_cluster

    session = session_of(ctx)
    ended = end_cluster(_settings(session, {"folder": folder}))
    shown = {name: "ended" if ran else "did not run" for name, ran in ended.items()}
    session.output.show(ended, facts("cluster", shown))


def _settings(session: Session, own: Mapping[str, object]) -> "GatewaySettings":
    from gateway.config import load_settings

    return load_settings({**session.options, **own})

"""`swarm node service`: install and uninstall the unit."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swarm_chain.cli.context import Session, session_of
from swarm_chain.cli.output import facts, table

if TYPE_CHECKING:
    from node.service.unit import Service

app = typer.Typer(help="Keep the node running with systemd.")

SYSTEM_UNITS = Path("/etc/systemd/system")

User = Annotated[bool, typer.Option("--user", help="For the user's own manager; needs no root.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be done, write nothing.")]
Force = Annotated[bool, typer.Option("--force", help="Also if the unit there was changed.")]
Root = Annotated[Path, typer.Option(help="Root folder, to prepare an image.", metavar="DIR")]
Account = Annotated[str, typer.Option(help="Account the node runs as.", metavar="NAME")]


@app.command("install")
def install_unit(
    ctx: typer.Context,
    user: User = False,
    dry_run: DryRun = False,
    force: Force = False,
    root: Root = Path("/"),
    service_user: Account = "swarm-node",
) -> None:
    """Writes a hardened unit that drains on SIGTERM, and names the commands that start it."""
    from node.service.install import check_service, install, place_of, require_systemd
    from node.service.unit import next_commands

    session = session_of(ctx)
    require_systemd(root)
    service, units = _service(session, user, service_user)
    check_service(service)
    done = install(service, place_of(service, units, root), force=force, dry_run=dry_run)
    commands = next_commands(service)
    document = {
        "unit": str(done.place.unit),
        "environment": str(done.place.environment),
        "written": not dry_run,
        "changed": done.is_changed,
        "difference": done.difference,
        "text": done.text,
        "next": commands,
    }
    if dry_run:
        session.output.note(done.difference or done.text)
    shown = {"unit": done.place.unit, "environment": done.place.environment, "written": "no" if dry_run else "yes"}
    session.output.show(document, facts("service", shown), table("next", ("command",), [(one,) for one in commands]))


@app.command("uninstall")
def uninstall_unit(
    ctx: typer.Context,
    user: User = False,
    dry_run: DryRun = False,
    force: Force = False,
    root: Root = Path("/"),
    service_user: Account = "swarm-node",
) -> None:
    """Removes the unit; stop it first. Settings, key and state stay."""
    from node.service.install import place_of, uninstall

    session = session_of(ctx)
    service, units = _service(session, user, service_user)
    place = place_of(service, units, root)
    there = uninstall(service, place, force=force, dry_run=dry_run)
    manager = "systemctl --user" if user else "systemctl"
    document = {"unit": str(place.unit), "removed": there and not dry_run, "next": f"{manager} daemon-reload"}
    session.output.show(document, facts("service", document))


def _service(session: Session, user: bool, account: str) -> "tuple[Service, Path]":
    """The service as this program's place and settings make it, and systemd's folder for it."""
    from platformdirs import user_config_path

    from node.config import load_settings
    from node.service.unit import Service

    program = str(Path(sys.executable).parent / "swarm")
    if not user:
        return Service(program=program, user=account), SYSTEM_UNITS
    config = user_config_path("swarm-node")
    home = load_settings(session.options).home
    service = Service(program=program, environment=str(config / "environment"), home=str(home.absolute()), user="")
    return service, user_config_path("systemd") / "user"

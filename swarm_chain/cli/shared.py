"""Options that every command takes, before or after its noun and verb."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperOption
from typer.main import get_command

from swarm_chain.cli.context import Session

EVERYWHERE = "Everywhere"
SENDING = "Transaction"


def option(help_line: str, *names: str, panel: str = EVERYWHERE, metavar: str | None = None) -> Any:
    """An option of the shared sets; its value is kept in the session, not passed to the command."""
    return typer.Option(*names, help=help_line, rich_help_panel=panel, metavar=metavar, show_default=False)


def _everywhere(
    json: Annotated[bool, option("Print exactly one JSON document.", "--json")] = False,
    yes: Annotated[bool, option("Ask nothing.", "--yes", "-y")] = False,
    debug: Annotated[bool, option("Show tracebacks.", "--debug")] = False,
    rpc_url: Annotated[
        str | None, option("Chain endpoint, or several with commas.", "--rpc-url", "-r", metavar="URL")
    ] = None,
    rpc_agree: Annotated[
        int | None, option("How many of the endpoints must agree; default: most.", "--rpc-agree", metavar="K")
    ] = None,
    deployment: Annotated[Path | None, option("Deployment JSON.", "--deployment", metavar="FILE")] = None,
    oracle_url: Annotated[str | None, option("Oracle member.", "--oracle-url", metavar="URL")] = None,
    gateway_url: Annotated[str | None, option("Gateway of jobs.", "--gateway-url", metavar="URL")] = None,
    account: Annotated[str | None, option("Name of a keystore.", "--account", metavar="NAME")] = None,
    keystore: Annotated[Path | None, option("Path of a keystore.", "--keystore", metavar="FILE")] = None,
    password_file: Annotated[Path | None, option("File with the password.", "--password-file", metavar="FILE")] = None,
) -> None:
    """Only its signature counts."""


def _sending(
    dry_run: Annotated[bool, option("Simulate, send nothing.", "--dry-run", panel=SENDING)] = False,
    no_wait: Annotated[bool, option("Return once sent.", "--no-wait", panel=SENDING)] = False,
    max_fee: Annotated[
        str | None, option("Refuse a transaction that may cost more.", "--max-fee", panel=SENDING, metavar="ETH")
    ] = None,
    timeout: Annotated[
        int | None, option("Seconds to wait for the receipt.", "--timeout", panel=SENDING, metavar="S")
    ] = None,
    unsigned: Annotated[
        Path | None, option("Write it unsigned, to sign elsewhere.", "--unsigned", panel=SENDING, metavar="FILE")
    ] = None,
    sender: Annotated[
        str | None, option("Sender of an unsigned transaction.", "--from", panel=SENDING, metavar="ADDRESS")
    ] = None,
) -> None:
    """Only its signature counts."""


@cache
def shared_options() -> tuple[TyperOption, ...]:
    """Options of every command."""
    return _options(_everywhere)


@cache
def sending_options() -> tuple[TyperOption, ...]:
    """Options of every command that sends a transaction."""
    return _options(_sending)


class TransactionCommand(TyperCommand):
    """A command that sends transactions: `@app.command(cls=TransactionCommand)` gives it --dry-run, --max-fee and the rest."""

    def __init__(self, name: str | None, **settings: Any) -> None:
        super().__init__(name, **settings)
        self.params.extend(sending_options())


def _options(function: Callable[..., None]) -> tuple[TyperOption, ...]:
    app = typer.Typer(add_completion=False)
    app.command()(function)
    options = tuple(found for found in get_command(app).params if isinstance(found, TyperOption))
    for found in options:
        found.expose_value = False
        found.callback = _remember
    return options


def _remember(ctx: Any, parameter: Any, value: Any) -> Any:
    if value is not None and value is not False:
        ctx.ensure_object(Session).options[parameter.name] = value
    return value

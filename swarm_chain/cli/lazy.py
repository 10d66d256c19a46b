"""Groups of commands whose modules are imported when one of them runs, not when help lists them."""

from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution, entry_points
from typing import Any

from typer.core import TyperCommand, TyperGroup
from typer.main import get_command as command_of

from swarm_chain.cli.shared import shared_options
from swarm_chain.core.errors import UnavailableError

OUR_PACKAGES = ("swarm_chain", "oracle", "node", "gateway")
ENTRY_POINT_GROUP = "swarm.commands"
# Extras that bring a noun of another name.
EXTRA_OF = {"cluster": "gateway"}
# Help of the nouns that other packages bring; an entry point itself has no place for it.
EXTRA_HELP = {
    "cluster": "Give customers' jobs to nodes of one Ray cluster: head, status, down.",
    "node": "Prove and work: doctor, register, run, service, status, why-idle, bench.",
    "oracle": "Judge and settle: run, once, replay.",
}


class LazyGroup(TyperGroup):
    """A group that knows the name and one line of help of each noun, and imports a noun when it is called.

    Args:
        nouns: name -> ("module:attribute" of its Typer app, help line).
    """

    def __init__(self, *, nouns: dict[str, tuple[str, str]], **settings: Any) -> None:
        super().__init__(**settings)
        self._loaders: dict[str, Callable[[], Any]] = {}
        for name, (target, help_line) in nouns.items():
            self._announce(name, help_line, EntryPoint(name, target, ENTRY_POINT_GROUP))
        for point in _own_entry_points():
            self._announce(point.name, EXTRA_HELP.get(point.name, ""), point)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The announced noun: enough for help. A noun that is not ours may come from another installed package."""
        if cmd_name not in self.commands:
            for point in entry_points(group=ENTRY_POINT_GROUP, name=cmd_name):
                self._announce(point.name, "", point)
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The real command, imported now, with the options every command has."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, self._loaders[name]() if name else command, rest

    def _announce(self, name: str, help_line: str, point: EntryPoint) -> None:
        self.add_command(TyperGroup(name=name, help=help_line), name)
        self._loaders[name] = lambda: load_noun(point)


def load_noun(point: EntryPoint) -> Any:
    """Imports a noun's Typer app and gives each of its commands the shared options.

    Args:
        point: entry point whose value is "module:attribute" of a Typer app.

    Raises:
        UnavailableError: the noun needs a package that the installed extras lack.
    """
    try:
        app = getattr(import_module(point.module), point.attr)
    except ModuleNotFoundError as error:
        missing = error.name or str(error)
        if missing.split(".")[0] in OUR_PACKAGES:
            raise
        raise UnavailableError(
            f"'swarm {point.name}' needs the package {missing.split('.')[0]}, which is not installed",
            fix=f"install it with: pip install 'swarm[{EXTRA_OF.get(point.name, point.name)}]'",
            code="missing_extra",
            exit_code=3,
        ) from error
    command = command_of(app)
    command.name = point.name
    _share(command)
    return command


def _share(command: Any) -> None:
    if isinstance(command, TyperGroup):
        command.rich_markup_mode = None  # plain help: rich's takes another 100 ms
        command.no_args_is_help = False  # a missing verb is a usage error everywhere
        for child in command.commands.values():
            _share(child)
    elif isinstance(command, TyperCommand):
        command.rich_markup_mode = None
        known = {parameter.name for parameter in command.params}
        command.params.extend(option for option in shared_options() if option.name not in known)


def _own_entry_points() -> Iterable[EntryPoint]:
    try:
        points = distribution("swarm").entry_points
    except PackageNotFoundError:
        return ()
    return [point for point in points if point.group == ENTRY_POINT_GROUP]

"""What a command works with: settings, output, deployment, chain, key and oracle, each made when first asked for."""

import sys
from collections.abc import Callable
from functools import cached_property
from getpass import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarm_chain.cli.output import Output
from swarm_chain.core.errors import InvalidInputError

if TYPE_CHECKING:
    import typer

    from swarm_chain.adapters.connection import ChainConnection
    from swarm_chain.adapters.panel import Dissent
    from swarm_chain.cli.config import Settings
    from swarm_chain.cli.oracle_client import OracleClient
    from swarm_chain.core.model import Deployment
    from swarm_chain.ports import ChainReader, Signer


class Session:
    """One run of `swarm`.

    Args:
        as_json: the command line holds --json; known before options are parsed, because parsing may fail.
    """

    def __init__(self, *, as_json: bool = False) -> None:
        self.options: dict[str, Any] = {"json": True} if as_json else {}
        self.hidden: list[str] = []  # secrets read in this run, to keep them out of logs and tracebacks
        self.on_dissent: Callable[[Dissent], None] | None = None  # told of endpoints that were out-voted
        self.sending: list[str] = []  # hashes of transactions that may be on their way

    @cached_property
    def output(self) -> Output:
        """Where results, notes and questions go."""
        return Output(as_json=bool(self.options.get("json")), assume_yes=bool(self.options.get("yes")))

    @cached_property
    def settings(self) -> "Settings":
        """Options, then environment, then defaults."""
        from swarm_chain.cli.config import load_settings

        return load_settings(self.options)

    @cached_property
    def deployment(self) -> "Deployment":
        """The contracts, from --deployment, SWARM_DEPLOYMENT or SWARM_HOME/deployments/<chainId>.json."""
        from swarm_chain.cli.connect import find_deployment

        return find_deployment(self.settings)

    @cached_property
    def chain(self) -> "ChainConnection":
        """The chain, checked to be the one of the deployment."""
        from swarm_chain.cli.connect import open_chain

        return open_chain(self.settings, self.deployment, self.on_dissent or self._note_dissent)

    @property
    def reader(self) -> "ChainReader":
        """What is read of the chain."""
        return self.chain.reader

    @cached_property
    def signer(self) -> "Signer":
        """The key of SWARM_SIGNER_URL, or of --keystore or --account, unlocked with its password."""
        from swarm_chain.cli.keys import unlock

        return unlock(self)

    @cached_property
    def oracle(self) -> "OracleClient":
        """The first oracle member of --oracle-url or SWARM_ORACLE_URL."""
        from swarm_chain.cli.oracle_client import OracleClient

        return OracleClient(next(iter(self.settings.oracle_urls), None))

    @cached_property
    def oracles(self) -> "tuple[OracleClient, ...]":
        """All oracle members of --oracle-url or SWARM_ORACLE_URL; none is fine."""
        from swarm_chain.cli.oracle_client import OracleClient

        return tuple(OracleClient(url) for url in self.settings.oracle_urls)

    def secret(self, prompt: str, file: Path | None) -> str:
        """Reads a password or key: from a file ("-" is stdin), else from the terminal without echo. It is never an argument.

        Args:
            prompt: what to ask for.
            file: where it is, or None.

        Raises:
            InvalidInputError: no such file, nothing in it, or nobody to ask (exit 3).
        """
        text = _read_secret(prompt, file).strip("\r\n")
        self.hidden.append(text)
        return text

    def _note_dissent(self, dissent: "Dissent") -> None:
        self.output.note(f"{dissent.endpoint} was out-voted ({dissent.operation}: {dissent.reason})")


def session_of(ctx: "typer.Context") -> Session:
    """The session of a running command."""
    return ctx.ensure_object(Session)


def _read_secret(prompt: str, file: Path | None) -> str:
    if file is None:
        if sys.stdin is None or sys.stdin.closed or not sys.stdin.isatty():
            raise InvalidInputError(
                f"{prompt} needed, and nobody is there to type it",
                fix="give --password-file, or set ETH_PASSWORD to a file that holds it",
                code="no_password",
                exit_code=3,
            )
        return getpass(f"{prompt}: ", stream=sys.stderr)
    if str(file) == "-":
        return sys.stdin.readline() if sys.stdin else ""
    try:
        return file.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(
            f"cannot read {file}: {getattr(error, 'strerror', None) or 'not text'}",
            fix="name a file that exists and that you may read",
            code="unreadable_file",
            exit_code=3,
        ) from error

"""Root of the `swarm` command: nouns load when called, every error ends here."""

import sys
from collections.abc import Sequence
from functools import partial
from types import TracebackType

import typer

from swarm_chain.cli.context import Session
from swarm_chain.cli.crash import record_crash, traceback_of
from swarm_chain.cli.lazy import LazyGroup
from swarm_chain.cli.shared import shared_options
from swarm_chain.core.errors import InvalidInputError, SwarmError

HELP = "Swarm: stake, prove, earn; every number can be checked. `swarm init` prints how to begin."
NOUNS = {
    "init": ("swarm_chain.cli.init:app", "Print the next three commands."),
    "wallet": ("swarm_chain.cli.wallet:app", "Keys: create, import, list, export, change-password, remove, sign."),
    "provider": ("swarm_chain.cli.provider:app", "Your entry in the registry: register, show, set-payout, retire."),
    "stake": ("swarm_chain.cli.stake:app", "Tokens at risk: add, unbond, cancel, withdraw, status, calendar."),
    "rewards": ("swarm_chain.cli.rewards:app", "What you earned: show, explain, claim."),
    "slash": ("swarm_chain.cli.slash:app", "Cases: list, show, answer."),
    "court": ("swarm_chain.cli.court:app", "False commitments: accuse, answer, defend, status, watch, claim."),
    "job": (
        "swarm_chain.cli.job:app",
        "Work for others to do: plan, submit, status, logs, results, cancel, explain, list, schema.",
    ),
    "tx": ("swarm_chain.cli.tx_send:app", "Transactions signed elsewhere: send."),
    "dev": ("swarm_chain.cli.dev:app", "Chains: up, down, deploy, verify, faucet, accounts, time, check-vectors."),
}


def root_command() -> LazyGroup:
    """The whole command tree, no noun imported yet."""
    return LazyGroup(name="swarm", nouns=NOUNS, help=HELP, params=list(shared_options()), rich_markup_mode=None)


def run(arguments: Sequence[str], session: Session) -> int:
    """Runs one command.

    Args:
        arguments: what follows `swarm` on the command line.
        session: a fresh one.

    Returns:
        The exit code: 0 ok, 1 failed or cancelled, 2 usage or confirmation needed, 3 config or keys, 4 RPC or oracle
        unreachable, 5 reverted, 6 doctor blocks, 7 timed out, 70 inconsistent, 130 interrupted.
    """
    try:
        result = root_command().main(
            args=list(arguments) or ["--help"], prog_name="swarm", standalone_mode=False, obj=session
        )
    except SwarmError as error:
        return _fail(session, error, error)
    except typer.Abort as error:
        return _fail(session, SwarmError("cancelled: nothing was sent or changed", code="cancelled"), error)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)  # usage errors carry the command they are about
        fix = f"see: {context.command_path if context else 'swarm'} --help"
        return _fail(session, InvalidInputError(error.format_message(), fix=fix, code="usage"), error)
    if result == 130:
        return _fail(session, _interrupted(session), None)
    session.output.finish()
    return result if isinstance(result, int) else 0


def main() -> None:
    """Entry point of the program."""
    session = Session(as_json="--json" in sys.argv)
    sys.excepthook = partial(_unexpected, session)
    sys.exit(run(sys.argv[1:], session))


def _fail(session: Session, shown: SwarmError, error: BaseException | None) -> int:
    if error is not None and session.options.get("debug"):
        print(traceback_of(error, session.hidden), file=sys.stderr)
    return session.output.fail(shown)


def _interrupted(session: Session) -> SwarmError:
    hashes = session.sending
    fix = f"look up {', '.join(hashes)} before sending again: it may still be mined" if hashes else ""
    return SwarmError("interrupted", fix=fix, code="interrupted", values={"hashes": hashes}, exit_code=130)


def _unexpected(
    session: Session, _kind: type[BaseException], error: BaseException, _trace: TracebackType | None
) -> None:
    """Last resort for what nobody foresaw: no raw traceback reaches the terminal. Python exits with 1 afterwards."""
    _fail(session, record_crash(error, session.settings.home, session.hidden), error)

"""What happens to an error nobody foresaw: an id for the person, a redacted log for whoever looks into it."""

import os
import re
import traceback
from collections.abc import Iterable
from pathlib import Path

from swarm_chain.core.errors import SwarmError

_KEY_LIKE = re.compile(r"(0x)?[0-9a-fA-F]{64,}")


def redact(text: str, hidden: Iterable[str]) -> str:
    """Text without the given secrets and without anything that could be a private key.

    Args:
        text: anything.
        hidden: passwords and keys this run has read.
    """
    for secret in sorted(filter(None, hidden), key=len, reverse=True):
        text = text.replace(secret, "[hidden]")
    return _KEY_LIKE.sub("[64 hex digits]", text)


def traceback_of(error: BaseException, hidden: Iterable[str]) -> str:
    """Redacted traceback, without values of local variables."""
    return redact("".join(traceback.format_exception(error)), hidden)


def record_crash(error: BaseException, home: Path, hidden: Iterable[str]) -> SwarmError:
    """Writes a redacted log, readable by its owner only.

    Args:
        error: what was not foreseen.
        home: SWARM_HOME; the log goes to its folder `logs`.
        hidden: passwords and keys this run has read.

    Returns:
        The error to show instead: it names the id and the file.
    """
    error_id = os.urandom(4).hex()
    path = home / "logs" / f"error-{error_id}.log"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(traceback_of(error, hidden))
    except OSError:
        return SwarmError(f"unexpected error {error_id}", fix="run it again with --debug", code="unexpected")
    return SwarmError(
        f"unexpected error {error_id}",
        fix=f"the details are in {path} (no key or password is in it); --debug shows them here",
        code="unexpected",
        values={"errorId": error_id, "log": str(path)},
    )

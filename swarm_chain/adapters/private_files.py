"""Files with secrets: made for their owner alone, read only while they are."""

import os
from pathlib import Path

from swarm_chain.core.errors import InvalidInputError

PRIVATE = 0o600


def read_private(path: Path, what: str, fix: str) -> str:
    """Text of a file only its owner may read, without line ends.

    Args:
        path: the file.
        what: what it holds, for the error.
        fix: what makes it, for the error.

    Raises:
        InvalidInputError: missing, or readable by others (exit 3).
    """
    try:
        mode, text = path.stat().st_mode, path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidInputError(f"cannot read the {what} in {path}", fix=fix, code="no_file", exit_code=3) from error
    if mode & 0o077:
        raise InvalidInputError(
            f"{path} holds the {what} and others may read it", fix=f"chmod 600 {path}", code="loose_mode", exit_code=3
        )
    return text.strip("\r\n")


def write_private(path: Path, text: str) -> None:
    """Writes a new file with mode 0600; an existing one stays as it is."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with open(path, "x", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, PRIVATE)) as file:
            file.write(text)
    except FileExistsError:
        return

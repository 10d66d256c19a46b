"""Child processes of the audit: forge, slither and halmos, started from argument lists."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from swarm_chain.core.errors import UnavailableError


def run_tool(
    command: Sequence[str],
    *,
    folder: Path,
    settings: Mapping[str, str],
    good_statuses: tuple[int, ...] = (0,),
    timeout_s: int | None = None,
) -> str:
    """Standard output of a program.

    Args:
        command: program and arguments.
        folder: where it runs.
        settings: environment variables on top of this process's own.
        good_statuses: exit statuses that are an answer; analysers use theirs to say that they found something.
        timeout_s: seconds it may take; None means any time.

    Raises:
        UnavailableError: the program is missing, or it ended with any other status.
        subprocess.TimeoutExpired: it took longer.
    """
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout_s,
        )
    except FileNotFoundError as error:
        raise UnavailableError(f"{command[0]} is not installed", fix="run 'make audit', which installs it") from error
    if done.returncode not in good_statuses:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-30:])
        raise UnavailableError(f"{' '.join(command[:3])} ended with status {done.returncode}:\n{last}")
    return done.stdout


def forge_settings(folder: Path, **more: str) -> dict[str, str]:
    """Variables that give a forge run an output folder and a cache of its own, so that no run spoils another's.

    Args:
        folder: where `out` and `cache` go.
        more: further settings of foundry.toml, by the name after FOUNDRY_.
    """
    own = {"OUT": str(folder / "out"), "CACHE_PATH": str(folder / "cache"), **more}
    return {f"FOUNDRY_{name}": value for name, value in own.items()}

"""One gateway a folder: whoever holds the lock answers for it, and says where."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from swarm_chain.adapters.folder_lock import folder_lock
from swarm_chain.core.errors import InvalidInputError

LOCK = "gateway.lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A gateway that runs: its process and its URL."""

    pid: int
    url: str


@contextmanager
def only_gateway(folder: Path) -> Iterator[None]:
    """Hold the folder of a gateway.

    Raises:
        InvalidInputError: another gateway holds it.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with folder_lock(folder / LOCK) as ours:
        if not ours:
            raise InvalidInputError(
                f"another gateway runs in {folder}", fix="stop it first: swarm cluster down", code="already_running"
            )
        try:
            yield
        finally:
            (folder / "gateway.json").unlink(missing_ok=True)


def say_running(folder: Path, running: Running) -> None:
    """Writes down where the gateway of a folder answers."""
    beside = folder / "gateway.json.part"
    beside.write_text(json.dumps(asdict(running)), encoding="utf-8")
    beside.replace(folder / "gateway.json")


def find_running(folder: Path) -> Running | None:
    """The gateway that holds a folder, if one does."""
    if not folder.is_dir():
        return None
    with folder_lock(folder / LOCK) as ours:
        if ours:
            return None
    try:
        return Running(**json.loads((folder / "gateway.json").read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None  # it is just starting

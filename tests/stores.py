"""Stores for tests that are about something else: the schema is made once a process, and nobody waits for the disk."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import Engine, event

from oracle.store.engine import open_store


def sqlite_store(path: Path) -> Engine:
    """A store in a SQLite file, with the current schema; what the file holds already stays."""
    if not path.exists():
        path.write_bytes(_empty_store())
    engine = open_store(f"sqlite:///{path}")
    engine.dispose()  # the connection that looked at the schema would go on waiting for the disk
    event.listen(engine, "connect", _hurry)
    return engine


@cache
def _empty_store() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "oracle.db"
        open_store(f"sqlite:///{path}").dispose()
        return path.read_bytes()


def _hurry(connection: object, _record: object) -> None:
    # Only a power cut needs what this gives up: a process that is killed loses nothing.
    connection.execute("PRAGMA synchronous=OFF").close()  # type: ignore[attr-defined]  # DBAPI connections have no common type

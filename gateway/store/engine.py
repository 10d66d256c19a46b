"""The database of a gateway.

meta            whose it is, and the secret its canaries are drawn from
specs           job specs under the hash of their canonical JSON; `deliveries` says which member has which
blobs           inputs that are here whole
announcements   the newest of each node; `assignments` says who was asked for which job, and when
contents, logs  what nodes handed in of their jobs
canaries        what the gateway's own computing found of a job; empty: it holds
receipts        the one receipt of a job that was countersigned
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock

from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import Address

SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS specs (
  spec_hash BLOB PRIMARY KEY, document BLOB NOT NULL, program TEXT NOT NULL, units INTEGER NOT NULL, kept_at INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS deliveries (
  spec_hash BLOB NOT NULL, member TEXT NOT NULL, PRIMARY KEY (spec_hash, member)
) STRICT;
CREATE TABLE IF NOT EXISTS blobs (hash BLOB PRIMARY KEY, size INTEGER NOT NULL, kept_at INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS announcements (
  node TEXT PRIMARY KEY, fields TEXT NOT NULL, signature BLOB NOT NULL, issued_at INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS assignments (
  job_id INTEGER NOT NULL, node TEXT NOT NULL, provider INTEGER NOT NULL, assigned_at INTEGER NOT NULL,
  withdrawn INTEGER NOT NULL, PRIMARY KEY (job_id, node)
) STRICT;
CREATE TABLE IF NOT EXISTS contents (
  job_id INTEGER NOT NULL, number INTEGER NOT NULL, hash BLOB NOT NULL, size INTEGER NOT NULL,
  PRIMARY KEY (job_id, number)
) STRICT;
CREATE TABLE IF NOT EXISTS logs (
  job_id INTEGER NOT NULL, offset INTEGER NOT NULL, text BLOB NOT NULL, PRIMARY KEY (job_id, offset)
) STRICT;
CREATE TABLE IF NOT EXISTS canaries (
  job_id INTEGER NOT NULL, root BLOB NOT NULL, found TEXT NOT NULL, PRIMARY KEY (job_id, root)
) STRICT;
CREATE TABLE IF NOT EXISTS receipts (
  job_id INTEGER PRIMARY KEY, digest BLOB NOT NULL, document TEXT NOT NULL, signature BLOB NOT NULL,
  gateway_signature BLOB NOT NULL, program TEXT NOT NULL, unit_ms INTEGER
) STRICT;
"""


class Database:
    """One connection that threads take in turn.

    Args:
        connection: opened for several threads, without transactions of its own.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lock = RLock()

    @contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        """A transaction: on disk when it is left, undone when it raises; nobody else reads or writes meanwhile."""
        with self._lock, self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection

    def rows(self, query: str, *values: object) -> list[tuple[object, ...]]:
        """All rows of a query."""
        with self._lock:
            return self._connection.execute(query, values).fetchall()

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._connection.close()


def open_database(path: Path, gateway: Address) -> Database:
    """Open or create the database of a gateway.

    Args:
        path: the file; its folder is made if absent.
        gateway: address of the gateway's key.

    Raises:
        InvalidInputError: the file belongs to another gateway (exit 3).
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.executescript(SCHEMA)
    database = Database(connection)
    owner = meta(database, "gateway", gateway)
    if owner != gateway:
        database.close()
        raise InvalidInputError(
            f"{path} belongs to gateway {owner}, not to {gateway}",
            fix="give every gateway its own --folder",
            code="store_of_another_gateway",
            exit_code=3,
        )
    return database


def meta(database: Database, name: str, first: str) -> str:
    """A fact that is written once.

    Args:
        database: where.
        name: of the fact.
        first: its value if it was never written.
    """
    with database.change() as db:
        db.execute("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO NOTHING", (name, first))
        (value,) = db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return str(value)

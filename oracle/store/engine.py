"""Opens the store and brings its schema up to date."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, Table, create_engine, event, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, ProgrammingError

from oracle.store.faults import watch
from swarm_chain.core.errors import InconsistentError, InvalidInputError, UnavailableError

# The pool has room for every thread of the HTTP service (40) and of the clock: none ever waits for a connection.
POOL = {"pool_pre_ping": True, "pool_size": 8, "max_overflow": 56}
# A session whose process was stopped inside a transaction must not keep its locks longer than a lease lasts.
POSTGRES_OPTIONS = "-c lock_timeout=10s -c statement_timeout=60s -c idle_in_transaction_session_timeout=10s"
_INSERTS: dict[str, Callable[[Table], sqlite.Insert | postgresql.Insert]] = {
    "sqlite": sqlite.insert,
    "postgresql": postgresql.insert,
}
MIGRATION_LOCK = 0x5357414D  # any number, the same one in every process


def open_store(url: str) -> Engine:
    """Engine on a database whose schema is current; its failures are of the four families (`oracle.store.faults`).

    Args:
        url: SQLAlchemy URL: `sqlite:///path` (WAL) or `postgresql+psycopg://...`.

    Raises:
        InvalidInputError: the URL cannot be read, or names something that is no database of this version (exit 3).
        UnavailableError: the database does not answer, is locked, full or cannot be written.
    """
    engine = _engine(url)
    shown = engine.url.render_as_string(hide_password=True)
    try:
        migrate(engine)
    except UnavailableError as error:
        raise UnavailableError(
            f"{error.message}: {shown}: {error.__cause__}", fix=error.fix, code=error.code
        ) from error
    except (ProgrammingError, InconsistentError) as error:
        raise InvalidInputError(
            f"{shown} is not a database of this version of the oracle",
            fix="name another one with --database-url, or install the version that wrote it",
            code="foreign_store",
            exit_code=3,
        ) from error
    if engine.dialect.name == "sqlite":
        require_same = _same_file(Path(engine.url.database or ""))
        for moment in ("do_connect", "checkout"):
            event.listen(engine, moment, require_same)
    return engine


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """One transaction that writes: all of it or nothing; what it read cannot change before it has written.

    Raises:
        UnavailableError: another process holds the database, or it is away or full.
    """
    with engine.connect() as connection:
        connection.execution_options(swarm_writes=True)
        with connection.begin():
            yield connection


def migrate(engine: Engine, revision: str = "head", *, down: bool = False) -> None:
    """Runs the migrations to a revision, inside one transaction: a process killed in it leaves the schema of before.

    Args:
        engine: the store.
        revision: number of the revision, or "head" or "base".
        down: towards older revisions.

    Raises:
        InvalidInputError: the database was written by a newer version (exit 3).
    """
    config = _config()
    with writing(engine) as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
        have = MigrationContext.configure(connection).get_current_revision()
        _require_known(have)
        if revision == "head" and have == _revisions()[0]:
            return
        config.attributes["connection"] = connection
        (command.downgrade if down else command.upgrade)(config, revision)


def insert_new(connection: Connection, table: Table, values: Mapping[str, object]) -> bool:
    """Inserts a row unless its key exists; if another transaction is about to insert it, waits for that one's end.

    Returns:
        True if the row is new.
    """
    statement = _INSERTS[connection.dialect.name](table).values(**values).on_conflict_do_nothing()
    return connection.execute(statement, execution_options={"preserve_rowcount": True}).rowcount == 1


def _engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
        _require_kept(parsed)
        engine = create_engine(parsed, connect_args=_connect_args(parsed), **POOL)
    except (ArgumentError, ImportError) as error:
        raise _bad_url("the database URL cannot be read") from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _use_wal)
        event.listen(engine, "begin", _begin)
    watch(engine)
    return engine


def _require_kept(url: URL) -> None:
    kind = url.get_backend_name()
    if kind not in _INSERTS:
        raise _bad_url(f"a store cannot be kept in {kind}")
    if kind == "sqlite" and (url.database or ":memory:").startswith((":memory:", "file:")):
        raise _bad_url("a SQLite store needs the plain path of a file")


def _bad_url(message: str) -> InvalidInputError:
    return InvalidInputError(
        message,
        fix="use sqlite:///path/oracle.db or postgresql+psycopg://user@host/name",
        code="bad_database_url",
        exit_code=3,
    )


def _connect_args(url: URL) -> dict[str, object]:
    if url.get_backend_name() != "postgresql":
        return {}
    given = url.query.get("options", "")
    options = " ".join([POSTGRES_OPTIONS, *([given] if isinstance(given, str) else given)])
    return {"connect_timeout": 5, "options": options.strip()}


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(files("oracle.store") / "migrations"))
    return config


@cache
def _revisions() -> tuple[str, ...]:
    """All that this version knows, the newest first."""
    return tuple(script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions())


def _require_known(have: str | None) -> None:
    known = _revisions()
    if have is not None and have not in known:
        raise InvalidInputError(
            f"the database has schema {have}, this version of the oracle knows {known[-1]} to {known[0]}",
            fix="install the version that wrote it, or name another database with --database-url",
            code="newer_store",
            exit_code=3,
        )


def _same_file(path: Path) -> Callable[..., None]:
    kept = os.stat(path)

    def require_same(*_event: object) -> None:
        # An open connection would go on writing to a deleted file, and a new one would make an empty one.
        if not path.exists() or not os.path.samestat(kept, os.stat(path)):
            raise UnavailableError(
                "this member's database file was moved or deleted",
                code="store_lost",
                fix="put it back, or restart the member: on a fresh one it catches up from chain and publications",
                retry_after=30,
            )

    return require_same


def _use_wal(connection: object, _record: object) -> None:
    cursor = connection.cursor()  # type: ignore[attr-defined]  # DBAPI connections have no common type
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=10000", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
    # The driver's own idea of when a transaction begins would commit half of one at the end of a savepoint.
    connection.isolation_level = None  # type: ignore[attr-defined]  # as above


def _begin(connection: Connection) -> None:
    # A transaction that starts reading cannot become a writer once another one has written: writers say so first.
    writes = connection.get_execution_options().get("swarm_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

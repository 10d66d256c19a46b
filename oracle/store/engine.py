"""Opens the store and brings its schema up to date."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, Table, create_engine, event, insert
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, IntegrityError, OperationalError

from swarm_chain.core.errors import InvalidInputError, UnavailableError


def open_store(url: str) -> Engine:
    """Engine on a database whose schema is current.

    Args:
        url: SQLAlchemy URL: `sqlite:///path` (WAL) or `postgresql+psycopg://...`.

    Raises:
        InvalidInputError: the URL cannot be read, or names something that is no database of this version (exit 3).
        UnavailableError: the database does not answer, is locked or cannot be written.
    """
    try:
        engine = create_engine(make_url(url), pool_pre_ping=True)
    except ArgumentError as error:
        raise InvalidInputError(
            "the database URL cannot be read",
            fix="use sqlite:///path/oracle.db or postgresql+psycopg://user@host/name",
            exit_code=3,
        ) from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _use_wal)
        event.listen(engine, "begin", _begin)
    shown = engine.url.render_as_string(hide_password=True)
    try:
        migrate(engine)
    except OperationalError as error:
        raise UnavailableError(
            f"the database {shown} does not answer: {error.orig}",
            fix="check that it runs, that its folder exists and may be written, and that no other member uses it",
            code="store_unavailable",
        ) from error
    except (DatabaseError, CommandError) as error:
        raise InvalidInputError(
            f"{shown} is not a database of this version of the oracle",
            fix="name another one with --database-url, or install the version that wrote it",
            code="foreign_store",
            exit_code=3,
        ) from error
    return engine


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """One transaction that writes: all of it or nothing; what it read cannot change before it has written.

    Raises:
        OperationalError: another process holds the database.
    """
    with engine.connect() as connection:
        connection.execution_options(swarm_writes=True)
        with connection.begin():
            yield connection


def migrate(engine: Engine, revision: str = "head") -> None:
    """Runs the migrations up (or down) to a revision, inside one transaction."""
    config = Config()
    config.set_main_option("script_location", str(files("oracle.store") / "migrations"))
    with writing(engine) as connection:
        config.attributes["connection"] = connection
        if revision == "base":
            command.downgrade(config, revision)
        else:
            command.upgrade(config, revision)


def insert_new(connection: Connection, table: Table, values: Mapping[str, object]) -> bool:
    """Inserts a row unless its key exists; a savepoint keeps the transaction alive on every database.

    Returns:
        True if the row is new.
    """
    try:
        with connection.begin_nested():
            connection.execute(insert(table).values(**values))
    except IntegrityError:
        return False
    return True


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

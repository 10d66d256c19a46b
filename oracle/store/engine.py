"""Opens the store and brings its schema up to date."""

from collections.abc import Mapping
from importlib.resources import files

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, Table, create_engine, event, insert
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, IntegrityError, OperationalError

from swarm_chain.core.errors import InvalidInputError, UnavailableError


def open_store(url: str) -> Engine:
    """Engine on a database whose schema is current.

    Args:
        url: SQLAlchemy URL: `sqlite:///path` (WAL) or `postgresql+psycopg://...`.

    Raises:
        InvalidInputError: the URL cannot be read.
        UnavailableError: the database does not answer.
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
    try:
        migrate(engine)
    except OperationalError as error:
        shown = engine.url.render_as_string(hide_password=True)
        raise UnavailableError(
            f"the database {shown} does not answer", fix="check that it runs and that the folder exists"
        ) from error
    return engine


def migrate(engine: Engine, revision: str = "head") -> None:
    """Runs the migrations up (or down) to a revision, inside one transaction."""
    config = Config()
    config.set_main_option("script_location", str(files("oracle.store") / "migrations"))
    with engine.begin() as connection:
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

"""Every revision goes up and down on both databases, and what is no database of this version is refused."""

import subprocess
import sys
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, MetaData, Table, create_engine, insert, inspect, select, text

from oracle.store import migrations
from oracle.store.engine import migrate, open_store, writing
from oracle.store.tables import metadata
from swarm_chain.core.errors import InvalidInputError, UnavailableError

SCRIPTS = Path(migrations.__file__).parent
REVISIONS = ("base", *sorted(script.revision for script in ScriptDirectory(str(SCRIPTS)).walk_revisions()))
# Migrates down one revision and dies before the transaction ends.
DIES_INSIDE = """
import os, sys
from sqlalchemy import event
from oracle.store.engine import migrate, open_store
engine = open_store(sys.argv[1])
event.listen(engine, "commit", lambda connection: os._exit(9))
migrate(engine, "0002", down=True)
"""


def columns(engine: Engine) -> dict[str, set[tuple[str, bool]]]:
    """(name, may be null) of every column, by table."""
    have = inspect(engine)
    return {
        name: {(column["name"], bool(column["nullable"])) for column in have.get_columns(name)}
        for name in have.get_table_names()
        if name != "alembic_version"
    }


def table(connection: Connection, name: str) -> Table:
    """A table as the database has it."""
    return Table(name, MetaData(), autoload_with=connection)


def test_migrations_when_run_then_they_make_the_tables_of_the_code(engine: Engine) -> None:
    want = {name: {(c.name, bool(c.nullable)) for c in one.columns} for name, one in metadata.tables.items()}
    assert columns(engine) == want
    for name, one in metadata.tables.items():
        keys = inspect(engine).get_pk_constraint(name)["constrained_columns"]
        assert keys == list(one.primary_key.columns.keys()), name


def test_migrations_when_each_is_taken_back_then_the_schema_of_before_is_there(database_url: str) -> None:
    engine = open_store(database_url)
    migrate(engine, "base", down=True)
    seen = []
    for revision in REVISIONS[1:]:
        seen.append(columns(engine))
        migrate(engine, revision)
    for revision, before in zip(reversed(REVISIONS[:-1]), reversed(seen), strict=True):
        migrate(engine, revision, down=True)
        assert columns(engine) == before, revision
    engine.dispose()


def test_migrations_when_taken_back_and_run_again_then_windows_intents_and_documents_stay(engine: Engine) -> None:
    rows: dict[str, dict[str, object]] = {
        "windows": {"window_id": 7, "secret": b"s", "judged": True},
        "documents": {"epoch": 1, "name": "manifest", "content": b"m"},
        "heartbeats": {"node": "n", "sequence": 5, "arrived_ms": 9},
    }
    migrate(engine, "0001", down=True)
    with writing(engine) as connection:
        for name, row in rows.items():
            connection.execute(insert(table(connection, name)).values(**row))
    migrate(engine)
    migrate(engine, "0001", down=True)
    migrate(engine)
    with engine.connect() as connection:
        for name, row in rows.items():
            kept = connection.execute(select(table(connection, name))).mappings().one()
            assert {key: kept[key] for key in row} == row


def test_migrations_when_commitments_name_no_seed_then_they_are_not_carried_over(engine: Engine) -> None:
    migrate(engine, "0002", down=True)
    old = {"node": "n", "device": 0, "root": "r", "m": 64, "n": 64, "steps": 1, "signature": b"", "elapsed_ms": 5}
    with writing(engine) as connection:
        connection.execute(insert(table(connection, "commitments")).values(window_id=1, first=True, **old))
    migrate(engine)
    with engine.connect() as connection:
        assert connection.execute(select(metadata.tables["commitments"])).all() == []


def test_migration_when_the_process_dies_inside_then_the_schema_of_before_stays(database_url: str) -> None:
    open_store(database_url).dispose()
    done = subprocess.run([sys.executable, "-c", DIES_INSIDE, database_url], check=False, timeout=60)
    assert done.returncode == 9
    engine = create_engine(database_url)
    have = inspect(engine)
    assert set(have.get_table_names()) - {"alembic_version"} == set(metadata.tables)
    assert "window_seed" in {column["name"] for column in have.get_columns("commitments")}
    engine.dispose()


def test_open_when_the_database_is_newer_then_it_is_refused_and_left_alone(database_url: str) -> None:
    engine = open_store(database_url)
    with writing(engine) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(
        InvalidInputError, match=f"schema 9999, this version of the oracle knows 0001 to {REVISIONS[-1]}"
    ):
        open_store(database_url)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == "9999"
    engine.dispose()


def test_open_when_tables_of_another_program_are_there_then_it_is_refused(database_url: str) -> None:
    engine = create_engine(database_url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE windows (house INTEGER)"))
    with pytest.raises(InvalidInputError, match="not a database of this version") as raised:
        open_store(database_url)
    assert (raised.value.code, raised.value.exit_code) == ("foreign_store", 3)
    engine.dispose()


@pytest.mark.parametrize("url", ["oracle.db", "postgresql+nothing://host/name"])
def test_open_when_the_url_is_wrong_then_it_says_so(url: str) -> None:
    with pytest.raises(InvalidInputError, match="cannot be read"):
        open_store(url)


def test_open_when_the_database_is_of_another_kind_then_it_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="cannot be kept in mysql") as raised:
        open_store("mysql+pymysql://host/name")
    assert (raised.value.code, raised.value.exit_code) == ("bad_database_url", 3)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "sqlite:///file:oracle.db?uri=true"])
def test_open_when_the_store_would_have_no_file_then_it_is_refused(url: str) -> None:
    with pytest.raises(InvalidInputError, match="path of a file"):
        open_store(url)


@pytest.mark.parametrize("url", ["sqlite:///{folder}/missing/oracle.db", "postgresql+psycopg://x@/x?host={folder}"])
def test_open_when_nothing_is_there_then_it_says_so(tmp_path: Path, url: str) -> None:
    with pytest.raises(UnavailableError, match="does not answer") as raised:
        open_store(url.format(folder=tmp_path))
    assert raised.value.code == "store_unavailable"

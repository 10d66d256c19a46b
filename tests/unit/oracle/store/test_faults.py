"""What the drivers' error codes mean."""

import sqlite3

import psycopg
import pytest
from psycopg import errors

from oracle.store.faults import Fault, fault_of


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (errors.DiskFull(), Fault.FULL),
        (errors.ReadOnlySqlTransaction(), Fault.READ_ONLY),
        (errors.DataCorrupted(), Fault.DAMAGED),
        (errors.IndexCorrupted(), Fault.DAMAGED),
        (errors.AdminShutdown(), Fault.AWAY),
        (errors.TooManyConnections(), Fault.AWAY),
        (errors.LockNotAvailable(), Fault.AWAY),
        (errors.DeadlockDetected(), Fault.AWAY),
        (psycopg.OperationalError("connection refused"), Fault.AWAY),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else value.name,
)
def test_postgresql_error_when_read_then_it_says_how_the_database_failed(error: Exception, fault: Fault) -> None:
    assert fault_of(error) is fault


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        (sqlite3.SQLITE_FULL, Fault.FULL),
        (sqlite3.SQLITE_READONLY_DIRECTORY, Fault.READ_ONLY),
        (sqlite3.SQLITE_CORRUPT_VTAB, Fault.DAMAGED),
        (sqlite3.SQLITE_NOTADB, Fault.DAMAGED),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, Fault.AWAY),
        (sqlite3.SQLITE_IOERR_WRITE, Fault.AWAY),
        (sqlite3.SQLITE_CANTOPEN, Fault.AWAY),
    ],
)
def test_sqlite_code_when_extended_then_its_primary_code_counts(code: int, fault: Fault) -> None:
    error = sqlite3.OperationalError("any")
    error.sqlite_errorcode = code
    assert fault_of(error) is fault

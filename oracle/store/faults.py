"""What a database says when it fails, as the four families: the only place that reads drivers' error codes."""

import sqlite3
from collections.abc import Callable
from enum import Enum

import structlog
from sqlalchemy import Engine, event
from sqlalchemy.engine.interfaces import ExceptionContext
from sqlalchemy.exc import DataError, IntegrityError, NotSupportedError, ProgrammingError

from swarm_chain.core.errors import InconsistentError, SwarmError, UnavailableError

log = structlog.get_logger()


class Fault(Enum):
    """How a database fails."""

    AWAY = "away"
    FULL = "full"
    READ_ONLY = "read only"
    DAMAGED = "damaged"


# Errors of a statement, not of the database: the caller handles them, or they are faults of this program.
_OF_A_STATEMENT = (IntegrityError, ProgrammingError, DataError, NotSupportedError)

# Primary result codes of SQLite; what is not named is away.
_SQLITE = {
    sqlite3.SQLITE_FULL: Fault.FULL,
    sqlite3.SQLITE_READONLY: Fault.READ_ONLY,
    sqlite3.SQLITE_CORRUPT: Fault.DAMAGED,
    sqlite3.SQLITE_NOTADB: Fault.DAMAGED,
    sqlite3.SQLITE_ERROR: Fault.DAMAGED,  # a table or column that every revision of the schema has is missing
}

# SQLSTATE of PostgreSQL; what is not named is away.
_SQLSTATE = {
    "53100": Fault.FULL,  # disk_full
    "25006": Fault.READ_ONLY,  # read_only_sql_transaction
    "XX001": Fault.DAMAGED,  # data_corrupted
    "XX002": Fault.DAMAGED,  # index_corrupted
}


def watch(engine: Engine) -> None:
    """Makes every failure of the database leave the engine as one of the four families."""
    event.listen(engine, "handle_error", _translate)


def fault_of(error: BaseException) -> Fault:
    """How the database failed, from its driver's error."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None:
        return _SQLITE.get(code & 0xFF, Fault.AWAY)
    return _SQLSTATE.get(getattr(error, "sqlstate", None) or "", Fault.AWAY)


def _translate(context: ExceptionContext) -> SwarmError | None:
    failed = context.sqlalchemy_exception
    # A failed ping is not the last word: the pool connects anew, and only if that fails the database is away.
    if failed is None or context.is_pre_ping or isinstance(failed, _OF_A_STATEMENT):
        return None
    error = _ERRORS[fault_of(context.original_exception)]()
    log.error("store_failed", code=error.code, reason=str(context.original_exception).strip())
    return error


def _away() -> SwarmError:
    return UnavailableError(
        "this member's database does not answer",
        code="store_unavailable",
        fix="check that it runs, that its folder exists and may be written, and that no other program holds it",
    )


def _full() -> SwarmError:
    return UnavailableError(
        "this member's database is full",
        code="store_full",
        fix="free space where the database lies; the member goes on by itself",
        retry_after=30,
    )


def _read_only() -> SwarmError:
    return UnavailableError(
        "this member's database cannot be written",
        code="store_read_only",
        fix="let the member write the database and its folder; it goes on by itself",
        retry_after=30,
    )


def _damaged() -> SwarmError:
    return InconsistentError(
        "this member's database is damaged",
        code="store_damaged",
        fix="stop the member, keep the database and start with a fresh one: it is rebuilt from chain and publications",
    )


_ERRORS: dict[Fault, Callable[[], SwarmError]] = {
    Fault.AWAY: _away,
    Fault.FULL: _full,
    Fault.READ_ONLY: _read_only,
    Fault.DAMAGED: _damaged,
}

"""The lease: of all processes on one database one acts, the others stand by.

    free --hold--> held, token t --hold by its holder--> held, token t
                   held, token t --lapsed, hold by another--> held, token t + 1
                   held, token t --release--> free, token t

The token is a fence: a write that names an older one is refused in its own transaction, however late it comes.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, Engine, Select, and_, select, text, update

from oracle.store.engine import insert_new, writing
from oracle.store.tables import leases
from swarm_chain.core.errors import UnavailableError

NAME = "member"

_NOW_MS = {
    "sqlite": text("SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"),
    "postgresql": text("SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"),
}

Now = Callable[[Connection], int]
Fence = Callable[[Connection], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A process' right to act; times in milliseconds by the database's clock."""

    holder: str
    token: int
    lasts_ms: int
    expires_ms: int


_NOBODYS = Lease(holder="", token=0, lasts_ms=0, expires_ms=0)


def database_ms(connection: Connection) -> int:
    """Unix milliseconds by the database's own clock, so that the clocks of two machines need not agree."""
    return int(connection.execute(_NOW_MS[connection.dialect.name]).scalar_one())


def grant(kept: Lease, holder: str, now_ms: int, lasts_ms: int) -> Lease | None:
    """What a process gets that asks for the lease.

    Args:
        kept: the lease as it stands.
        holder: who asks.
        now_ms: the database's time.
        lasts_ms: how long the lease is to last from now, > 0.

    Returns:
        The same token for the holder (nobody has acted since, even if it lapsed), the next one for a process that
        takes over, None while another one holds it.
    """
    own = kept.holder == holder
    if not own and not _lapsed(kept, now_ms):
        return None
    return Lease(
        holder=holder, token=kept.token if own else kept.token + 1, lasts_ms=lasts_ms, expires_ms=now_ms + lasts_ms
    )


def hold(engine: Engine, holder: str, lasts_ms: int, now: Now = database_ms) -> Lease | None:
    """Takes or renews the lease.

    Args:
        engine: the store.
        holder: name of the asking process, another one for each process, at most 64 characters.
        lasts_ms: how long it lasts from now, > 0.
        now: the database's clock.

    Returns:
        The lease, None while another process holds it.

    Raises:
        UnavailableError: the database does not answer.
    """
    with writing(engine) as connection:
        granted = grant(_locked(connection), holder, now(connection), lasts_ms)
        if granted is not None:
            connection.execute(update(leases).where(leases.c.name == NAME).values(**asdict(granted)))
    return granted


def release(engine: Engine, lease: Lease) -> None:
    """Gives the lease back, so that another process need not wait for its end; one that was taken over stays."""
    own = and_(leases.c.name == NAME, leases.c.token == lease.token, leases.c.holder == lease.holder)
    with writing(engine) as connection:
        connection.execute(update(leases).where(own).values(expires_ms=0))


def require_current(connection: Connection, lease: Lease) -> None:
    """Refuses what a transaction is about to write if another process has taken over; until its end none can.

    Raises:
        UnavailableError: the lease is another process' (code lease_lost).
    """
    row = connection.execute(_named().with_for_update(read=True)).mappings().one_or_none()
    if row is None or (row["token"], row["holder"]) != (lease.token, lease.holder):
        raise UnavailableError(
            "another process of this member has taken over", code="lease_lost", fix="nothing: this one stands by now"
        )


def _locked(connection: Connection) -> Lease:
    """The lease, which no other transaction can change until the end of this one."""
    row = connection.execute(_named().with_for_update()).mappings().one_or_none()
    if row is None:
        insert_new(connection, leases, {"name": NAME, **asdict(_NOBODYS)})
        row = connection.execute(_named().with_for_update()).mappings().one()
    return Lease(holder=row["holder"], token=row["token"], lasts_ms=row["lasts_ms"], expires_ms=row["expires_ms"])


def _named() -> Select[Any]:
    return select(leases).where(leases.c.name == NAME)


def _lapsed(kept: Lease, now_ms: int) -> bool:
    # A clock that was set back would make a dead process' lease last for hours: none ends later than two lengths ahead.
    return kept.expires_ms <= now_ms or kept.expires_ms > now_ms + 2 * kept.lasts_ms

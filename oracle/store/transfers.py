"""Transfers of bandwidth audits: begun, sent, come back; each step once, and none is taken back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Engine, Row, and_, select, update

from oracle.store.engine import insert_new, writing
from oracle.store.evidence import Instant
from oracle.store.tables import transfers
from swarm_chain.core.encoding import hash_from_hex, to_hex
from swarm_chain.core.units import Hash32


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """A payload on its way. `secret` makes it; `sent_root` is over all of it once it was sent to its end.

    `landed_ms` is when the last byte was back, by the clock of `began`; `fault` is what was wrong with those bytes.
    """

    audit_id: Hash32
    secret: bytes = field(repr=False)
    began: Instant
    sent_root: Hash32 | None = None
    landed_ms: int | None = None
    fault: str = ""

    @property
    def over(self) -> bool:
        """Whether bytes came back, right or wrong: then no others count."""
        return self.landed_ms is not None or bool(self.fault)


def begin_transfer(engine: Engine, transfer: Transfer) -> Transfer:
    """Keeps a transfer that begins; the one of this audit that began before comes back instead."""
    values = {
        "audit_id": to_hex(transfer.audit_id),
        "secret": transfer.secret,
        "began_ms": transfer.began.ms,
        "boot": transfer.began.boot,
        "fault": "",
    }
    with writing(engine) as connection:
        if insert_new(connection, transfers, values):
            return transfer
        same = select(transfers).where(transfers.c.audit_id == values["audit_id"])
        return _transfer(connection.execute(same).one())


def transfer_of(engine: Engine, audit_id: Hash32) -> Transfer | None:
    """The transfer of an audit."""
    query = select(transfers).where(transfers.c.audit_id == to_hex(audit_id))
    with engine.connect() as connection:
        row = connection.execute(query).one_or_none()
    return None if row is None else _transfer(row)


def keep_sent(engine: Engine, audit_id: Hash32, root: Hash32) -> None:
    """Keeps that the payload was sent to its end, and the root over it."""
    _change(engine, audit_id, transfers.c.sent_root.is_(None), {"sent_root": to_hex(root)})


def keep_landed(engine: Engine, audit_id: Hash32, landed_ms: int | None, fault: str) -> None:
    """Keeps how the first upload that came to an end did (None: no clock can say when)."""
    still = and_(transfers.c.landed_ms.is_(None), transfers.c.fault == "")
    _change(engine, audit_id, still, {"landed_ms": landed_ms, "fault": fault})


def _change(engine: Engine, audit_id: Hash32, still: Any, values: Mapping[str, object]) -> None:
    same = and_(transfers.c.audit_id == to_hex(audit_id), still)
    with writing(engine) as connection:
        connection.execute(update(transfers).where(same).values(**values))


def _transfer(row: Row[Any]) -> Transfer:
    return Transfer(
        audit_id=hash_from_hex(row.audit_id),
        secret=row.secret,
        began=Instant(boot=row.boot, ms=row.began_ms),
        sent_root=None if row.sent_root is None else hash_from_hex(row.sent_root),
        landed_ms=row.landed_ms,
        fault=row.fault,
    )

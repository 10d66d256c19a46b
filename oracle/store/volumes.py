"""Volumes of this member: opened, grown, confirmed, retired; a number never becomes smaller and none is opened twice."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Engine, Row, func, select, update

from oracle.store.engine import insert_new, writing
from oracle.store.tables import volumes
from swarm_chain.core.encoding import hash_from_hex, to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import Address, EpochNumber, Hash32
from swarm_chain.core.volumes import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptVolume:
    """A volume as it stands; `number` is its index. `key` is there, for everybody, once it is retired."""

    volume_id: Hash32
    node: Address
    member: Address
    number: int
    epoch: EpochNumber
    key_hash: Hash32
    ledger: Ledger = field(default_factory=Ledger)
    retired: bool = False
    key: Hash32 | None = None


def newest_volume(engine: Engine, member: Address, node: Address) -> KeptVolume | None:
    """The volume with the highest number a member gave a node, retired or not."""
    query = select(volumes).where(volumes.c.member == member, volumes.c.node == node)
    with engine.connect() as connection:
        row = connection.execute(query.order_by(volumes.c.number.desc()).limit(1)).one_or_none()
    return None if row is None else _volume(row)


def volume_of(engine: Engine, volume_id: Hash32) -> KeptVolume:
    """The volume with this id.

    Raises:
        InvalidInputError: there is none (code "unknown_volume").
    """
    with engine.connect() as connection:
        return _require(connection, volume_id)


def volumes_of(engine: Engine, node: Address, most: int) -> tuple[KeptVolume, ...]:
    """The newest volumes of a node, newest first."""
    query = select(volumes).where(volumes.c.node == node).order_by(volumes.c.epoch.desc(), volumes.c.number.desc())
    with engine.connect() as connection:
        return tuple(_volume(row) for row in connection.execute(query.limit(most)))


def living_volumes(engine: Engine) -> tuple[KeptVolume, ...]:
    """All volumes that are not retired."""
    with engine.connect() as connection:
        return tuple(_volume(row) for row in connection.execute(select(volumes).where(volumes.c.retired.is_(False))))


def any_volume(engine: Engine) -> bool:
    """Whether this member ever gave out a volume."""
    with engine.connect() as connection:
        return connection.execute(select(func.count()).select_from(volumes)).scalar_one() > 0


def add_volume(engine: Engine, volume: KeptVolume) -> None:
    """Keeps a new volume; the one of another request that was faster stays."""
    ledger = volume.ledger
    values = {
        "volume_id": to_hex(volume.volume_id),
        "node": volume.node,
        "member": volume.member,
        "number": volume.number,
        "epoch": volume.epoch,
        "key_hash": to_hex(volume.key_hash),
        **_numbers(ledger),
        "retired": volume.retired,
    }
    with writing(engine) as connection:
        insert_new(connection, volumes, values)


def book(engine: Engine, volume_id: Hash32, entry: Callable[[Ledger], Ledger]) -> Ledger:
    """Changes what is sent and confirmed of a volume, in one transaction.

    Args:
        engine: the store.
        volume_id: of which volume.
        entry: the ledger after, from the one before; what it raises leaves it as it is.

    Raises:
        InvalidInputError: there is no such volume, or it is retired (codes "unknown_volume", "volume_retired").
    """
    with writing(engine) as connection:
        volume = _require(connection, volume_id, lock=True)
        if volume.retired:
            raise InvalidInputError("the volume is retired", fix="ask for a new one", code="volume_retired")
        after = entry(volume.ledger)
        connection.execute(
            update(volumes).where(volumes.c.volume_id == to_hex(volume_id)).values(**_numbers(after)),
        )
    return after


def retire_volume(engine: Engine, volume_id: Hash32, key: Hash32 | None) -> None:
    """Ends a volume and shows its key; None where the secret is lost."""
    values = {"retired": True, "key": None if key is None else to_hex(key)}
    still = (volumes.c.volume_id == to_hex(volume_id), volumes.c.retired.is_(False))
    with writing(engine) as connection:
        connection.execute(update(volumes).where(*still).values(**values))


def _numbers(ledger: Ledger) -> dict[str, int]:
    return {
        "confirmed": ledger.confirmed,
        "sent": ledger.sent,
        "sent_epoch": ledger.sent_epoch,
        "sent_now": ledger.sent_now,
    }


def _require(connection: Connection, volume_id: Hash32, *, lock: bool = False) -> KeptVolume:
    query = select(volumes).where(volumes.c.volume_id == to_hex(volume_id))
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    if row is None:
        raise InvalidInputError("no such volume", fix="ask for one: POST /v1/volumes", code="unknown_volume")
    return _volume(row)


def _volume(row: Row[Any]) -> KeptVolume:
    return KeptVolume(
        volume_id=hash_from_hex(row.volume_id),
        node=Address(row.node),
        member=Address(row.member),
        number=row.number,
        epoch=EpochNumber(row.epoch),
        key_hash=hash_from_hex(row.key_hash),
        ledger=Ledger(
            confirmed=row.confirmed,
            sent=row.sent,
            sent_epoch=EpochNumber(row.sent_epoch),
            sent_now=row.sent_now,
        ),
        retired=row.retired,
        key=None if row.key is None else hash_from_hex(row.key),
    )

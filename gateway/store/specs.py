"""Specs, which member has them, and inputs."""

from dataclasses import dataclass
from typing import cast

from gateway.store.engine import Database
from swarm_chain.core.units import Hash32, Timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSpec:
    """A spec: canonical JSON, name of its program, number of its units."""

    spec_hash: Hash32
    document: bytes
    program: str
    units: int


def keep_spec(database: Database, spec: KeptSpec, now: Timestamp) -> None:
    """Keeps a spec; one that is there keeps its time."""
    values = (spec.spec_hash, spec.document, spec.program, spec.units, now)
    with database.change() as db:
        db.execute("INSERT INTO specs VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", values)


def find_spec(database: Database, spec_hash: Hash32) -> KeptSpec | None:
    """A spec that is here."""
    found = database.rows("SELECT document, program, units FROM specs WHERE spec_hash = ?", spec_hash)
    if not found:
        return None
    document, program, units = cast(tuple[bytes, str, int], found[0])
    return KeptSpec(spec_hash=spec_hash, document=document, program=program, units=units)


def count_specs(database: Database) -> int:
    """Number of specs that are here."""
    return cast(int, database.rows("SELECT COUNT(*) FROM specs")[0][0])


def spec_times(database: Database) -> dict[Hash32, Timestamp]:
    """When each spec came, chain time."""
    rows = cast(list[tuple[bytes, int]], database.rows("SELECT spec_hash, kept_at FROM specs"))
    return {Hash32(spec_hash): Timestamp(kept_at) for spec_hash, kept_at in rows}


def forget_spec(database: Database, spec_hash: Hash32) -> None:
    """Removes a spec."""
    with database.change() as db:
        db.execute("DELETE FROM specs WHERE spec_hash = ?", (spec_hash,))
        db.execute("DELETE FROM deliveries WHERE spec_hash = ?", (spec_hash,))


def note_delivery(database: Database, spec_hash: Hash32, member: str) -> None:
    """Notes that a member has a spec."""
    with database.change() as db:
        db.execute("INSERT INTO deliveries VALUES (?, ?) ON CONFLICT DO NOTHING", (spec_hash, member))


def undelivered(database: Database, member: str) -> tuple[Hash32, ...]:
    """Specs a member does not have yet, the oldest first."""
    query = (
        "SELECT spec_hash FROM specs WHERE spec_hash NOT IN (SELECT spec_hash FROM deliveries WHERE member = ?) "
        "ORDER BY kept_at, spec_hash"
    )
    return tuple(Hash32(cast(bytes, row[0])) for row in database.rows(query, member))


def keep_blob(database: Database, content: Hash32, size: int, now: Timestamp) -> None:
    """Notes that an input is here whole."""
    with database.change() as db:
        db.execute("INSERT INTO blobs VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (content, size, now))


def blob_size(database: Database, content: Hash32) -> int | None:
    """Bytes of an input that is here."""
    found = database.rows("SELECT size FROM blobs WHERE hash = ?", content)
    return cast(int, found[0][0]) if found else None


def blob_times(database: Database) -> dict[Hash32, Timestamp]:
    """When each input came, chain time."""
    rows = cast(list[tuple[bytes, int]], database.rows("SELECT hash, kept_at FROM blobs"))
    return {Hash32(content): Timestamp(kept_at) for content, kept_at in rows}


def forget_blob(database: Database, content: Hash32) -> None:
    """Removes the note of an input."""
    with database.change() as db:
        db.execute("DELETE FROM blobs WHERE hash = ?", (content,))

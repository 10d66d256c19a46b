"""Audits of this member: asked, answered, opened, judged; each step once, and none is taken back."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, Row, and_, select, update

from oracle.store.engine import insert_new, writing
from oracle.store.evidence import Instant
from oracle.store.tables import audits
from swarm_chain.core.encoding import hash_from_hex, to_hex
from swarm_chain.core.kinds import Category, Outcome
from swarm_chain.core.units import Address, Hash32, WindowId


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """An audit as it stands; what has not come yet is None. `draw` is nobody's to know before `root` is there.

    `units` are what was proven, of `claim` at most.
    """

    window_id: WindowId
    node: Address
    device: int
    category: Category
    audit_id: Hash32
    claim: int
    nonce: Hash32
    draw: Hash32
    started: Instant
    root: Hash32 | None = None
    elapsed_ms: int | None = None
    openings: bytes | None = None
    outcome: Outcome | None = None
    reason: str = ""
    units: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFinding:
    """What the judge found: units proven, and a stable reason where they are none."""

    outcome: Outcome
    reason: str = ""
    units: int = 0


def start_audit(engine: Engine, audit: Audit) -> Audit:
    """Keeps an audit that begins; the one of this window, device and category that began before comes back instead."""
    values = {
        "window_id": audit.window_id,
        "node": audit.node,
        "device": audit.device,
        "category": audit.category.value,
        "audit_id": to_hex(audit.audit_id),
        "claim": audit.claim,
        "nonce": to_hex(audit.nonce),
        "draw": to_hex(audit.draw),
        "started_ms": audit.started.ms,
        "boot": audit.started.boot,
        "reason": "",
        "units": 0,
    }
    places = (audits.c.window_id, audits.c.node, audits.c.device, audits.c.category)
    same = and_(*(place == values[place.name] for place in places))
    with writing(engine) as connection:
        if insert_new(connection, audits, values):
            return audit
        return _audit(connection.execute(select(audits).where(same)).one())


def first_start(engine: Engine, window: WindowId, category: Category) -> Instant | None:
    """When the clocks of a window's audits of a category start: that of the one which was begun first."""
    t = audits.c
    query = select(t.started_ms, t.boot).where(and_(t.window_id == window, t.category == category.value))
    with engine.connect() as connection:
        row = connection.execute(query.order_by(t.started_ms).limit(1)).one_or_none()
    return None if row is None else Instant(boot=row.boot, ms=row.started_ms)


def audit_of(engine: Engine, audit_id: Hash32) -> Audit | None:
    """The audit with this id."""
    with engine.connect() as connection:
        row = connection.execute(select(audits).where(audits.c.audit_id == to_hex(audit_id))).one_or_none()
    return None if row is None else _audit(row)


def keep_answer(engine: Engine, audit_id: Hash32, root: Hash32, elapsed_ms: int | None) -> None:
    """Keeps the first answer to an audit with its time (None: nobody can say)."""
    values = {"root": to_hex(root), "elapsed_ms": elapsed_ms}
    _change(engine, audit_id, audits.c.root.is_(None), values)


def keep_openings(engine: Engine, audit_id: Hash32, openings: bytes) -> None:
    """Keeps the first openings of an answered audit."""
    _change(engine, audit_id, and_(audits.c.root.is_not(None), audits.c.openings.is_(None)), {"openings": openings})


def keep_finding(engine: Engine, audit_id: Hash32, finding: AuditFinding) -> None:
    """Keeps what the judge found; the first finding stays. The openings are done with and go."""
    values = {"outcome": finding.outcome.value, "reason": finding.reason, "units": finding.units, "openings": None}
    _change(engine, audit_id, audits.c.outcome.is_(None), values)


def unjudged(engine: Engine, category: Category, most: int, *, opened: bool) -> tuple[Audit, ...]:
    """Audits of a category that can be judged and are not, the oldest windows first.

    Args:
        engine: the store.
        category: the category.
        most: how many at most.
        opened: only those that were opened; else the answer is all there is.
    """
    t = audits.c
    last = t.openings if opened else t.root
    query = select(audits).where(and_(t.category == category.value, last.is_not(None), t.outcome.is_(None)))
    ordered = query.order_by(t.window_id, t.audit_id).limit(most)
    with engine.connect() as connection:
        return tuple(_audit(row) for row in connection.execute(ordered))


def audits_of(engine: Engine, node: Address, most: int) -> tuple[Audit, ...]:
    """The newest audits of a node, newest first."""
    query = select(audits).where(audits.c.node == node)
    ordered = query.order_by(audits.c.window_id.desc(), audits.c.category, audits.c.device).limit(most)
    with engine.connect() as connection:
        return tuple(_audit(row) for row in connection.execute(ordered))


def audits_in(engine: Engine, windows: Iterable[WindowId]) -> tuple[Audit, ...]:
    """All audits of some windows."""
    query = select(audits).where(audits.c.window_id.in_(list(windows)))
    with engine.connect() as connection:
        return tuple(_audit(row) for row in connection.execute(query))


def _change(engine: Engine, audit_id: Hash32, still: Any, values: Mapping[str, object]) -> None:
    with writing(engine) as connection:
        connection.execute(update(audits).where(and_(audits.c.audit_id == to_hex(audit_id), still)).values(**values))


def _audit(row: Row[Any]) -> Audit:
    return Audit(
        window_id=WindowId(row.window_id),
        node=Address(row.node),
        device=row.device,
        category=Category(row.category),
        audit_id=hash_from_hex(row.audit_id),
        claim=row.claim,
        nonce=hash_from_hex(row.nonce),
        started=Instant(boot=row.boot, ms=row.started_ms),
        root=None if row.root is None else hash_from_hex(row.root),
        elapsed_ms=row.elapsed_ms,
        draw=hash_from_hex(row.draw),
        openings=row.openings,
        outcome=None if row.outcome is None else Outcome(row.outcome),
        reason=row.reason,
        units=row.units,
    )

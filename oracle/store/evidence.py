"""Evidence of an epoch: windows, commitments, proofs, heartbeats and roll calls."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Engine, Row, Select, and_, func, select, tuple_, update

from oracle.store.engine import insert_new, writing
from oracle.store.tables import commitments, heartbeats, proofs, roll_calls, windows
from swarm_chain.core.encoding import hash_from_hex, to_hex
from swarm_chain.core.model import Commitment, SignedCommitment, WindowRecord
from swarm_chain.core.units import Address, EpochNumber, Signature, WindowId

ProofKey = tuple[WindowId, Address, int]

MAX_ROOTS = 2  # two different roots prove equivocation; more prove nothing new


class Saved(StrEnum):
    """What became of an incoming message."""

    NEW = "new"
    DUPLICATE = "duplicate"
    CONFLICT = "conflict"
    LATE = "late"


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A commitment and the member's own measurement of it; None if another member passed it on."""

    signed: SignedCommitment
    elapsed_ms: int | None
    first: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Instant:
    """A reading of a machine's monotonic clock; only readings under one boot can be compared."""

    boot: str
    ms: int


def save_secret(engine: Engine, window: WindowId, secret: bytes) -> bytes:
    """Keeps the secret of a window before its hash is sent; returns the one kept first."""
    with writing(engine) as connection:
        insert_new(connection, windows, {"window_id": window, "secret": secret})
        kept = connection.execute(select(windows.c.secret).where(windows.c.window_id == window)).scalar_one()
    return bytes(kept)


def secret_of(engine: Engine, window: WindowId) -> bytes | None:
    """Secret of a window, None if this member never committed one."""
    with engine.connect() as connection:
        kept = connection.execute(select(windows.c.secret).where(windows.c.window_id == window)).scalar_one_or_none()
    return bytes(kept) if kept else None  # a window only seen has an empty one


def mark_seen(engine: Engine, window: WindowId, seen: Instant) -> None:
    """Starts the member's clock of a window at the first sight of its block; later sights change nothing."""
    with writing(engine) as connection:
        insert_new(connection, windows, {"window_id": window, "secret": b""})
        connection.execute(
            update(windows)
            .where(and_(windows.c.window_id == window, windows.c.seen_ms.is_(None)))
            .values(seen_ms=seen.ms, seen_boot=seen.boot)
        )


def mark_judged(engine: Engine, window: WindowId) -> None:
    """Remembers that a window's openings were judged."""
    with writing(engine) as connection:
        insert_new(connection, windows, {"window_id": window, "secret": b""})
        connection.execute(update(windows).where(windows.c.window_id == window).values(judged=True))


def is_judged(engine: Engine, window: WindowId) -> bool:
    """Whether this member has judged a window's openings."""
    with engine.connect() as connection:
        kept = connection.execute(select(windows.c.judged).where(windows.c.window_id == window)).scalar_one_or_none()
    return bool(kept)


def first_sight(engine: Engine, window: WindowId) -> Instant | None:
    """When the member saw the window open, None if it did not."""
    query = select(windows.c.seen_boot, windows.c.seen_ms).where(windows.c.window_id == window)
    with engine.connect() as connection:
        row = connection.execute(query).one_or_none()
    return None if row is None or row.seen_ms is None else Instant(boot=row.seen_boot or "", ms=row.seen_ms)


def seal(engine: Engine, window: WindowRecord) -> tuple[Received, ...]:
    """Ends the taking in of commitments: what comes afterwards cannot change the root that is made of these.

    Args:
        engine: the store.
        window: as the chain shows it; what was signed for another seed does not count.

    Returns:
        The commitments that count, in the order of `arrivals`; the same ones at every call.
    """
    with writing(engine) as connection:
        insert_new(connection, windows, {"window_id": window.window_id, "secret": b""})
        connection.execute(update(windows).where(windows.c.window_id == window.window_id).values(sealed=True))
    return tuple(received for received in arrivals(engine, [window]) if received.first)


def save_commitment(
    engine: Engine, signed: SignedCommitment, elapsed_ms: int | None, *, is_open: bool = True
) -> tuple[Saved, Received]:
    """Keeps a commitment; the first of its (window, seed, node, device) counts, one with another root stays as evidence.

    Args:
        engine: the store.
        signed: checked by the caller.
        elapsed_ms: this member's measurement, >= 0; None for one that another member passed on.
        is_open: the window is open on chain; afterwards, as in a sealed window, only evidence is taken.

    Returns:
        What became of it, and the arrival that counts; with LATE nothing is kept.
    """
    window = signed.commitment.window_id
    # Locked where the database has row locks: a window must not be sealed between this look and the insert.
    sealed_query = select(windows.c.sealed).where(windows.c.window_id == window).with_for_update()
    with writing(engine) as connection:
        sealed = connection.execute(sealed_query).scalar_one_or_none()
        if sealed is None:
            insert_new(connection, windows, {"window_id": window, "secret": b""})
            sealed = connection.execute(sealed_query).scalar_one()
        kept = [_received(row) for row in connection.execute(_same_device(signed.commitment))]
        same = [a for a in kept if a.signed.commitment == signed.commitment]
        arrival = Received(signed=signed, elapsed_ms=elapsed_ms, first=not kept)
        if same:
            return Saved.DUPLICATE, _timed(connection, same[0], arrival) if is_open and not sealed else same[0]
        if not kept and (sealed or not is_open):
            return Saved.LATE, arrival
        if len(kept) < MAX_ROOTS:
            insert_new(connection, commitments, _commitment_row(arrival))
    return (Saved.CONFLICT, next(a for a in kept if a.first)) if kept else (Saved.NEW, arrival)


def _timed(connection: Connection, kept: Received, arrival: Received) -> Received:
    """The kept commitment with its time, if it was passed on by another member before it arrived here."""
    if kept.elapsed_ms is not None or arrival.elapsed_ms is None:
        return kept
    t, c = commitments.c, kept.signed.commitment
    key = and_(t.window_id == c.window_id, t.window_seed == to_hex(c.window_seed), t.node == c.node)
    same_root = and_(key, t.device == c.device, t.root == to_hex(c.root))
    connection.execute(update(commitments).where(same_root).values(elapsed_ms=arrival.elapsed_ms))
    return Received(signed=kept.signed, elapsed_ms=arrival.elapsed_ms, first=kept.first)


def arrivals(engine: Engine, opened: Iterable[WindowRecord]) -> tuple[Received, ...]:
    """All kept commitments of windows with the seeds the chain shows; those of a branch the chain left are void.

    Args:
        engine: the store.
        opened: windows of one chain.

    Returns:
        Ordered by (window, node, device, first before conflicting).
    """
    c = commitments.c
    seeds = [(window.window_id, to_hex(window.window_seed)) for window in opened]
    query = (
        select(commitments)
        .where(tuple_(c.window_id, c.window_seed).in_(seeds))
        .order_by(c.window_id, func.lower(c.node), c.device, c.first.desc())
    )
    with engine.connect() as connection:
        return tuple(_received(row) for row in connection.execute(query))


def save_proof(engine: Engine, key: ProofKey, document: bytes, *, heard: bool = False) -> Saved:
    """Keeps a device's signed proof; the first one counts.

    Args:
        engine: the store.
        key: window, node and device.
        document: canonical JSON {proof, signature}, checked by the caller.
        heard: another member passed it on.
    """
    values = dict(zip(("window_id", "node", "device"), key, strict=True))
    with writing(engine) as connection:
        if insert_new(connection, proofs, {**values, "document": document, "heard": heard}):
            return Saved.NEW
        same = select(proofs.c.document, proofs.c.heard).filter_by(**values)
        kept, was_heard = connection.execute(same).one()
        if bytes(kept) == document and was_heard and not heard:
            connection.execute(update(proofs).filter_by(**values).values(heard=False))
    return Saved.DUPLICATE if bytes(kept) == document else Saved.CONFLICT


def proof_documents(engine: Engine, window_ids: Iterable[WindowId]) -> tuple[bytes, ...]:
    """Canonical JSON of every kept proof of the windows, ordered by (window, node, device)."""
    query = (
        select(proofs.c.document)
        .where(proofs.c.window_id.in_(list(window_ids)))
        .order_by(proofs.c.window_id, func.lower(proofs.c.node), proofs.c.device)
    )
    with engine.connect() as connection:
        return tuple(bytes(document) for (document,) in connection.execute(query))


def own_proofs(engine: Engine, window_ids: Iterable[WindowId]) -> frozenset[ProofKey]:
    """Keys of the proofs of some windows that nodes handed in here."""
    p = proofs.c
    query = select(p.window_id, p.node, p.device).where(and_(p.window_id.in_(list(window_ids)), p.heard.is_(False)))
    with engine.connect() as connection:
        return frozenset((WindowId(w), Address(node), device) for w, node, device in connection.execute(query))


def proof_keys(engine: Engine, window_ids: Iterable[WindowId]) -> tuple[ProofKey, ...]:
    """Keys of all kept proofs of some windows, ordered."""
    p = proofs.c
    query = select(p.window_id, p.node, p.device).where(p.window_id.in_(list(window_ids)))
    with engine.connect() as connection:
        return tuple(
            (WindowId(w), Address(node), device)
            for w, node, device in connection.execute(query.order_by(p.window_id, p.node, p.device))
        )


def proof_document(engine: Engine, key: ProofKey) -> bytes | None:
    """Canonical JSON of one kept proof."""
    p, (window, node, device) = proofs.c, key
    query = select(p.document).where(and_(p.window_id == window, p.node == node, p.device == device))
    with engine.connect() as connection:
        kept = connection.execute(query).scalar_one_or_none()
    return None if kept is None else bytes(kept)


def proven_devices(engine: Engine, window: WindowId) -> frozenset[tuple[Address, int]]:
    """Devices that have handed in openings for a window."""
    query = select(proofs.c.node, proofs.c.device).where(proofs.c.window_id == window)
    with engine.connect() as connection:
        return frozenset((Address(node), device) for node, device in connection.execute(query))


def save_heartbeat(engine: Engine, node: Address, sequence: int, arrived: Instant) -> bool:
    """Keeps a sign of life if its sequence is newer than the last one's; a replayed heartbeat keeps nobody alive."""
    values = {"sequence": sequence, "arrived_ms": arrived.ms, "boot": arrived.boot}
    with writing(engine) as connection:
        if insert_new(connection, heartbeats, {"node": node, **values}):
            return True
        newer = and_(heartbeats.c.node == node, heartbeats.c.sequence < sequence)
        return connection.execute(update(heartbeats).where(newer).values(**values)).rowcount == 1


def adopt_heartbeats(engine: Engine, now: Instant) -> int:
    """Counts heartbeats that arrived under another boot as arrived now: how old they are nobody can say any more.

    Returns:
        How many there were.
    """
    foreign = update(heartbeats).where(heartbeats.c.boot != now.boot)
    with writing(engine) as connection:
        return connection.execute(foreign.values(arrived_ms=now.ms, boot=now.boot)).rowcount


def last_heartbeats(engine: Engine, boot: str) -> Mapping[Address, int]:
    """Monotonic milliseconds of each node's last heartbeat that arrived under a boot."""
    query = select(heartbeats.c.node, heartbeats.c.arrived_ms).where(heartbeats.c.boot == boot)
    with engine.connect() as connection:
        return {Address(node): arrived for node, arrived in connection.execute(query)}


def save_roll_call(engine: Engine, epoch: EpochNumber, present: Mapping[Address, bool]) -> None:
    """Counts one roll call of an epoch: each node's total goes up, and its present if it answered lately."""
    with writing(engine) as connection:
        for node, here in sorted(present.items()):
            insert_new(connection, roll_calls, {"epoch": epoch, "node": node, "present": 0, "total": 0})
            connection.execute(
                update(roll_calls)
                .where(and_(roll_calls.c.epoch == epoch, roll_calls.c.node == node))
                .values(present=roll_calls.c.present + int(here), total=roll_calls.c.total + 1)
            )


def roll_call_counts(engine: Engine, epoch: EpochNumber) -> tuple[tuple[Address, int, int], ...]:
    """(node, present, total) of an epoch, ordered by node."""
    query = (
        select(roll_calls.c.node, roll_calls.c.present, roll_calls.c.total)
        .where(roll_calls.c.epoch == epoch)
        .order_by(func.lower(roll_calls.c.node))
    )
    with engine.connect() as connection:
        return tuple((Address(node), present, total) for node, present, total in connection.execute(query))


def _same_device(c: Commitment) -> Select[Any]:
    t = commitments.c
    opening = and_(t.window_id == c.window_id, t.window_seed == to_hex(c.window_seed))
    return select(commitments).where(and_(opening, t.node == c.node, t.device == c.device))


def _commitment_row(arrival: Received) -> dict[str, object]:
    c = arrival.signed.commitment
    return {
        "window_id": c.window_id,
        "window_seed": to_hex(c.window_seed),
        "node": c.node,
        "device": c.device,
        "root": to_hex(c.root),
        "m": c.m,
        "n": c.n,
        "steps": c.steps,
        "signature": arrival.signed.signature,
        "elapsed_ms": arrival.elapsed_ms,
        "first": arrival.first,
    }


def _received(row: Row[Any]) -> Received:
    values = row._mapping
    commitment = Commitment(
        window_id=WindowId(values["window_id"]),
        window_seed=hash_from_hex(values["window_seed"]),
        node=Address(values["node"]),
        device=values["device"],
        m=values["m"],
        n=values["n"],
        steps=values["steps"],
        root=hash_from_hex(values["root"]),
    )
    signed = SignedCommitment(commitment=commitment, signature=Signature(bytes(values["signature"])))
    return Received(signed=signed, elapsed_ms=values["elapsed_ms"], first=bool(values["first"]))

"""Evidence of an epoch: windows, commitments, proofs."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Row, Update, and_, func, insert, select, tuple_, update

from oracle.store.engine import insert_new, writing
from oracle.store.tables import commitments, proofs, windows
from swarm_chain.core.encoding import hash_from_hex, to_hex
from swarm_chain.core.model import Commitment, SignedCommitment, WindowRecord
from swarm_chain.core.units import Address, Hash32, Signature, WindowId

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A checked commitment that is to be kept.

    `elapsed_ms` is this member's measurement, >= 0, None for one that another member passed on; `is_open` says that the
    window is open on chain: afterwards, as in a sealed window, only evidence is taken.
    """

    signed: SignedCommitment
    elapsed_ms: int | None
    is_open: bool = True


@dataclass(frozen=True, slots=True)
class _Written:
    """What one transaction adds: new rows, and rows that get their time."""

    new: list[Received] = field(default_factory=list)
    timed: list[Received] = field(default_factory=list)


_DeviceKey = tuple[WindowId, str, Address, int]
_Kept = dict[_DeviceKey, list[Received]]


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
    return first_sights(engine, [window]).get(window)


def first_sights(engine: Engine, window_ids: Collection[WindowId]) -> Mapping[WindowId, Instant]:
    """When the member saw windows open; those it did not see are left out."""
    t = windows.c
    query = select(t.window_id, t.seen_boot, t.seen_ms).where(t.window_id.in_(window_ids), t.seen_ms.is_not(None))
    with engine.connect() as connection:
        rows = connection.execute(query)
        return {WindowId(window): Instant(boot=boot or "", ms=seen_ms) for window, boot, seen_ms in rows}


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
    """Keeps one commitment; see `save_commitments`."""
    (kept,) = save_commitments(engine, [Offer(signed=signed, elapsed_ms=elapsed_ms, is_open=is_open)])
    return kept


def save_commitments(engine: Engine, offers: Sequence[Offer]) -> list[tuple[Saved, Received]]:
    """Keeps commitments in one transaction, in the order given: once this returns, they outlive a loss of power.

    The first commitment of a (window, seed, node, device) counts, one with another root stays as evidence.

    Args:
        engine: the store.
        offers: checked by the caller.

    Returns:
        What became of each, and the arrival that counts; with LATE nothing is kept.
    """
    with writing(engine) as connection:
        sealed = _sealed_windows(connection, {offer.signed.commitment.window_id for offer in offers})
        kept = _kept_by_device(connection, [offer.signed.commitment for offer in offers])
        written = _Written()
        outcomes = [_keep(offer, sealed, kept, written) for offer in offers]
        if written.new:
            connection.execute(insert(commitments), [_commitment_row(received) for received in written.new])
        for received in written.timed:
            connection.execute(_give_time(received))
    return outcomes


def _keep(offer: Offer, sealed: frozenset[WindowId], kept: _Kept, written: _Written) -> tuple[Saved, Received]:
    c = offer.signed.commitment
    takes = offer.is_open and c.window_id not in sealed
    same_device = kept.setdefault(_device_key(c), [])
    arrival = Received(signed=offer.signed, elapsed_ms=offer.elapsed_ms, first=not same_device)
    for position, known in enumerate(same_device):
        if known.signed.commitment == c:
            if takes and known.elapsed_ms is None and offer.elapsed_ms is not None:
                # Another member passed it on before it arrived here.
                same_device[position] = replace(known, elapsed_ms=offer.elapsed_ms)
                written.timed.append(same_device[position])
            return Saved.DUPLICATE, same_device[position]
    if not same_device and not takes:
        return Saved.LATE, arrival
    if len(same_device) < MAX_ROOTS:
        same_device.append(arrival)
        written.new.append(arrival)
    return (Saved.NEW, arrival) if arrival.first else (Saved.CONFLICT, next(a for a in same_device if a.first))


def _sealed_windows(connection: Connection, window_ids: Collection[WindowId]) -> frozenset[WindowId]:
    # Locked where the database has row locks: a window must not be sealed between this look and the insert.
    t = windows.c
    query = select(t.window_id, t.sealed).where(t.window_id.in_(window_ids)).order_by(t.window_id).with_for_update()
    found = {WindowId(window): sealed for window, sealed in connection.execute(query)}
    missing = sorted(set(window_ids) - found.keys())
    if missing:
        for window in missing:
            insert_new(connection, windows, {"window_id": window, "secret": b""})
        found = {WindowId(window): sealed for window, sealed in connection.execute(query)}
    return frozenset(window for window, sealed in found.items() if sealed)


def _kept_by_device(connection: Connection, offered: Iterable[Commitment]) -> _Kept:
    t = commitments.c
    key = tuple_(t.window_id, t.window_seed, t.node, t.device)
    query = select(commitments).where(key.in_({_device_key(c) for c in offered}))
    kept: _Kept = {}
    for received in map(_received, connection.execute(query)):
        kept.setdefault(_device_key(received.signed.commitment), []).append(received)
    return kept


def _device_key(c: Commitment) -> _DeviceKey:
    return c.window_id, to_hex(c.window_seed), c.node, c.device


def _give_time(received: Received) -> Update:
    t, c = commitments.c, received.signed.commitment
    device = and_(t.window_id == c.window_id, t.window_seed == to_hex(c.window_seed), t.node == c.node)
    same_root = and_(device, t.device == c.device, t.root == to_hex(c.root))
    return update(commitments).where(same_root).values(elapsed_ms=received.elapsed_ms)


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


def committed_devices(engine: Engine, window: WindowRecord) -> frozenset[tuple[Address, int]]:
    """Devices that committed in a window with the seed the chain shows."""
    with engine.connect() as connection:
        rows = connection.execute(select(commitments.c.node, commitments.c.device).where(_counts(window)))
        return frozenset((Address(node), device) for node, device in rows)


def root_that_counts(engine: Engine, window: WindowRecord, node: Address, device: int) -> Hash32 | None:
    """Root a device committed to first in a window with the seed the chain shows, None if it did not commit."""
    t = commitments.c
    query = select(t.root).where(and_(_counts(window), t.node == node, t.device == device))
    with engine.connect() as connection:
        root = connection.execute(query).scalar_one_or_none()
    return None if root is None else hash_from_hex(root)


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


def _counts(window: WindowRecord) -> ColumnElement[bool]:
    t = commitments.c
    return and_(t.window_id == window.window_id, t.window_seed == to_hex(window.window_seed), t.first)


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

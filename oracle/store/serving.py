"""Serving as this member knows it: what nodes offered for an epoch, and what its probes found; one of each an epoch and node."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, Row, and_, select, update

from oracle.judge.serving import ServingFinding
from oracle.store.engine import insert_new, writing
from oracle.store.tables import probes, serving_offers
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.serving import ServingOffer
from swarm_chain.core.units import Address, Bps, EpochNumber, Signature, Timestamp

_FIGURES = ("error_bps", "p50_us", "p95_us", "p99_us", "ttft_us")


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What one probe found; `claim` is the rate that was offered, `probed_at` chain time."""

    epoch: EpochNumber
    node: Address
    claim: int
    probed_at: Timestamp
    finding: ServingFinding


def keep_offer(engine: Engine, offer: ServingOffer, signature: Signature) -> None:
    """Keeps the latest offer of a node for an epoch; an older one changes nothing."""
    o = offer
    values = {
        "epoch": o.epoch,
        "node": o.node,
        "url": o.url,
        "rate": o.rate,
        "issued_at": o.issued_at,
        "member": o.member,
        "signature": signature,
    }
    same = and_(serving_offers.c.epoch == o.epoch, serving_offers.c.node == o.node)
    with writing(engine) as connection:
        if not insert_new(connection, serving_offers, values):
            newer = and_(same, serving_offers.c.issued_at < o.issued_at)
            connection.execute(update(serving_offers).where(newer).values(**values))


def offers_in(engine: Engine, epoch: EpochNumber) -> tuple[ServingOffer, ...]:
    """Offers of an epoch, by node."""
    query = select(serving_offers).where(serving_offers.c.epoch == epoch).order_by(serving_offers.c.node)
    with engine.connect() as connection:
        return tuple(_offer(row) for row in connection.execute(query))


def keep_probe(engine: Engine, probe: Probe) -> None:
    """Keeps what a probe found; the first one of an epoch stays."""
    found = probe.finding
    values: dict[str, object] = {
        "epoch": probe.epoch,
        "node": probe.node,
        "claim": probe.claim,
        "probed_at": probe.probed_at,
        "outcome": found.outcome.value,
        "reason": found.reason,
        "units": found.units,
        **{name: getattr(found, name) for name in _FIGURES},
    }
    with writing(engine) as connection:
        insert_new(connection, probes, values)


def probes_in(engine: Engine, epoch: EpochNumber) -> tuple[Probe, ...]:
    """Probes of an epoch, by node."""
    with engine.connect() as connection:
        rows = connection.execute(select(probes).where(probes.c.epoch == epoch).order_by(probes.c.node))
        return tuple(_probe(row) for row in rows)


def probes_of(engine: Engine, node: Address, most: int) -> tuple[Probe, ...]:
    """The newest probes of a node, newest first."""
    query = select(probes).where(probes.c.node == node).order_by(probes.c.epoch.desc()).limit(most)
    with engine.connect() as connection:
        return tuple(_probe(row) for row in connection.execute(query))


def _offer(row: Row[Any]) -> ServingOffer:
    return ServingOffer(
        epoch=EpochNumber(row.epoch),
        node=Address(row.node),
        url=row.url,
        rate=row.rate,
        issued_at=Timestamp(row.issued_at),
        member=Address(row.member),
    )


def _probe(row: Row[Any]) -> Probe:
    finding = ServingFinding(
        outcome=Outcome(row.outcome),
        reason=row.reason,
        units=row.units,
        error_bps=None if row.error_bps is None else Bps(row.error_bps),
        p50_us=row.p50_us,
        p95_us=row.p95_us,
        p99_us=row.p99_us,
        ttft_us=row.ttft_us,
    )
    return Probe(
        epoch=EpochNumber(row.epoch),
        node=Address(row.node),
        claim=row.claim,
        probed_at=Timestamp(row.probed_at),
        finding=finding,
    )

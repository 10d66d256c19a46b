"""Links as this member knows them: where nodes answer, what pairs reported, how far each node is from here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, Row, and_, or_, select, update

from oracle.store.engine import insert_new, writing
from oracle.store.tables import link_endpoints, link_reports, link_trips
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.links import LinkReport, Pair, SignedLink, link_hash
from swarm_chain.core.pings import LinkEndpoint
from swarm_chain.core.units import Address, EpochNumber, ProviderId, Signature, Timestamp

MAX_CONTRADICTIONS = 2  # reports of a pair that both ends signed: the second one already voids both


@dataclass(frozen=True, slots=True, kw_only=True)
class Announced:
    """An endpoint with its node's signature, and whose it was when it was announced; region: 8 bytes."""

    endpoint: LinkEndpoint
    signature: Signature
    provider_id: ProviderId
    region: bytes


def keep_endpoint(engine: Engine, one: Announced) -> None:
    """Keeps the latest endpoint of a node for an epoch; an older one changes nothing."""
    e = one.endpoint
    values = {
        "epoch": e.epoch,
        "node": e.node,
        "host": e.host,
        "port": e.port,
        "issued_at": e.issued_at,
        "signature": one.signature,
        "provider_id": one.provider_id,
        "region": one.region,
    }
    newer = and_(
        link_endpoints.c.epoch == e.epoch,
        link_endpoints.c.node == e.node,
        link_endpoints.c.issued_at < e.issued_at,
    )
    with writing(engine) as connection:
        if not insert_new(connection, link_endpoints, values):
            connection.execute(update(link_endpoints).where(newer).values(**values))


def endpoints_in(engine: Engine, epoch: EpochNumber) -> tuple[Announced, ...]:
    """Endpoints of an epoch, by node."""
    query = select(link_endpoints).where(link_endpoints.c.epoch == epoch).order_by(link_endpoints.c.node)
    with engine.connect() as connection:
        return tuple(_announced(row) for row in connection.execute(query))


def keep_link(engine: Engine, signed: SignedLink) -> None:
    """Keeps the first proposal of a pair, and what both ends signed; of that no more than shows a contradiction."""
    report, digest = signed.report, to_hex(link_hash(signed.report))
    pair = and_(
        link_reports.c.epoch == report.epoch,
        link_reports.c.first == report.first,
        link_reports.c.second == report.second,
    )
    with writing(engine) as connection:
        rows = connection.execute(select(link_reports).where(pair)).all()
        complete = [row for row in rows if row.second_signature is not None]
        if (signed.second is None and rows) or len(complete) >= MAX_CONTRADICTIONS:
            return
        if not insert_new(connection, link_reports, _values(signed, digest)) and signed.second is not None:
            open_one = and_(pair, link_reports.c.digest == digest, link_reports.c.second_signature.is_(None))
            connection.execute(update(link_reports).where(open_one).values(second_signature=signed.second))


def links_of(engine: Engine, epoch: EpochNumber, node: Address) -> Mapping[Pair, SignedLink]:
    """What is known of each pair of a node: what both signed first, else the proposal."""
    ends = or_(link_reports.c.first == node, link_reports.c.second == node)
    query = select(link_reports).where(and_(link_reports.c.epoch == epoch, ends)).order_by(link_reports.c.digest)
    found: dict[Pair, SignedLink] = {}
    with engine.connect() as connection:
        for row in connection.execute(query):
            one = _signed(row)
            before = found.get(one.report.pair)
            if before is None or before.second is None:
                found[one.report.pair] = one
    return found


def reports_in(engine: Engine, epoch: EpochNumber) -> tuple[LinkReport, ...]:
    """Reports of an epoch that both ends signed, by pair; two of a pair where they contradict each other."""
    query = select(link_reports).where(
        and_(link_reports.c.epoch == epoch, link_reports.c.second_signature.is_not(None))
    )
    with engine.connect() as connection:
        rows = connection.execute(query.order_by(*link_reports.primary_key.columns))
        return tuple(_signed(row).report for row in rows)


def keep_trip(engine: Engine, epoch: EpochNumber, node: Address, rtt_us: int) -> None:
    """Keeps this member's round trip to a node; the first one of an epoch stays."""
    with writing(engine) as connection:
        insert_new(connection, link_trips, {"epoch": epoch, "node": node, "rtt_us": rtt_us})


def trips_in(engine: Engine, epoch: EpochNumber) -> Mapping[Address, int]:
    """This member's round trips of an epoch, us by node."""
    with engine.connect() as connection:
        rows = connection.execute(select(link_trips).where(link_trips.c.epoch == epoch))
        return {Address(row.node): row.rtt_us for row in rows}


def _values(signed: SignedLink, digest: str) -> dict[str, object]:
    r = signed.report
    return {
        "epoch": r.epoch,
        "first": r.first,
        "second": r.second,
        "digest": digest,
        "rtt_us": r.rtt_us,
        "jitter_us": r.jitter_us,
        "loss_ppm": r.loss_ppm,
        "throughput_mbps": r.throughput_mbps,
        "first_signature": signed.first,
        "second_signature": signed.second,
    }


def _announced(row: Row[Any]) -> Announced:
    endpoint = LinkEndpoint(
        epoch=EpochNumber(row.epoch),
        node=Address(row.node),
        host=row.host,
        port=row.port,
        issued_at=Timestamp(row.issued_at),
    )
    return Announced(
        endpoint=endpoint,
        signature=Signature(row.signature),
        provider_id=ProviderId(row.provider_id),
        region=row.region,
    )


def _signed(row: Row[Any]) -> SignedLink:
    report = LinkReport(
        epoch=EpochNumber(row.epoch),
        first=Address(row.first),
        second=Address(row.second),
        rtt_us=row.rtt_us,
        jitter_us=row.jitter_us,
        loss_ppm=row.loss_ppm,
        throughput_mbps=row.throughput_mbps,
    )
    second = None if row.second_signature is None else Signature(row.second_signature)
    return SignedLink(report=report, first=Signature(row.first_signature), second=second)

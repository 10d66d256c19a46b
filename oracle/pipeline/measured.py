"""What this member measured of nodes in an epoch, from every source, as its observation tells it.

audits --units--> one measurement a node and category <--services-- what else measures (a source a line in `_sources`)
                                      lowered by <--services, throughput-- links that nodes signed themselves
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from oracle.economy import Service
from oracle.model import Measurement
from oracle.pipeline.audits import audit_measurements
from oracle.pipeline.links import link_measurements
from oracle.pipeline.member import Member
from oracle.pipeline.probes import probe_measurements
from oracle.pipeline.sight import Sight
from swarm_chain.core.kinds import Category
from swarm_chain.core.units import Address, EpochNumber

Number = TypeVar("Number", bound=int)


def measurements_of(member: Member, sight: Sight, epoch: EpochNumber) -> tuple[Measurement, ...]:
    """Everything this member measured in an ended epoch, one measurement a node and category.

    Args:
        member: its store and audits.
        sight: the chain after the epoch's end.
        epoch: an ended epoch.
    """
    found = merged(one for source in _sources(member, sight, epoch) for one in source)
    return lowered(found, link_measurements(member.linking, sight, epoch))


def lowered(found: Sequence[Measurement], links: Iterable[Measurement]) -> tuple[Measurement, ...]:
    """What was measured, with the nodes' links in it: their units bound what audits proved, and prove none themselves.

    Args:
        found: one measurement a node and category.
        links: what pairs of nodes signed.
    """
    proven = {(one.node, one.category) for one in found if one.units is not None}
    bounds = (one if (one.node, one.category) in proven else replace(one, units=None) for one in links)
    return merged((*found, *bounds))


def merged(measured: Iterable[Measurement]) -> tuple[Measurement, ...]:
    """One measurement a node and category: the least units where several sources bound them, of each figure the worse."""
    found: dict[tuple[Address, Category], Measurement] = {}
    for one in measured:
        key = (one.node, one.category)
        found[key] = _both(found[key], one) if key in found else one
    return tuple(found.values())


def _sources(member: Member, sight: Sight, epoch: EpochNumber) -> Iterator[tuple[Measurement, ...]]:
    yield audit_measurements(member.network, sight.state, member.auditing, epoch)
    yield probe_measurements(member.probing, epoch)


def _both(first: Measurement, second: Measurement) -> Measurement:
    service = Service(
        error_bps=_largest(first.service.error_bps, second.service.error_bps),
        response_us=_largest(first.service.response_us, second.service.response_us),
        far_response_us=_largest(first.service.far_response_us, second.service.far_response_us),
        jitter_us=_largest(first.service.jitter_us, second.service.jitter_us),
        rate=_least(first.service.rate, second.service.rate),
        utilisation_bps=_least(first.service.utilisation_bps, second.service.utilisation_bps),
        rating=first.service.rating if second.service.rating is None else second.service.rating,
    )
    return replace(first, units=_least(first.units, second.units), service=service)


def _largest(first: Number | None, second: Number | None) -> Number | None:
    return max((one for one in (first, second) if one is not None), default=None)


def _least(first: Number | None, second: Number | None) -> Number | None:
    return min((one for one in (first, second) if one is not None), default=None)

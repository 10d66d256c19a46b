"""Which nodes can run a spec, best first, and what is missing where none can. Pure.

A job runs on one node; its workers run on nodes of the same provider, as many on each as fit.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from gateway.model import Candidate
from swarm_chain.core.encoding import address_bytes
from swarm_chain.core.jobs import JobSpec, Resources
from swarm_chain.core.units import Address, ProviderId


@dataclass(frozen=True, slots=True, kw_only=True)
class _Requirement:
    """One thing a spec asks of a node, and the sentence that says that nobody has it."""

    holds: Callable[[Candidate], bool]
    lacking: Callable[[Sequence[Candidate]], str]


def placements(spec: JobSpec, candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Nodes that can run a spec: the least loaded first, then the cheapest, then by address.

    Args:
        spec: the job.
        candidates: nodes that may be given jobs.
    """
    wanted = tuple(_requirements(spec))
    able = [one for one in candidates if all(requirement.holds(one) for requirement in wanted)]
    enough = _providers_with_room(spec.resources, able)
    return tuple(sorted((one for one in able if one.provider in enough), key=_order))


def missing(spec: JobSpec, candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """What no node has, one sentence for each requirement that nobody meets; empty where a node can run the spec.

    Args:
        spec: the job.
        candidates: nodes that may be given jobs.
    """
    if placements(spec, candidates):
        return ()
    if not candidates:
        return ("no node is announced here that is registered, staked and not suspended",)
    wanted = tuple(_requirements(spec))
    unmet = tuple(one.lacking(candidates) for one in wanted if not any(map(one.holds, candidates)))
    if unmet:
        return unmet
    able = [one for one in candidates if all(requirement.holds(one) for requirement in wanted)]
    if not able:
        return ("no node has all of it together, though each part is there",)
    most = max(_room(spec.resources, able).values())
    return (f"no provider has room for {spec.resources.workers} workers; the most is {most}",)


def _requirements(spec: JobSpec) -> Iterator[_Requirement]:
    place, each = spec.placement, spec.resources
    if place.regions:
        yield _among("region", place.regions, lambda one: one.region)
    if place.classes:
        yield _among("class", place.classes, lambda one: one.hardware_class.name.lower())
    if place.providers:
        yield _among("provider", tuple(map(str, place.providers)), lambda one: str(one.provider))
    if place.nodes:
        named = tuple(address.lower() for address in place.nodes)
        yield _among("node", named, lambda one: one.node.lower())
    for category, least in sorted(place.measured.items()):
        yield _measured(category, least)
    yield _at_least("cpus", each.cpus, lambda one: one.announcement.cpus)
    yield _at_least("gpus", each.gpus, lambda one: one.announcement.gpus)
    yield _at_least("MB of memory", each.memory_mb, lambda one: one.announcement.memory_mb)
    yield _at_least("MB of disk", each.disk_mb, lambda one: one.announcement.disk_mb)


def _at_least(what: str, least: int, has: Callable[[Candidate], int]) -> _Requirement:
    return _Requirement(
        holds=lambda one: has(one) >= least,
        lacking=lambda all_: f"no node has {least} {what}; the most is {max(map(has, all_))}",
    )


def _among(what: str, allowed: tuple[str, ...], of: Callable[[Candidate], str]) -> _Requirement:
    return _Requirement(
        holds=lambda one: of(one) in allowed,
        lacking=lambda all_: (
            f"no node is of {what} {' or '.join(allowed)}; there is {', '.join(sorted(set(map(of, all_))))}"
        ),
    )


def _measured(category: str, least: int) -> _Requirement:
    def of(one: Candidate) -> int:
        return one.measured.get(category, 0)

    return _Requirement(
        holds=lambda one: of(one) >= least,
        lacking=lambda all_: f"no node was measured with {least} units of {category}; the most is {max(map(of, all_))}",
    )


def _providers_with_room(resources: Resources, able: Iterable[Candidate]) -> frozenset[ProviderId]:
    return frozenset(provider for provider, workers in _room(resources, able).items() if workers >= resources.workers)


def _room(resources: Resources, able: Iterable[Candidate]) -> dict[ProviderId, int]:
    """Workers that find room on a provider's nodes."""
    room: dict[ProviderId, int] = {}
    for one in able:
        room[one.provider] = room.get(one.provider, 0) + _workers_on(resources, one)
    return room


def _workers_on(resources: Resources, one: Candidate) -> int:
    has = one.announcement
    pairs = (
        (has.cpus, resources.cpus),
        (has.gpus, resources.gpus),
        (has.memory_mb, resources.memory_mb),
        (has.disk_mb, resources.disk_mb),
    )
    return min(there // each for there, each in pairs if each)


def _order(one: Candidate) -> tuple[int, int, bytes]:
    return one.jobs, one.announcement.price_wei, address_bytes(Address(one.node))

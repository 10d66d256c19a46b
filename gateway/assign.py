"""Which node should accept which posted job. Pure.

posted, spec here, budget >= price on the node --assign--> node --accepts on chain--> its job
                                                    |
                                                    +--not in time, or the node is gone--> withdrawn, another is asked

One node at a time is asked for a job. What the chain says counts: a job that was accepted is its node's, whoever was asked.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gateway.model import Assignment, Candidate, OpenJob, Terms
from gateway.placement import missing, placements
from gateway.pricing import job_price
from swarm_chain.core.units import Address, JobId, Timestamp

ACCEPT_WITHIN: Final = 60  # s of chain time a node has to accept what it was given


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What one round looks at: nodes, what was assigned before (withdrawn ones too), chain time, terms."""

    candidates: tuple[Candidate, ...]
    before: tuple[Assignment, ...]
    now: Timestamp
    terms: Terms
    accept_within: int = ACCEPT_WITHIN


def next_assignments(jobs: Iterable[OpenJob], around: Round) -> tuple[Assignment, ...]:
    """What changes now: withdrawals, each before the assignment that takes its place.

    Args:
        jobs: posted jobs whose spec is here, the oldest first.
        around: everything else.
    """
    changes: list[Assignment] = []
    given: dict[Address, int] = {}
    for job in jobs:
        for change in _changes_of(job, around, given):
            changes.append(change)
            if not change.withdrawn:
                given[change.node] = given.get(change.node, 0) + 1
    return tuple(changes)


def why_waiting(job: OpenJob, around: Round) -> str:
    """Why a posted job has no node, one sentence.

    Args:
        job: a posted job whose spec is here.
        around: as for `next_assignments`.
    """
    if around.now >= job.accept_by:
        return "nobody accepted it in time: cancel it to get the budget back"
    if job.spec.job_kind is not job.record.kind:
        return f"it was posted as {job.record.kind.name.lower()} and its spec is {job.spec.kind}: cancel it"
    held = _held(job.record.job_id, around.before)
    if held is not None:
        return f"node {held.node} was asked to accept it"
    lacking = missing(job.spec, around.candidates)
    if lacking:
        return "; ".join(lacking)
    price = min(_price(job, one, around.terms) for one in placements(job.spec, around.candidates))
    if price > job.record.budget_wei:
        return f"the budget is {job.record.budget_wei} wei, and the cheapest node that can run it asks for {price}"
    return "it is about to be given to a node"


def _changes_of(job: OpenJob, around: Round, given: dict[Address, int]) -> tuple[Assignment, ...]:
    job_id = job.record.job_id
    held = _held(job_id, around.before)
    if around.now >= job.accept_by:
        return () if held is None else (replace(held, withdrawn=True),)
    able = _affordable(job, around, given)
    if held is not None and held.node in {one.node for one in able} and not _is_late(held, around):
        return ()
    withdrawn = () if held is None else (replace(held, withdrawn=True),)
    asked = _asked(job_id, around.before)
    best = _first_not_asked(able, asked)
    if best is None:
        return withdrawn
    given_now = Assignment(job_id=job_id, node=best.node, provider=best.provider, assigned_at=around.now)
    return (*withdrawn, given_now)


def _affordable(job: OpenJob, around: Round, given: dict[Address, int]) -> Sequence[Candidate]:
    if job.spec.job_kind is not job.record.kind:
        return []  # no judge would pass it
    loaded = (replace(one, jobs=one.jobs + given.get(one.node, 0)) for one in around.candidates)
    able = placements(job.spec, loaded)
    return [one for one in able if _price(job, one, around.terms) <= job.record.budget_wei]


def _first_not_asked(able: Sequence[Candidate], asked: Sequence[Address]) -> Candidate | None:
    """The best node that was not asked yet; once all were, the one asked longest ago."""
    fresh = next((one for one in able if one.node not in asked), None)
    if fresh is not None or not able:
        return fresh
    return min(able, key=lambda one: asked.index(one.node))


def _asked(job_id: JobId, before: Collection[Assignment]) -> list[Address]:
    """Nodes asked for a job, the one asked longest ago first; each once, by when it was asked last."""
    ordered = sorted((one for one in before if one.job_id == job_id), key=lambda one: one.assigned_at)
    latest_first = dict.fromkeys(one.node for one in reversed(ordered))
    return list(reversed(latest_first))


def _held(job_id: JobId, before: Iterable[Assignment]) -> Assignment | None:
    return next((one for one in before if one.job_id == job_id and not one.withdrawn), None)


def _is_late(held: Assignment, around: Round) -> bool:
    return around.now >= held.assigned_at + around.accept_within


def _price(job: OpenJob, one: Candidate, terms: Terms) -> int:
    return job_price(job.seconds, one.announcement.price_wei, terms)

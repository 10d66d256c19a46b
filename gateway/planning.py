"""Plans for customers, rounds of assignments, and what a job waits for."""

import json
from collections.abc import Iterator
from dataclasses import replace

import structlog

from gateway.assign import Round, next_assignments, why_waiting
from gateway.desk import Desk, candidates_now, read_spec
from gateway.model import Assignment, OpenJob
from gateway.placement import missing, placements
from gateway.pricing import HISTORY, device_seconds, job_price
from gateway.store import jobs as job_store
from gateway.store import nodes as node_store
from gateway.store.specs import find_spec
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.gateway import REFUNDS, Plan, PlannedNode
from swarm_chain.core.jobs import JobSpec, parse_job_spec
from swarm_chain.core.kinds import JobState
from swarm_chain.core.messages import Json, receipt_json
from swarm_chain.core.model import JobRecord
from swarm_chain.core.units import Address, Wei

log = structlog.get_logger()


def make_plan(desk: Desk, document: object) -> Plan:
    """What a job would cost and where it would run; its spec names this gateway.

    Raises:
        InvalidInputError: as `read_spec`.
    """
    spec, _ = read_spec(desk, document)
    spec, kept = read_spec(desk, replace(spec, gateway=desk.signer.address).document())
    seconds = _seconds(desk, spec, kept.units)
    now = candidates_now(desk)
    nodes = tuple(
        PlannedNode(
            node=one.node,
            provider=one.provider,
            price_wei=job_price(seconds, one.announcement.price_wei, desk.terms),
        )
        for one in placements(spec, now)
    )
    return Plan(
        spec_hash=kept.spec_hash,
        spec=json.loads(kept.document),
        nodes=nodes,
        price_wei=nodes[0].price_wei if nodes else Wei(0),
        seconds=seconds,
        missing=missing(spec, now),
        refunds=REFUNDS,
    )


def assign_jobs(desk: Desk) -> tuple[Assignment, ...]:
    """Does one round: gives posted jobs to nodes, and withdraws what was not accepted in time. Kept before it is said.

    Returns:
        What changed.
    """
    changes = next_assignments(_open_jobs(desk), _round(desk))
    if changes:
        node_store.save_assignments(desk.database, changes)
    for one in changes:
        log.info("job_withdrawn" if one.withdrawn else "job_assigned", job_id=one.job_id, node=one.node)
    return changes


def assignments_of(desk: Desk, node: Address) -> list[Json]:
    """Posted jobs a node should accept."""
    posted = {job.job_id: job for job in desk.sight().state.jobs if job.state is JobState.POSTED}
    return [
        {
            "jobId": one.job_id,
            "specHash": to_hex(posted[one.job_id].spec_hash),
            "provider": one.provider,
            "assignedAt": one.assigned_at,
        }
        for one in node_store.assignments(desk.database)
        if one.node == node and not one.withdrawn and one.job_id in posted
    ]


def job_view(desk: Desk, job: JobRecord) -> Json:
    """What this gateway knows of a job, and what it waits for."""
    kept, signed = find_spec(desk.database, job.spec_hash), job_store.find_receipt(desk.database, job.job_id)
    here = job_store.content_hashes(desk.database, job.job_id)
    return {
        "jobId": job.job_id,
        "state": job.state.name.lower(),
        "specHash": to_hex(job.spec_hash),
        "node": job.node,
        "units": None if kept is None else kept.units,
        "unitsDone": sum(index > 0 for index in here),
        "why": _why(desk, job),
        "receipt": None if signed is None else receipt_json(signed.receipt),
        "gatewaySignature": None if signed is None else to_hex(signed.gateway_signature),
    }


def _why(desk: Desk, job: JobRecord) -> str:
    if job.state is JobState.POSTED:
        found = next((one for one in _open_jobs(desk) if one.record.job_id == job.job_id), None)
        return "its spec was not left at this gateway" if found is None else why_waiting(found, _round(desk))
    if job.state is JobState.COMPLETED:
        return "the members judge it"
    if job.state is not JobState.ACCEPTED:
        return ""
    failed = next((one for one in job_store.canary_findings(desk.database, job.job_id).values() if one), "")
    if failed:
        return f"the node's work was found wrong: {failed}"
    if job_store.find_receipt(desk.database, job.job_id) is not None:
        return f"node {job.node} completes it on chain"
    return f"node {job.node} works on it"


def _open_jobs(desk: Desk) -> Iterator[OpenJob]:
    sight = desk.sight()
    for record in sight.state.jobs:
        kept = find_spec(desk.database, record.spec_hash) if record.state is JobState.POSTED else None
        if kept is None:
            continue
        spec = parse_job_spec(json.loads(kept.document))
        yield OpenJob(
            record=record,
            accept_by=sight.times[record.job_id].accept_by,
            spec=spec,
            seconds=_seconds(desk, spec, kept.units),
        )


def _round(desk: Desk) -> Round:
    return Round(
        candidates=candidates_now(desk),
        before=node_store.assignments(desk.database),
        now=desk.sight().now,
        terms=desk.terms,
    )


def _seconds(desk: Desk, spec: JobSpec, units: int) -> int:
    return device_seconds(spec.resources, units, job_store.history(desk.database, spec.program, HISTORY))

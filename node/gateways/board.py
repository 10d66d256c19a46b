"""What this node does at its gateways now. Pure.

announce, ask --assigned--> inputs --accept, run--> contents and log, while it runs --all there--> receipt, countersigned
"""

from collections.abc import Iterator

from node.gateway_model import (
    AnnounceNode,
    AskAssignments,
    Countersign,
    Errand,
    FetchInputs,
    GatewayJob,
    GatewaySight,
    HandInJob,
)
from node.model import JobOffer, JobPhase, Own, OwnJob, View
from swarm_chain.core.kinds import JobState

ANNOUNCED_FOR = 600  # s an announcement holds
RENEWED_BEFORE = 300  # s before it ends it is said again
EVERY_MS = 1000  # between two questions for assignments, and two rounds of a running job's contents


def gateway_steps(view: View, own: Own) -> tuple[Errand, ...]:
    """What is to be done at gateways now.

    Args:
        view: the chain.
        own: own records, what is known of gateways, and what is under way there.
    """
    jobs = {job.job_id: job for job in own.jobs}
    steps = [step for gateway in own.gateways for step in _presence(gateway, view, own)]
    for offer in view.jobs:
        job = jobs.get(offer.job_id)
        gateway = None if job is None or job.gateway is None else gateway_of(job.gateway, own)
        if job is not None and gateway is not None:
            steps += _steps_of(offer, job, gateway, view, own)
    return tuple(step for step in steps if step not in own.errands)


def may_accept(job: OwnJob, own: Own) -> bool:
    """True if a job that names a gateway is assigned to this node by that one, and its inputs are here."""
    gateway = None if job.gateway is None else gateway_of(job.gateway, own)
    return gateway is not None and job.job_id in gateway.assigned and job.job_id not in own.lacking


def gateway_of(job: GatewayJob, own: Own) -> GatewaySight | None:
    """The gateway a job names, if this node works for it and has heard from it."""
    return next((gateway for gateway in own.gateways if gateway.address == job.gateway), None)


def _presence(gateway: GatewaySight, view: View, own: Own) -> Iterator[Errand]:
    if not own.takes_jobs or own.draining:
        return
    if gateway.asked_ms is None or own.now_ms - gateway.asked_ms >= EVERY_MS:
        yield AskAssignments(gateway=gateway.name)
    if gateway.announced_until - view.block.timestamp < RENEWED_BEFORE:
        yield AnnounceNode(gateway=gateway.name)


def _steps_of(offer: JobOffer, job: OwnJob, gateway: GatewaySight, view: View, own: Own) -> Iterator[Errand]:
    lacks = job.job_id in own.lacking and not own.draining
    if offer.state is JobState.POSTED:
        if lacks and job.phase is JobPhase.WAITING and job.job_id in gateway.assigned:
            yield FetchInputs(gateway=gateway.name, job_id=job.job_id)
    elif offer.state is JobState.ACCEPTED and offer.node == view.node and job.gateway is not None:
        if job.phase is JobPhase.FINISHED:
            yield from _conclude(job, job.gateway, gateway)
        elif lacks and job.job_id not in own.active_jobs:
            yield FetchInputs(gateway=gateway.name, job_id=job.job_id)
        elif job.job_id in own.active_jobs and own.now_ms - own.handed_ms.get(job.job_id, -EVERY_MS) >= EVERY_MS:
            yield HandInJob(gateway=gateway.name, job_id=job.job_id)


def _conclude(job: OwnJob, known: GatewayJob, gateway: GatewaySight) -> Iterator[Errand]:
    if known.signature is not None:
        return
    if known.handed.whole:
        yield Countersign(gateway=gateway.name, job_id=job.job_id)
    else:
        yield HandInJob(gateway=gateway.name, job_id=job.job_id)

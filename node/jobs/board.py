"""Jobs as the chain shows them, and what this node does about each. Pure.

POSTED --accept--> ACCEPTED --run, receipt, complete--> COMPLETED --receipt, drawn checkpoints to every member--> PAID

A job whose spec names a gateway waits until that one assigns it to this node and its inputs are here, and is completed
once the gateway has signed the receipt (node.gateways).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from node.events import address_of, hash_of, integer_of
from node.gateways.board import may_accept
from node.model import (
    AcceptJob,
    Action,
    CloseJob,
    CompleteJob,
    JobOffer,
    JobPhase,
    Own,
    OwnJob,
    RunJob,
    SendCheckpoints,
    SendReceipt,
    View,
)
from swarm_chain.core.kinds import JobKind, JobState
from swarm_chain.core.model import ChainEvent
from swarm_chain.core.units import BlockNumber, JobId, Timestamp

Offers = Mapping[JobId, JobOffer]

DRAW_DELAY = 2  # blocks after completion whose hash seeds the draw
CONCURRENT_JOBS = 1

_OVER = {"JobPaid": JobState.PAID, "JobRefunded": JobState.REFUNDED, "JobCancelled": JobState.CANCELLED}
_ENDED = (JobPhase.CLOSED, JobPhase.DECLINED)
_IDLE = (*_ENDED, JobPhase.WAITING)


def fold_jobs(offers: Offers, events: Iterable[ChainEvent]) -> dict[JobId, JobOffer]:
    """Add the escrow's events to what is known of jobs.

    Args:
        offers: jobs known before.
        events: further events, in chain order; other contracts' are ignored.
    """
    known = dict(offers)
    for event in events:
        if event.contract != "JobEscrow" or "jobId" not in event.args:
            continue
        job_id = JobId(integer_of(event, "jobId"))
        if event.name == "JobPosted":
            known[job_id] = _posted(job_id, event)
        elif job_id in known:
            known[job_id] = _apply(known[job_id], event)
    return known


def job_steps(view: View, own: Own) -> tuple[Action, ...]:
    """What is to be done for jobs now.

    Args:
        view: the chain.
        own: own records and what runs.
    """
    known = {job.job_id: job for job in own.jobs}
    steps = [step for offer in view.jobs for step in _steps_of(offer, known.get(offer.job_id), view, own)]
    taken = [step for step in steps if isinstance(step, AcceptJob)][:CONCURRENT_JOBS]
    return tuple(step for step in steps if step in taken or not isinstance(step, AcceptJob))


def _steps_of(offer: JobOffer, job: OwnJob | None, view: View, own: Own) -> Iterator[Action]:
    if job is not None and (job.sending or job.phase in _ENDED):
        return
    if offer.state is JobState.POSTED:
        yield from _accept(offer, job, view, own)
    elif offer.node != view.node or offer.state in _OVER.values():
        if job is not None:
            yield CloseJob(job_id=offer.job_id, reason=_why_over(offer, view))
    elif offer.state is JobState.ACCEPTED:
        yield from _work(offer, job, view, own)
    elif offer.state is JobState.COMPLETED and job is not None:
        yield from _hand_in(offer, job, view, own)


def _accept(offer: JobOffer, job: OwnJob | None, view: View, own: Own) -> Iterator[Action]:
    if view.block.timestamp >= offer.accept_by:
        if job is not None:
            yield CloseJob(job_id=offer.job_id, reason="accept_expired")
        return
    if job is not None and job.phase is JobPhase.WAITING and not may_accept(job, own):
        return
    held = sum(other.phase not in _IDLE and other.signed is None for other in own.jobs if other is not job)
    free = own.takes_jobs and not own.draining and held < CONCURRENT_JOBS
    if free:
        yield AcceptJob(offer=offer)


def _work(offer: JobOffer, job: OwnJob | None, view: View, own: Own) -> Iterator[Action]:
    if view.block.timestamp >= offer.complete_by:
        if job is not None:
            yield CloseJob(job_id=offer.job_id, reason="too_late")
    elif job is not None and job.phase is JobPhase.FINISHED:
        if job.gateway is None or job.gateway.signature is not None:
            yield CompleteJob(job_id=offer.job_id)
    elif offer.job_id not in own.active_jobs and offer.job_id not in own.lacking and not own.draining:
        yield RunJob(offer=offer)


def _hand_in(offer: JobOffer, job: OwnJob, view: View, own: Own) -> Iterator[Action]:
    if job.signed is None:
        yield CloseJob(job_id=offer.job_id, reason="receipt_lost")
        return
    for member in own.members:
        if member not in job.delivered:
            yield SendReceipt(job_id=offer.job_id, member=member)
    drawable = view.block.number >= offer.completed_block + DRAW_DELAY and job.signed.receipt.exit_code == 0
    for member in sorted(job.delivered - job.uploaded) if drawable else ():
        yield SendCheckpoints(offer=offer, member=member)


def _why_over(offer: JobOffer, view: View) -> str:
    return offer.state.name.lower() if offer.node == view.node else "taken_by_another"


def _posted(job_id: JobId, event: ChainEvent) -> JobOffer:
    return JobOffer(
        job_id=job_id,
        state=JobState.POSTED,
        kind=JobKind(integer_of(event, "kind")),
        spec_hash=hash_of(event, "specHash"),
        accept_by=Timestamp(integer_of(event, "acceptBy")),
    )


def _apply(offer: JobOffer, event: ChainEvent) -> JobOffer:
    if event.name == "JobAccepted":
        complete_by = Timestamp(integer_of(event, "completeBy"))
        return replace(offer, state=JobState.ACCEPTED, node=address_of(event, "node"), complete_by=complete_by)
    if event.name == "JobCompleted":
        digest, block = hash_of(event, "receiptDigest"), BlockNumber(event.block)
        return replace(offer, state=JobState.COMPLETED, receipt_digest=digest, completed_block=block)
    return replace(offer, state=_OVER.get(event.name, offer.state))

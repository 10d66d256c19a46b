"""Why a job is where it is: the chain's facts first, then what gateway and member say. Pure."""

from swarm_chain.client.escrow import deadline_of
from swarm_chain.client.model import Explanation, JobStatus
from swarm_chain.core.kinds import JobState
from swarm_chain.core.units import Timestamp, format_swm


def explain_job(status: JobStatus, now: Timestamp) -> Explanation:
    """Reasons, and what to do.

    Args:
        status: the job.
        now: chain time.
    """
    job = status.job
    facts, fix = _by_chain(status, now)
    said = []
    if job.state not in {JobState.PAID, JobState.REFUNDED, JobState.CANCELLED}:
        if status.gateway is not None and status.gateway.why:
            said.append(f"the gateway says: {status.gateway.why}")
        if status.gateway is not None and status.gateway.units:
            said.append(f"the gateway has {status.gateway.units_done or 0} of {status.gateway.units} units")
        if status.gateway is None and status.gateway_silent:
            said.append(f"no word of a gateway: {status.gateway_silent}")
    if job.state is JobState.COMPLETED or job.state is JobState.REFUNDED:
        said += _judged(status)
    return Explanation(job_id=job.job_id, state=job.state, reasons=(*facts, *said), fix=fix)


def _by_chain(status: JobStatus, now: Timestamp) -> tuple[list[str], str]:
    job, number = status.job, status.job.job_id
    budget, deadline = f"{format_swm(job.budget_wei)} SWM", deadline_of(job)
    if job.state is JobState.POSTED and now < job.accept_by:
        return [
            f"no node has accepted it; one may for {job.accept_by - now} s more"
        ], f"wait, or: swarm job cancel {number}"
    if job.state is JobState.POSTED:
        what = f"no node accepted it in time: the last moment was {now - job.accept_by} s ago"
        return [what], f"take {budget} back: swarm job cancel {number}; then offer more, or ask for less"
    if deadline is not None and now >= deadline:
        who = "its node did not finish" if job.state is JobState.ACCEPTED else "it was not judged"
        return [
            f"{who} in time: its deadline passed {now - deadline} s ago"
        ], f"get {budget} back: swarm job cancel {number}"
    if job.state is JobState.ACCEPTED:
        return [
            f"{job.node} works on it and has {job.complete_by - now} s more"
        ], f"watch it: swarm job logs {number} -f"
    if job.state is JobState.COMPLETED:
        what = f"{job.node} has finished it; members judge it and have {job.judge_by - now} s more"
        return [what], f"fetch what it made: swarm job results {number}; the pay follows the report of its epoch"
    ended = {
        JobState.PAID: (
            f"it was found right and {budget} were paid",
            f"fetch what it made: swarm job results {number}",
        ),
        JobState.REFUNDED: (f"{budget} went back to {job.customer}", f"see what it said: swarm job logs {number}"),
        JobState.CANCELLED: (
            f"it was taken back; {budget} returned to {job.customer}",
            "submit it again if it is wanted",
        ),
    }
    what, fix = ended[job.state]
    return [what], fix


def _judged(status: JobStatus) -> list[str]:
    if status.judgement is None:
        return [f"no word of a member: {status.judgement_silent}"] if status.judgement_silent else []
    verdict, reason = status.judgement.get("verdict"), status.judgement.get("reason")
    if not verdict:
        return ["a member says: not judged yet"]
    return [f"a member says: {verdict}" + (f" ({reason})" if reason else "")]

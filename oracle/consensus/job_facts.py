"""What the members together found on completed jobs.

findings --majority--> paid | refunded | open          failed, and two of three referees computed the same --> forged
"""

from oracle.consensus.medians import agreed_jobs
from oracle.consensus.referees import draw_referees, find_forgery
from oracle.judge.training import check_receipt, paid_seconds
from oracle.model import Bundle, JobFinding, JudgedJob, Network, PreviousEpoch, SignedReceipt
from oracle.settle import open_jobs
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.model import ChainState, JobRecord
from swarm_chain.core.signing import domain_separator


def judged_jobs(
    state: ChainState, bundle: Bundle, previous: PreviousEpoch | None, network: Network
) -> tuple[JudgedJob, ...]:
    """Judge the jobs that are completed and were not judged before.

    Args:
        state: the chain at the reference block.
        bundle: observations and receipts.
        previous: gives the jobs judged before; None before the first report.
        network: domain of the signatures.

    Returns:
        Jobs that more than half of the members agree on, in the order of the chain; the others stay open.
    """
    findings = agreed_jobs([signed.observation for signed in bundle.observations])
    receipts = {signed.receipt.job_id: signed for signed in bundle.receipts}
    domain = domain_separator(network.chain_id, network.beacon)
    judged: list[JudgedJob] = []
    for job in open_jobs(state, previous):
        finding, signed = findings.get(job.job_id), receipts.get(job.job_id)
        if finding is None:
            continue
        fault = check_receipt(signed, job, domain) if signed is not None else "no_receipt"
        if finding.outcome is not Outcome.PASSED:
            judged.append(_refunded(state, bundle, job, finding, None if fault else signed))
        elif signed is not None:
            judged.append(_paid(job, signed, fault))
    return tuple(judged)


def _paid(job: JobRecord, signed: SignedReceipt, fault: str) -> JudgedJob:
    outcome = Outcome.FAILED if fault else Outcome.PASSED
    seconds = 0 if fault else paid_seconds(signed, job)
    return JudgedJob(job_id=job.job_id, outcome=outcome, reason=fault, device_seconds=seconds)


def _refunded(
    state: ChainState, bundle: Bundle, job: JobRecord, finding: JobFinding, signed: SignedReceipt | None
) -> JudgedJob:
    forged = None
    if signed is not None:  # nobody is guilty by a receipt that is not here, whoever says what was in it
        referees = draw_referees(state.members, state.block.hash, job)
        observations = (one.observation for one in bundle.observations)
        forged = find_forgery(job, signed, observations, referees)
    return JudgedJob(job_id=job.job_id, outcome=finding.outcome, reason=finding.reason, forged=forged)

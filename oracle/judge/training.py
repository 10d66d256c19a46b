"""Judgement of a job of any kind: its receipt against the chain, its contents against the root, drawn units computed again.

    receipt --check_receipt--> "" --draw_segments--> compute each: source --> hash of the content it makes
    committed == computed for every drawn unit, and for content 0? --judge_units--> passed | failed

Fail closed: whatever cannot be shown to be right is not paid. Guilt is another matter: it needs a unit of the network's
own programs, which gives the same bytes wherever it runs, and referees who confirm it (oracle.consensus.referees).
"""

from collections.abc import Mapping, Sequence

from oracle.model import JobFinding, Mismatch, SignedReceipt
from swarm_chain.core import merkle
from swarm_chain.core.checkpoints import checkpoint_tree
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.model import JobRecord
from swarm_chain.core.signing import receipt_digest, recover
from swarm_chain.core.units import Address, Hash32, JobId, Signature


def check_receipt(signed: SignedReceipt, job: JobRecord, domain: Hash32) -> str:
    """Compare a receipt with what the chain knows of its job.

    Args:
        signed: the receipt, its signature and all content hashes.
        job: the job as the chain knows it.
        domain: EIP-712 domain of ChallengeBeacon.

    Returns:
        "" if all fits, else a stable reason: wrong_job, wrong_digest, wrong_signer, failed_run, wrong_times or
        wrong_checkpoints.
    """
    receipt = signed.receipt
    named = (receipt.job_id, receipt.kind, receipt.node, receipt.spec_hash)
    reasons = {
        "wrong_job": named != (job.job_id, job.kind, job.node, job.spec_hash),
        "wrong_digest": receipt_digest(domain, receipt) != job.receipt_digest,
        "wrong_signer": not _is_signed(signed, signed.signature, receipt.node, domain),
        "failed_run": receipt.exit_code != 0,
        "wrong_times": receipt.finished_at < receipt.started_at,
        "wrong_checkpoints": not _opens_root(signed) or not _ends_fit(signed),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def is_countersigned(signed: SignedReceipt, gateway: Address, domain: Hash32) -> bool:
    """Tell whether the gateway that a job's spec names has signed the receipt too.

    Args:
        signed: the receipt with its signatures.
        gateway: from the spec.
        domain: EIP-712 domain of ChallengeBeacon.
    """
    return _is_signed(signed, signed.gateway_signature, gateway, domain)


def paid_seconds(signed: SignedReceipt, job: JobRecord) -> int:
    """Give the device-seconds of a job that count as demand.

    The node states them, so they are held to what the chain saw: one device from posting to completion.

    Args:
        signed: the receipt.
        job: the job, completed on chain.
    """
    return min(signed.receipt.device_seconds, max(job.completed_at - job.posted_at, 0))


def judge_units(
    job_id: JobId, drawn: Sequence[int], committed: Sequence[Hash32], computed: Mapping[int, Hash32], *, has_code: bool
) -> JobFinding:
    """Judge a job by what a member computed again.

    Args:
        job_id: the job.
        drawn: units drawn after completion; unit i makes content i + 1.
        committed: hashes of all contents, as committed.
        computed: hashes by number of the content; a member may stop after the first one that differs.
        has_code: the spec has code of its customer.

    Returns:
        Passed if content 0 and that of every drawn unit are as committed. Failed otherwise: wrong_unit, which names the
        first mismatch in draw order; wrong_start, if all of them are right but content 0, which names the kind of machine
        and so is nobody's guilt; not_reproduced, if the customer's code gave something else, which only shows that code
        to be fickle; not_computed where one is lacking; no_units where none was drawn.
    """
    wanted = [*(unit + 1 for unit in drawn), 0]
    if not drawn:
        return _failed(job_id, "no_units")
    if max(wanted) >= len(committed):
        return _failed(job_id, "not_computed")
    differ = [content for content in wanted if computed.get(content, committed[content]) != committed[content]]
    if differ and has_code:
        return _failed(job_id, "not_reproduced")
    if differ:
        mismatch = Mismatch(content=differ[0], computed=computed[differ[0]]) if differ[0] else None
        return _failed(job_id, "wrong_unit" if mismatch else "wrong_start", mismatch)
    if any(content not in computed for content in wanted):
        return _failed(job_id, "not_computed")
    return JobFinding(job_id=job_id, outcome=Outcome.PASSED)


def _failed(job_id: JobId, reason: str, mismatch: Mismatch | None = None) -> JobFinding:
    return JobFinding(job_id=job_id, outcome=Outcome.FAILED, reason=reason, mismatch=mismatch)


def _is_signed(signed: SignedReceipt, signature: Signature | None, by: Address, domain: Hash32) -> bool:
    try:
        return signature is not None and recover(receipt_digest(domain, signed.receipt), signature) == by
    except InvalidInputError:
        return False


def _opens_root(signed: SignedReceipt) -> bool:
    if len(signed.checkpoints) != signed.receipt.checkpoint_count:
        return False
    try:
        return merkle.root(checkpoint_tree(signed.checkpoints)) == signed.receipt.checkpoint_root
    except InvalidInputError:
        return False


def _ends_fit(signed: SignedReceipt) -> bool:
    ends = (signed.receipt.input_digest, signed.receipt.output_digest)
    return ends == (signed.checkpoints[0], signed.checkpoints[-1])

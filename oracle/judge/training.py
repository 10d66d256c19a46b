"""Judgement of a training job: its receipt against the chain, its checkpoints against the root, drawn segments replayed.

    receipt --check_receipt--> "" --draw_segments--> replay each: start checkpoint --> content hash of its end
    committed hash of the end == replayed hash for every drawn segment? --judge_segments--> passed | failed

Fail closed: whatever cannot be shown to be right is not paid.
"""

from collections.abc import Mapping, Sequence

from oracle.model import JobFinding, SignedReceipt
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
        "wrong_checkpoints": not _opens_root(signed),
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


def judge_segments(
    job_id: JobId, drawn: Sequence[int], committed: Sequence[Hash32], replayed: Mapping[int, Hash32]
) -> JobFinding:
    """Judge a job by its replayed segments.

    Args:
        job_id: the job.
        drawn: segments drawn after completion; segment i leads from checkpoint i to i + 1.
        committed: content hashes of all checkpoints, as committed.
        replayed: content hash of the end of each segment, as replayed by the judge.

    Returns:
        Passed if every drawn segment was replayed to the committed hash; failed with wrong_segment otherwise, or with
        not_replayed where one is lacking, or with no_segments where none was drawn.
    """
    if not drawn:
        return JobFinding(job_id=job_id, outcome=Outcome.FAILED, reason="no_segments")
    if any(segment not in replayed or segment + 1 >= len(committed) for segment in drawn):
        return JobFinding(job_id=job_id, outcome=Outcome.FAILED, reason="not_replayed")
    if any(replayed[segment] != committed[segment + 1] for segment in drawn):
        return JobFinding(job_id=job_id, outcome=Outcome.FAILED, reason="wrong_segment")
    return JobFinding(job_id=job_id, outcome=Outcome.PASSED)


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

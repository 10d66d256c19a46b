"""Receipts: the gateway signs beside the node once everything the receipt commits to is here and its canaries hold.

receipt of the job's node --checks--> contents all here --canaries--> countersigned, kept, answered
        |                                    |               |
        +--422                               +--409          +--409 canary_failed, for good
"""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from gateway.canaries import Canary, CanaryAsk, CanaryDesk, draw_canaries, files_as_inputs
from gateway.chain import Sight
from gateway.desk import Desk, input_files, kept_spec, refused
from gateway.model import CountersignedReceipt
from gateway.store import jobs as store
from gateway.store.specs import KeptSpec, find_spec
from gateway.uploads import RUNNING, job_of_node
from swarm_chain.core.checkpoints import checkpoint_tree
from swarm_chain.core.errors import InvalidInputError, RejectedError
from swarm_chain.core.gateway import MAX_SKEW_FOR
from swarm_chain.core.kinds import JobState
from swarm_chain.core.merkle import root
from swarm_chain.core.model import JobRecord, Receipt
from swarm_chain.core.signing import receipt_digest, receipt_hash, require_signed_by
from swarm_chain.core.units import ZERO_HASH, Hash32, Signature
from swarm_chain.reference.programs.registry import open_program

log = structlog.get_logger()

MISSING_SHOWN = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Canaries:
    """How a gateway checks: units a job, the secret they are drawn from, seconds a node waits on the line."""

    desk: CanaryDesk
    secret: Hash32
    units: int
    wait_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptClaim:
    """What a node hands in: its receipt, signed, and the content hashes that open its root."""

    receipt: Receipt
    signature: Signature
    checkpoints: tuple[Hash32, ...]


def take_receipt(desk: Desk, canaries: Canaries, claim: ReceiptClaim) -> Signature:
    """Countersigns a receipt; the same one gets the same signature, another one of the job none.

    Args:
        desk: the gateway.
        canaries: how it checks.
        claim: what the node hands in.

    Raises:
        InvalidInputError: unknown job, not its node's, not signed by it, or the receipt contradicts job or spec.
        RejectedError: the job is over or late, another receipt is signed, contents are missing, a canary failed.
        UnavailableError: canaries are still being computed.
    """
    receipt = claim.receipt
    digest = receipt_digest(desk.domain, receipt)
    job = job_of_node(desk, receipt.job_id, receipt.node)
    require_signed_by(receipt.node, digest, claim.signature)
    signed = store.find_receipt(desk.database, job.job_id)
    if signed is None:
        spec = find_spec(desk.database, job.spec_hash)
        if spec is None:
            raise InvalidInputError(f"the spec of job {job.job_id} is not here", code="unknown_spec")
        _check_job(desk.sight(), job, receipt, digest)
        _check_contents(desk, spec, claim)
        if receipt.exit_code == 0:
            _check_canaries(desk, canaries, spec, claim)
        signed = _sign(desk, spec, claim, digest)
    if signed.digest != digest:
        raise refused(
            f"another receipt of job {job.job_id} is signed", "receipt_countersigned", "complete the job with that one"
        )
    return signed.gateway_signature


def _check_job(sight: Sight, job: JobRecord, receipt: Receipt, digest: Hash32) -> None:
    if receipt.spec_hash != job.spec_hash or receipt.kind != job.kind:
        raise InvalidInputError(f"the receipt is not for job {job.job_id}", code="wrong_receipt")
    if job.state not in RUNNING:
        raise refused(f"job {job.job_id} is {job.state.name.lower()}", "job_over", "stop it")
    if job.state is JobState.COMPLETED and job.receipt_digest != digest:
        raise refused(f"job {job.job_id} was completed with another receipt", "wrong_receipt")
    if job.state is JobState.ACCEPTED and sight.now >= sight.times[job.job_id].complete_by:
        raise refused(f"job {job.job_id} was to be completed before", "too_late", "its customer gets the budget back")
    if not job.posted_at <= receipt.started_at <= receipt.finished_at <= sight.now + MAX_SKEW_FOR:
        raise InvalidInputError(
            "startedAt and finishedAt are not between posting and now", fix="use chain time", code="wrong_receipt"
        )


def _check_contents(desk: Desk, spec: KeptSpec, claim: ReceiptClaim) -> None:
    receipt, checkpoints = claim.receipt, claim.checkpoints
    expected = spec.units + 1 if receipt.exit_code == 0 else 0
    if receipt.checkpoint_count != expected or len(checkpoints) != expected:
        raise InvalidInputError(
            f"a receipt with exit code {receipt.exit_code} of this job names {expected} contents",
            code="checkpoint_count",
        )
    top = root(checkpoint_tree(checkpoints)) if checkpoints else ZERO_HASH
    first, last = (checkpoints[0], checkpoints[-1]) if checkpoints else (ZERO_HASH, ZERO_HASH)
    if (receipt.checkpoint_root, receipt.input_digest, receipt.output_digest) != (top, first, last):
        raise InvalidInputError("the content hashes do not open the receipt", code="checkpoint_root")
    lacking = _lacking(desk, claim)
    if lacking:
        raise refused(
            f"{len(lacking)} contents of job {receipt.job_id} are not here as the receipt names them",
            "contents_missing",
            "upload them first",
            {"missing": lacking[:MISSING_SHOWN]},
        )


def _lacking(desk: Desk, claim: ReceiptClaim) -> Sequence[int]:
    here = store.content_hashes(desk.database, claim.receipt.job_id)
    return [index for index, content in enumerate(claim.checkpoints) if here.get(index) != content]


def _check_canaries(desk: Desk, canaries: Canaries, spec: KeptSpec, claim: ReceiptClaim) -> None:
    receipt = claim.receipt
    known = store.canary_findings(desk.database, receipt.job_id)
    failed = next((found for found in known.values() if found), "")
    if failed:
        raise _canary_failed(receipt, failed)
    if canaries.units == 0 or receipt.checkpoint_root in known:
        return
    ask = _ask(desk, canaries, spec, claim)
    found = canaries.desk.finding(receipt.job_id, receipt.checkpoint_root, ask, canaries.wait_s)
    store.note_canaries(desk.database, receipt.job_id, receipt.checkpoint_root, found)
    if found:
        log.error("canary_failed", job_id=receipt.job_id, node=receipt.node, reason=found)
        raise _canary_failed(receipt, found)


def _ask(desk: Desk, canaries: Canaries, kept: KeptSpec, claim: ReceiptClaim) -> CanaryAsk:
    spec = kept_spec(desk, kept.spec_hash)
    if spec is None:
        raise InvalidInputError("the spec is not here", code="unknown_spec")
    receipt, hashes, inputs = claim.receipt, claim.checkpoints, input_files(desk, spec)
    program = open_program(spec, files_as_inputs(inputs))
    drawn = draw_canaries(canaries.secret, receipt.job_id, receipt.checkpoint_root, canaries.units, kept.units)
    return CanaryAsk(
        document=kept.document,
        inputs=inputs,
        first=hashes[0],
        canaries=tuple(
            Canary(
                unit=unit,
                source=desk.files.content(receipt.job_id, hashes[program.source(unit)]),
                expected=hashes[unit + 1],
            )
            for unit in drawn
        ),
    )


def _canary_failed(receipt: Receipt, found: str) -> RejectedError:
    return refused(
        f"job {receipt.job_id} was computed wrongly: {found}",
        "canary_failed",
        "hand in a receipt with an exit code other than 0, or let the job's time run out",
    )


def _sign(desk: Desk, spec: KeptSpec, claim: ReceiptClaim, digest: Hash32) -> CountersignedReceipt:
    receipt = claim.receipt
    done = receipt.exit_code == 0 and spec.units > 0
    unit_ms = receipt.device_seconds * 1000 // spec.units if done else None
    signed = CountersignedReceipt(
        receipt=receipt,
        digest=digest,
        signature=claim.signature,
        gateway_signature=desk.signer.sign_typed(desk.domain, receipt_hash(receipt)),
    )
    kept = store.keep_receipt(desk.database, signed, spec.program, unit_ms)
    log.info("receipt_countersigned", job_id=receipt.job_id, node=receipt.node, exit_code=receipt.exit_code)
    return kept

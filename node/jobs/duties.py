"""Carries out what `next_steps` asks for jobs. Transactions and receipts are stored before they are sent."""

from collections.abc import Mapping

import structlog

from node.gateways.duties import inputs_at_hand
from node.gateways.records import note_gateway
from node.jobs.board import DRAW_DELAY
from node.jobs.handing import hand_in, hand_in_inputs
from node.jobs.receipts import JobRun, drawn_checkpoints, make_receipt
from node.memory import Memory
from node.model import (
    AcceptJob,
    CloseJob,
    CompleteJob,
    JobPhase,
    OwnJob,
    RunJob,
    SendCheckpoints,
    SendReceipt,
    SignedReceipt,
    View,
)
from node.ports import CheckpointUpload, FinishedJob, JobRunner
from node.records import end_job, finish_job, job_spec, own_jobs, purpose_of, save_job, start_job
from node.state import add_delivery
from node.tools import Tools, ask_any
from swarm_chain.core.checkpoints import job_seed
from swarm_chain.core.errors import InconsistentError, InvalidInputError, UnavailableError
from swarm_chain.core.jobs import JobSpec, parse_job_spec, spec_hash
from swarm_chain.core.model import ContractCall
from swarm_chain.core.signing import receipt_digest, receipt_hash
from swarm_chain.core.units import Hash32, JobId, Timestamp
from swarm_chain.reference.programs.base import Program, inputs_of
from swarm_chain.reference.programs.registry import open_program

log = structlog.get_logger()


def accept_job(tools: Tools, memory: Memory, view: View, action: AcceptJob) -> None:
    """Reads the spec, declines what cannot be run, and takes the job on chain; one that a gateway has not assigned to this
    node, or whose inputs are not here, waits."""
    job_id = action.offer.job_id
    document = ask_any(tools, lambda reader: reader.spec(action.offer.spec_hash))
    save_job(tools.state, job_id, JobPhase.ACCEPTING, document)
    try:
        spec = parse_job_spec(document)
        if _must_wait(tools, memory, job_id, spec):
            save_job(tools.state, job_id, JobPhase.WAITING, document)
            return
        _program(spec, inputs_at_hand(tools, spec.input_hashes))
    except InvalidInputError as error:
        end_job(tools.state, job_id, JobPhase.DECLINED, error.message)
        log.info("job_declined", job_id=job_id, reason=error.message)
        return
    _send(tools, "accept", job_id, (job_id, view.provider_id, tools.node))


def run_job(tools: Tools, memory: Memory, view: View, action: RunJob) -> None:
    """Starts or resumes an accepted job on Ray.

    Raises:
        UnavailableError: its inputs are not here; they are fetched first.
    """
    job_id = action.offer.job_id
    known = job_spec(tools.state, job_id)
    document = known[0] if known is not None else ask_any(tools, lambda reader: reader.spec(action.offer.spec_hash))
    spec = parse_job_spec(document)
    save_job(tools.state, job_id, JobPhase.RUNNING, document)
    if spec.gateway_address is not None:
        note_gateway(tools.state, job_id, spec.gateway_address)
    inputs = inputs_at_hand(tools, spec.input_hashes)
    if len(inputs) < len(set(spec.input_hashes)):
        raise UnavailableError(f"inputs of job {job_id} are not here", code="inputs_missing", retry_after=1)
    start_job(tools.state, job_id, view.block.timestamp)
    _runner(tools).start(job_id, spec, inputs)
    memory.active_jobs.add(job_id)
    log.info("job_started", job_id=job_id, resumed=known is not None and known[1] > 0)


def collect_job(tools: Tools, finished: FinishedJob, now: Timestamp) -> None:
    """Makes, signs and stores the receipt of a job that ended on Ray.

    Args:
        tools: ports and records.
        finished: what came of it.
        now: chain time.
    """
    spec, started_at = job_spec(tools.state, finished.job_id) or (None, now)
    run = JobRun(
        job_id=finished.job_id,
        node=tools.node,
        kind=parse_job_spec(spec).job_kind,
        spec_hash=spec_hash(spec),
        contents=finished.contents,
        device_ms=finished.device_ms,
        started_at=started_at,
        finished_at=now,
        exit_code=finished.exit_code,
    )
    receipt = make_receipt(run)
    signature = tools.signer.sign_typed(tools.domain, receipt_hash(receipt))
    contents = finished.contents if receipt.checkpoint_count else ()
    finish_job(tools.state, SignedReceipt(receipt=receipt, signature=signature, contents=contents), finished.reason)
    log.info(
        "job_finished",
        job_id=finished.job_id,
        exit_code=finished.exit_code,
        reason=finished.reason,
        checkpoints=len(contents),
    )


def complete_job(tools: Tools, _: Memory, __: View, action: CompleteJob) -> None:
    """Records the digest of the stored receipt on chain."""
    signed = _receipt_of(tools, action.job_id)
    _send(tools, "complete", action.job_id, (action.job_id, receipt_digest(tools.domain, signed.receipt)))


def send_receipt(tools: Tools, _: Memory, __: View, action: SendReceipt) -> None:
    """Hands the receipt to a member, and before it the spec, for it may have been away when the job was posted."""
    signed, known = _receipt_of(tools, action.job_id), job_spec(tools.state, action.job_id)
    if known is not None:
        tools.members[action.member].specs.keep(known[0])
    tools.members[action.member].inbox.receipt(signed)
    add_delivery(tools.state, "receipt", str(action.job_id), action.member)
    log.info("receipt_delivered", job_id=action.job_id, member=action.member)


def send_checkpoints(tools: Tools, _: Memory, __: View, action: SendCheckpoints) -> None:
    """Draws the job's units and hands their sources to a member, after the inputs.

    Raises:
        InconsistentError: the chain recorded another receipt than the stored one.
    """
    offer = action.offer
    signed = _receipt_of(tools, offer.job_id)
    digest = receipt_digest(tools.domain, signed.receipt)
    if digest != offer.receipt_digest:
        raise InconsistentError(f"the chain recorded another receipt for job {offer.job_id}", code="other_receipt")
    block_hash = tools.chain.block(offer.completed_block + DRAW_DELAY).hash
    known = job_spec(tools.state, offer.job_id)
    spec = parse_job_spec(known and known[0])
    inputs = _all_inputs(tools, spec)
    hand_in_inputs(tools, action.member, offer.job_id, inputs)
    program, seed = _program(spec, inputs), job_seed(block_hash, digest)
    for drawn in drawn_checkpoints(program, signed.receipt, signed.contents, seed):
        upload = CheckpointUpload(
            job_id=offer.job_id,
            node=tools.node,
            index=drawn.index,
            content=_runner(tools).content(offer.job_id, drawn.index),
            path=drawn.path,
            signature=tools.signer.sign_typed(tools.domain, drawn.struct_hash),
        )
        hand_in(tools, action.member, upload)
    add_delivery(tools.state, "checkpoints", str(offer.job_id), action.member)


def close_job(tools: Tools, memory: Memory, _: View, action: CloseJob) -> None:
    """Stops a job that is over and drops its files."""
    if tools.runner is not None:
        tools.runner.stop(action.job_id, forget=True)
    memory.active_jobs.discard(action.job_id)
    end_job(tools.state, action.job_id, JobPhase.CLOSED, action.reason)
    log.info("job_closed", job_id=action.job_id, reason=action.reason)


def _send(tools: Tools, function: str, job_id: JobId, args: tuple[object, ...]) -> None:
    call = ContractCall(contract="JobEscrow", function=function, args=args)
    tools.outbox.send(purpose_of(function, job_id), call)


def _all_inputs(tools: Tools, spec: JobSpec) -> Mapping[Hash32, bytes]:
    found = inputs_at_hand(tools, spec.input_hashes)
    lacking = [content for content in spec.input_hashes if content not in found]
    if lacking:
        raise UnavailableError(f"{len(lacking)} inputs of the job are not on this machine", code="inputs_lacking")
    return found


def _must_wait(tools: Tools, memory: Memory, job_id: JobId, spec: JobSpec) -> bool:
    if spec.gateway_address is None:
        return False
    note_gateway(tools.state, job_id, spec.gateway_address)
    assigned = any(
        seen.address == spec.gateway_address and job_id in seen.assigned for seen in memory.gateways.values()
    )
    return not assigned or len(inputs_at_hand(tools, spec.input_hashes)) < len(set(spec.input_hashes))


def _program(spec: JobSpec, inputs: Mapping[Hash32, bytes]) -> Program:
    return open_program(spec, inputs_of(inputs))


def _receipt_of(tools: Tools, job_id: JobId) -> SignedReceipt:
    job: OwnJob | None = next((job for job in own_jobs(tools.state) if job.job_id == job_id), None)
    if job is None or job.signed is None:
        raise InconsistentError(f"no receipt is stored for job {job_id}")
    return job.signed


def _runner(tools: Tools) -> JobRunner:
    if tools.runner is None:
        raise InconsistentError("this agent was started without a job runner", fix="start it with jobs enabled")
    return tools.runner

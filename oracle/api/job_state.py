"""What a member tells of a job: what was handed in, what is lacking, what it found, and in words why."""

from collections.abc import Mapping
from types import MappingProxyType

from oracle.api.answers import Json
from oracle.model import SignedReceipt
from oracle.pipeline.desk import Desk
from oracle.pipeline.job_desk import drawn_segments, program_of, receipt_of, spec_of
from oracle.publish.measured import mismatch_json
from oracle.store import jobs as store
from swarm_chain.core.checkpoints import checkpoints_to_upload
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.jobs import JobSpec
from swarm_chain.core.kinds import JobState
from swarm_chain.core.messages import receipt_json
from swarm_chain.core.model import JobRecord
from swarm_chain.core.units import JobId

# What each reason of a finding means; "" is a job that passed.
REASONS: Mapping[str, str] = MappingProxyType(
    {
        "": "every drawn unit was computed again and is what the receipt commits to",
        "bad_spec": "the spec is none that a program of this network takes, or its inputs are not what it wants",
        "failed_run": "the receipt says that the run failed",
        "judge_crashed": "this member's judge stumbled over the job; others may judge it",
        "no_checkpoints": "the node did not hand in what the drawn units are computed from",
        "no_draw": "the block that decides the draw did not come in time",
        "no_gateway": "the receipt lacks the signature of the gateway that the spec names",
        "no_inputs": "the node did not hand in the inputs that the spec names",
        "no_receipt": "the node did not hand in the receipt it completed the job with",
        "no_spec": "nobody left the spec with this member",
        "no_units": "there is no unit that could be computed again",
        "not_computed": "this member could not compute a drawn unit: its machine is of another kind, or it took too long",
        "not_reproduced": "a drawn unit cannot be computed again: what it starts from is broken, or the customer's code"
        " fails or gives something else each time",
        "wrong_checkpoints": "the contents named do not make the receipt's root, or its digests are not of their ends",
        "wrong_digest": "the receipt is another one than the chain names",
        "wrong_job": "the receipt is of another job, node, kind or spec",
        "wrong_signer": "the receipt is not signed by the job's node",
        "wrong_start": "content 0 does not follow from spec and inputs",
        "wrong_times": "the receipt says that the job finished before it started",
        "wrong_unit": "a drawn unit gives another content than the receipt commits to",
        "wrong_units": "the receipt has another number of contents than the program has units",
    }
)


def job_document(desk: Desk, job_id: JobId) -> Json:
    """Answer of GET /v1/jobs/{id}.

    Raises:
        InvalidInputError: the chain knows no such job.
    """
    job = next((j for j in desk.sight().state.jobs if j.job_id == job_id), None)
    if job is None:
        raise InvalidInputError(f"job {job_id} is unknown", code="unknown_job", fix="see `swarm job status`")
    found = next(iter(store.verdicts(desk.engine, [job_id])), None)
    spec, signed = _spec(desk, job), _receipt(desk, job)
    drawn = drawn_segments(desk, job) if signed is not None else ()
    return {
        "jobId": job_id,
        "state": job.state.name.lower(),
        "kind": job.kind.name.lower(),
        "program": spec and spec.program,
        "specHash": to_hex(job.spec_hash),
        "receipt": signed and receipt_json(signed.receipt),
        "receiptDigest": to_hex(job.receipt_digest),
        "drawnUnits": list(drawn),
        "inputs": _inputs(desk, job, spec),
        "contents": _contents(desk, job, drawn if job.state is JobState.COMPLETED else ()),
        "verdict": found and found.outcome.value,
        "reason": found and found.reason,
        "mismatch": found and mismatch_json(found),
        "why": REASONS.get(found.reason, found.reason) if found else _waits_for(job, spec, signed, drawn),
    }


def _waits_for(job: JobRecord, spec: JobSpec | None, signed: SignedReceipt | None, drawn: tuple[int, ...]) -> str:
    if job.state is not JobState.COMPLETED:
        return f"the job is {job.state.name.lower()}"
    waits = {
        "for the spec": spec is None,
        "for the receipt": signed is None,
        "for the block that decides the draw": not drawn,
    }
    return "waits " + next(
        (what for what, holds in waits.items() if holds), "to be judged, or for what is not here yet"
    )


def _spec(desk: Desk, job: JobRecord) -> JobSpec | None:
    try:
        return spec_of(desk, job)
    except (InvalidInputError, UnavailableError):
        return None


def _receipt(desk: Desk, job: JobRecord) -> SignedReceipt | None:
    has_receipt = store.receipt_document(desk.engine, job.job_id, job.receipt_digest) is not None
    return receipt_of(desk, job) if has_receipt else None


def _inputs(desk: Desk, job: JobRecord, spec: JobSpec | None) -> list[Json]:
    kept = store.kept_inputs(desk.engine, job.job_id)
    named = () if spec is None else spec.input_hashes
    return [{"what": to_hex(content), "here": content in kept} for content in named]


def _contents(desk: Desk, job: JobRecord, drawn: tuple[int, ...]) -> list[Json]:
    try:
        program = program_of(desk, job) if drawn else None
    except (InvalidInputError, UnavailableError):
        program = None  # what the drawn units are computed from is not known before the inputs are here
    if program is None:
        return []
    kept = store.kept_checkpoints(desk.engine, job.job_id)
    wanted = checkpoints_to_upload(map(program.source, drawn), program.units + 1)
    return [{"what": content, "here": content in kept} for content in wanted]

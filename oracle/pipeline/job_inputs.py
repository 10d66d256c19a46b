"""Takes in the inputs of completed jobs, which judges compute units from."""

from oracle.pipeline.desk import Desk
from oracle.pipeline.job_desk import receipt_of, require_job, spec_of
from oracle.store import jobs as store
from swarm_chain.core.checkpoints import MAX_CHECKPOINT_BYTES, content_hash
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import JobState
from swarm_chain.core.units import Hash32, JobId

MAX_INPUTS_BYTES = 64_000_000  # of a job together: what a judge holds in memory beside the program


def take_input(desk: Desk, job_id: JobId, named: Hash32, content: bytes) -> bool:
    """Keeps an input of a job that is completed on chain and has its receipt here; whoever sends it, its hash says what it is.

    Returns:
        False if it was there.

    Raises:
        InvalidInputError: another hash, not named by the spec, too large, or the job is not completed.
        UnavailableError: the spec is not here yet.
    """
    job = require_job(desk, job_id)
    if job.state is not JobState.COMPLETED:
        raise InvalidInputError(
            f"job {job_id} is {job.state.name.lower()}", code="not_completed", fix="hand in inputs after completion"
        )
    receipt_of(desk, job)
    if content_hash(content) != named:
        raise InvalidInputError(f"these bytes do not have the hash {to_hex(named)}", code="wrong_input")
    if named not in spec_of(desk, job).input_hashes:
        raise InvalidInputError(f"job {job_id} names no input {to_hex(named)}", code="unknown_input")
    fits = len(content) <= MAX_CHECKPOINT_BYTES
    kept = store.save_input(desk.engine, job_id, named, content, MAX_INPUTS_BYTES) if fits else None
    if kept is None:
        raise InvalidInputError(
            f"an input may have {MAX_CHECKPOINT_BYTES} bytes, those of a job {MAX_INPUTS_BYTES} together",
            code="too_large",
            fix="split the data into inputs and jobs of that size",
        )
    return kept

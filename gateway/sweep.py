"""What a gateway forgets: contents of jobs long over, specs nobody posted, inputs no spec names."""

import json

from gateway.desk import Desk
from gateway.store import jobs as job_store
from gateway.store import nodes as node_store
from gateway.store import specs as spec_store
from swarm_chain.core.jobs import parse_job_spec
from swarm_chain.core.kinds import JobState
from swarm_chain.core.model import JobRecord
from swarm_chain.core.units import Hash32, Timestamp

SHELF_FOR = 24 * 3600  # s a spec or an input waits for its job
RESULTS_FOR = 7 * 24 * 3600  # s contents and log stay after the job was completed, or posted if it never was

OVER = frozenset({JobState.PAID, JobState.REFUNDED, JobState.CANCELLED})


def sweep(desk: Desk) -> None:
    """Forgets what nobody will ask for any more, by chain time; receipts stay."""
    sight = desk.sight()
    jobs = {job.job_id: job for job in sight.state.jobs}
    for job_id in {one.job_id for one in node_store.assignments(desk.database)}:
        if job_id in jobs and jobs[job_id].state is not JobState.POSTED:
            node_store.forget_assignments(desk.database, job_id)
    for job_id in job_store.jobs_with_contents(desk.database):
        if job_id in jobs and _is_old(jobs[job_id], sight.now):
            job_store.forget_contents(desk.database, job_id)
            desk.files.forget_job(job_id)
    _forget_specs(desk, {job.spec_hash for job in jobs.values() if not _is_old(job, sight.now)}, sight.now)


def _forget_specs(desk: Desk, needed: set[Hash32], now: Timestamp) -> None:
    for spec_hash, kept_at in spec_store.spec_times(desk.database).items():
        if spec_hash not in needed and kept_at + SHELF_FOR < now:
            spec_store.forget_spec(desk.database, spec_hash)
    named = {one for spec_hash in spec_store.spec_times(desk.database) for one in _inputs(desk, spec_hash)}
    for content, kept_at in spec_store.blob_times(desk.database).items():
        if content not in named and kept_at + SHELF_FOR < now:
            spec_store.forget_blob(desk.database, content)
            desk.files.blob(content).unlink(missing_ok=True)


def _inputs(desk: Desk, spec_hash: Hash32) -> tuple[Hash32, ...]:
    found = spec_store.find_spec(desk.database, spec_hash)
    return () if found is None else parse_job_spec(json.loads(found.document)).input_hashes


def _is_old(job: JobRecord, now: Timestamp) -> bool:
    return job.state in OVER and max(job.posted_at, job.completed_at) + RESULTS_FOR < now

"""Jobs on Ray: one task a job, retried by Ray when its worker dies, resumed from disk in either case."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog

from node.jobs.folder import JobFolder
from node.jobs.work import JobOrder, JobResult, brings_workers, run_job
from node.ports import FinishedJob
from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.jobs import JobSpec
from swarm_chain.core.units import Hash32, JobId

log = structlog.get_logger()

WORKER_RETRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerOptions:
    """Where jobs keep their files and what Ray reserves for one; the files must be reachable for the worker.

    `labels` select the Ray nodes a job's own workers may use; empty: any.
    """

    directory: Path
    cpus: int = 1
    labels: Mapping[str, str] = field(default_factory=dict)


class RayJobRunner:
    """JobRunner on the Ray cluster this process is connected to; tasks stay on this machine, beside their files.

    Args:
        options: directory and reservation.
    """

    def __init__(self, options: RunnerOptions) -> None:
        self._options = options
        self._refs: dict[JobId, Any] = {}

    def start(self, job_id: JobId, spec: JobSpec, inputs: Mapping[Hash32, bytes]) -> None:
        """Starts or resumes a job and returns at once; a job that runs already goes on."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        if job_id in self._refs:
            return
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        task = ray.remote(run_job).options(
            num_cpus=0 if brings_workers(spec) else self._options.cpus,
            max_retries=WORKER_RETRIES,
            scheduling_strategy=here,
            name=f"job-{job_id}",
        )
        folder = str(self._folder(job_id).path)
        order = JobOrder(
            document=spec.document(), folder=folder, inputs=dict(inputs), labels=dict(self._options.labels)
        )
        self._refs[job_id] = task.remote(order)

    def finished(self) -> tuple[FinishedJob, ...]:
        """Jobs that ended since the last call; one whose worker died too often is dropped, so that it can be started again."""
        import ray

        if not self._refs:
            return ()
        done, _ = ray.wait(list(self._refs.values()), num_returns=len(self._refs), timeout=0)
        ended = [job_id for job_id, ref in self._refs.items() if ref in done]
        results = ((job_id, _result(job_id, self._refs.pop(job_id))) for job_id in ended)
        return tuple(_finished(job_id, result) for job_id, result in results if result is not None)

    def active(self) -> frozenset[JobId]:
        """Jobs that run now."""
        return frozenset(self._refs)

    def content(self, job_id: JobId, index: int) -> bytes:
        """A content of a job.

        Raises:
            InconsistentError: it is not on disk any more.
        """
        content = self._folder(job_id).kept(index)
        if content is None:
            raise InconsistentError(
                f"content {index} of job {job_id} is gone",
                values={"path": str(self._folder(job_id).content_path(index))},
            )
        return content

    def stop(self, job_id: JobId, *, forget: bool) -> None:
        """Stops a job; with `forget` its files go too."""
        import ray

        ref = self._refs.pop(job_id, None)
        if ref is not None:
            ray.cancel(ref, force=True)
        if forget:
            shutil.rmtree(self._folder(job_id).path, ignore_errors=True)

    def close(self) -> None:
        """Stops everything; files stay."""
        for job_id in tuple(self._refs):
            self.stop(job_id, forget=False)

    def _folder(self, job_id: JobId) -> JobFolder:
        return JobFolder(path=self._options.directory / str(job_id))


def _result(job_id: JobId, ref: Any) -> JobResult | None:
    import ray

    try:
        result: JobResult = ray.get(ref)
    except ray.exceptions.RayError as error:
        log.error("job_worker_lost", job_id=job_id, reason=str(error).splitlines()[0])
        return None
    return result


def _finished(job_id: JobId, result: JobResult) -> FinishedJob:
    return FinishedJob(
        job_id=job_id,
        contents=tuple(map(Hash32, result.contents)),
        device_ms=result.device_ms,
        exit_code=result.exit_code,
        reason=result.reason,
    )

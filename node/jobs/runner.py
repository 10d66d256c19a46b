"""Jobs on Ray: one task a job, retried by Ray when its worker dies, resumed from disk in either case."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog

from node.jobs.worker import TrainingResult, checkpoint_path, run_training
from node.ports import FinishedJob
from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.units import Hash32, JobId
from swarm_chain.reference.spec import TrainSpec

log = structlog.get_logger()

WORKER_RETRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerOptions:
    """Where jobs keep their files and what Ray reserves for one; the files must be reachable for the worker."""

    directory: Path
    cpus: int = 1


class RayJobRunner:
    """JobRunner on the Ray cluster this process is connected to; tasks stay on this machine, beside their files.

    Args:
        options: directory and reservation.
    """

    def __init__(self, options: RunnerOptions) -> None:
        self._options = options
        self._refs: dict[JobId, Any] = {}

    def start(self, job_id: JobId, spec: TrainSpec) -> None:
        """Starts or resumes a job and returns at once; a job that runs already goes on."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        if job_id in self._refs:
            return
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        task = ray.remote(run_training).options(
            num_cpus=self._options.cpus,
            max_retries=WORKER_RETRIES,
            scheduling_strategy=here,
            name=f"job-{job_id}",
        )
        self._refs[job_id] = task.remote(spec.document(), str(self._folder(job_id)))

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

    def checkpoint(self, job_id: JobId, index: int) -> bytes:
        """Content of a checkpoint of a job.

        Raises:
            InconsistentError: it is not on disk any more.
        """
        path = checkpoint_path(self._folder(job_id), index)
        try:
            return path.read_bytes()
        except FileNotFoundError as error:
            raise InconsistentError(
                f"checkpoint {index} of job {job_id} is gone", values={"path": str(path)}
            ) from error

    def stop(self, job_id: JobId, *, forget: bool) -> None:
        """Stops a job; with `forget` its files go too."""
        import ray

        ref = self._refs.pop(job_id, None)
        if ref is not None:
            ray.cancel(ref, force=True)
        if forget:
            shutil.rmtree(self._folder(job_id), ignore_errors=True)

    def close(self) -> None:
        """Stops everything; files stay."""
        for job_id in tuple(self._refs):
            self.stop(job_id, forget=False)

    def _folder(self, job_id: JobId) -> Path:
        return self._options.directory / str(job_id)


def _result(job_id: JobId, ref: Any) -> TrainingResult | None:
    import ray

    try:
        result: TrainingResult = ray.get(ref)
    except ray.exceptions.RayError as error:
        log.error("job_worker_lost", job_id=job_id, reason=str(error).splitlines()[0])
        return None
    return result


def _finished(job_id: JobId, result: TrainingResult) -> FinishedJob:
    return FinishedJob(
        job_id=job_id,
        contents=tuple(map(Hash32, result.contents)),
        device_ms=result.device_ms,
        exit_code=result.exit_code,
        reason=result.reason,
    )

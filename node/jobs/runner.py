"""Jobs on Ray, each a process of its own: started again when that dies, resumed from disk in either case.

A job that computes by itself is a task, which may find a process that has its libraries loaded. One that brings workers is an
actor: Ray then knows whose reservations are left over when it dies.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog

from node.jobs.folder import JobFolder
from node.jobs.reservations import give_back_reservations
from node.jobs.work import JobOrder, JobProcess, JobResult, brings_workers, run_job
from node.ports import FinishedJob
from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.jobs import JobSpec
from swarm_chain.core.units import Hash32, JobId

log = structlog.get_logger()

PROCESS_RESTARTS = 3  # of a job, until it is dropped


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerOptions:
    """Where jobs keep their files and what Ray reserves for one; the files must be reachable for the worker.

    `labels` select the Ray nodes a job's own workers may use; empty: any.
    """

    directory: Path
    cpus: int = 1
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A job that runs: its order, what Ray is asked for, the actor if it is one, its result, and how often it may start again."""

    order: JobOrder
    cpus: int
    actor: Any | None
    result: Any
    restarts: int


class RayJobRunner:
    """JobRunner on the Ray cluster this process is connected to; actors stay on this machine, beside their files.

    Args:
        options: directory and reservation.
    """

    def __init__(self, options: RunnerOptions) -> None:
        self._options = options
        self._running: dict[JobId, Running] = {}
        self._started_any = False

    def start(self, job_id: JobId, spec: JobSpec, inputs: Mapping[Hash32, bytes]) -> None:
        """Starts or resumes a job and returns at once; a job that runs already goes on."""
        if job_id in self._running:
            return
        folder = str(self._folder(job_id).path.absolute())  # its process stands elsewhere
        order = JobOrder(
            document=spec.document(), folder=folder, inputs=dict(inputs), labels=dict(self._options.labels)
        )
        cpus = 0 if brings_workers(spec) else self._options.cpus
        self._running[job_id] = _started(job_id, order, cpus, PROCESS_RESTARTS)
        self._started_any = True

    def finished(self) -> tuple[FinishedJob, ...]:
        """Jobs that ended since the last call; one whose process died too often is dropped, so that it can be started again."""
        import ray

        if self._started_any:
            give_back_reservations()
        if not self._running:
            return ()
        refs = [running.result for running in self._running.values()]
        done, _ = ray.wait(refs, num_returns=len(refs), timeout=0)
        ended = [job_id for job_id, running in self._running.items() if running.result in done]
        results = ((job_id, self._end(job_id)) for job_id in ended)
        return tuple(_finished(job_id, result) for job_id, result in results if result is not None)

    def active(self) -> frozenset[JobId]:
        """Jobs that run now."""
        return frozenset(self._running)

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

        running = self._running.pop(job_id, None)
        if running is not None and running.actor is not None:
            ray.kill(running.actor)
        elif running is not None:
            ray.cancel(running.result, force=True)
        if forget:
            shutil.rmtree(self._folder(job_id).path, ignore_errors=True)

    def close(self) -> None:
        """Stops everything; files stay."""
        for job_id in tuple(self._running):
            self.stop(job_id, forget=False)

    def _end(self, job_id: JobId) -> JobResult | None:
        """The result of a job that runs no more; None: its process died, and it runs again unless that was too often."""
        import ray

        running = self._running.pop(job_id)
        try:
            result: JobResult = ray.get(running.result)
        except ray.exceptions.RayError as error:
            log.error("job_worker_lost", job_id=job_id, reason=str(error).splitlines()[-1], restarts=running.restarts)
            if running.restarts:
                self._running[job_id] = _started(job_id, running.order, running.cpus, running.restarts - 1)
            return None
        return result

    def _folder(self, job_id: JobId) -> JobFolder:
        return JobFolder(path=self._options.directory / str(job_id))


def _started(job_id: JobId, order: JobOrder, cpus: int, restarts: int) -> Running:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    name, placed, actor = f"job-{job_id}", {"num_cpus": cpus, "scheduling_strategy": here}, None
    if cpus:
        result: Any = ray.remote(run_job).options(**placed, name=name, max_retries=0).remote(order)
    else:
        process: Any = ray.remote(JobProcess)
        actor = process.options(**placed).remote()
        result = actor.run.options(name=name).remote(order)
    return Running(order=order, cpus=cpus, actor=actor, result=result, restarts=restarts)


def _finished(job_id: JobId, result: JobResult) -> FinishedJob:
    return FinishedJob(
        job_id=job_id,
        contents=tuple(map(Hash32, result.contents)),
        device_ms=result.device_ms,
        exit_code=result.exit_code,
        reason=result.reason,
    )

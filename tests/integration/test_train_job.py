"""swarm-train/2 as a job on Ray Train: the bytes of one process, also when workers or the job's task are killed."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
import ray

from node.jobs.folder import JobFolder
from node.jobs.runner import RayJobRunner, RunnerOptions
from node.ports import FinishedJob
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import JobId
from swarm_chain.reference.parallel import FP32, ParallelRun
from tests.rank_world import SPEC, RankCase, job_of, replayed

JOB = JobId(9)
WAIT_S = 300
# Long enough that whoever kills a worker after the second of its contents meets it at work.
RUN = ParallelRun(train=replace(SPEC, steps=120, segment_steps=10), workers=2, precision=FP32)

pytestmark = pytest.mark.usefixtures("ray_cluster")


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RayJobRunner]:
    monkeypatch.chdir(tmp_path)
    made = RayJobRunner(RunnerOptions(directory=Path()))  # an agent's folder may be given as it is seen from here
    yield made
    made.close()


@pytest.mark.long
def test_job_whose_worker_is_killed_goes_on_where_it_was(runner: RayJobRunner, tmp_path: Path) -> None:
    folder = JobFolder(path=tmp_path / str(JOB))
    runner.start(JOB, job_of(RankCase(run=RUN, strategy="ddp")), {})
    _wait_until(lambda: folder.content_path(2).exists())
    os.kill(_processes("RayTrainWorker")[-1].pid, signal.SIGKILL)
    kept = folder.content_path(2).stat().st_mtime_ns

    finished = _wait_for_job(runner)

    assert [content.hex() for content in finished.contents] == replayed(RUN)
    assert folder.content_path(2).stat().st_mtime_ns == kept, "what is kept is not computed again"
    assert finished.exit_code == 0
    assert finished.device_ms > 0


@pytest.mark.long
def test_job_whose_process_is_killed_starts_again_and_leaves_no_reservation(
    runner: RayJobRunner, tmp_path: Path
) -> None:
    folder = JobFolder(path=tmp_path / str(JOB))
    runner.start(JOB, job_of(RankCase(run=RUN, strategy="fsdp")), {})
    _wait_until(lambda: folder.content_path(2).exists())
    os.kill(_processes(f"job-{JOB}")[0].pid, signal.SIGKILL)

    assert [content.hex() for content in _wait_for_job(runner).contents] == replayed(RUN)
    _wait_until(lambda: not _reserved(runner))
    assert not _processes("PlacementGroupCleaner")


@pytest.mark.long
def test_job_that_is_stopped_leaves_no_reservation(runner: RayJobRunner, tmp_path: Path) -> None:
    runner.start(JOB, job_of(RankCase(run=RUN, strategy="ddp")), {})
    _wait_until(JobFolder(path=tmp_path / str(JOB)).content_path(1).exists)
    assert _reserved(runner)
    runner.stop(JOB, forget=True)
    _wait_until(lambda: not _reserved(runner))


@pytest.mark.long
def test_run_that_diverges_ends_as_the_customers_fault(runner: RayJobRunner) -> None:
    wild = replace(
        RUN, train=replace(RUN.train, model="mlp", seed=3, learning_rate_micro=1_000_000, layers=16, width=128)
    )
    with pytest.raises(InvalidInputError, match="diverged"):
        replayed(wild)
    runner.start(JOB, job_of(RankCase(run=wild, strategy="ddp")), {})

    finished = _wait_for_job(runner)

    assert finished.exit_code == 1
    assert "diverged" in finished.reason


def _wait_for_job(runner: RayJobRunner) -> FinishedJob:
    found: list[FinishedJob] = []

    def has_finished() -> bool:
        found.extend(runner.finished())
        return bool(found)

    _wait_until(has_finished)
    return found[0]


def _wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def _reserved(runner: RayJobRunner) -> list[Any]:
    """Placement groups that stand after the runner has looked."""
    runner.finished()
    return [group for group in ray.util.placement_group_table().values() if group["state"] != "REMOVED"]


def _processes(title: str) -> list[psutil.Process]:
    """Processes of this process' cluster that Ray titles so."""
    return [child for child in psutil.Process().children(recursive=True) if title in " ".join(child.cmdline())]

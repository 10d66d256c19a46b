"""Training jobs on a real Ray: resumed after a worker or a whole agent is killed, replayed segment by segment."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from node.jobs.folder import JobFolder
from node.jobs.runner import RayJobRunner, RunnerOptions
from node.jobs.work import JobOrder, run_job
from node.ports import FinishedJob
from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.jobs import parse_job_spec
from swarm_chain.core.units import Hash32, JobId
from swarm_chain.reference.checkpoint import dump_checkpoint, parse_checkpoint
from swarm_chain.reference.spec import TrainSpec
from swarm_chain.reference.train import replays

JOB = JobId(4)
SPEC = TrainSpec(
    model="transformer",
    seed=11,
    steps=240,
    segment_steps=20,
    batch=16,
    context=16,
    vocabulary=32,
    width=64,
    heads=2,
    layers=2,
    learning_rate_micro=2000,
)
JOB_SPEC = parse_job_spec(
    {
        "kind": "train",
        "program": "swarm-train/1",
        "work": {name: value for name, value in SPEC.document().items() if name not in {"kind", "program"}},
    }
)
WAIT_S = 120

pytestmark = pytest.mark.usefixtures("ray_cluster")


def order_in(folder: Path) -> JobOrder:
    """The job in a folder."""
    return JobOrder(document=JOB_SPEC.document(), folder=str(folder))


def path_of(folder: Path, index: int) -> Path:
    """Where a content lies."""
    return JobFolder(path=folder).content_path(index)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, ...]:
    """Content hashes of the same job run in one go, without Ray."""
    return run_job(order_in(tmp_path_factory.mktemp("undisturbed"))).contents


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[RayJobRunner]:
    made = RayJobRunner(RunnerOptions(directory=tmp_path))
    yield made
    made.close()


def test_job_on_ray_gives_the_hashes_of_the_same_job_without_it(
    runner: RayJobRunner, undisturbed: tuple[bytes, ...]
) -> None:
    runner.start(JOB, JOB_SPEC, {})
    finished = _wait_for_job(runner)
    assert finished.exit_code == 0
    assert finished.contents == undisturbed
    assert finished.device_ms > 0


def test_job_whose_worker_is_killed_goes_on_where_it_was(
    runner: RayJobRunner, undisturbed: tuple[bytes, ...], tmp_path: Path
) -> None:
    runner.start(JOB, JOB_SPEC, {})
    folder = tmp_path / str(JOB)
    _wait_until(lambda: JobFolder(path=folder).kept(2) is not None)
    os.kill(_worker_of(JOB), signal.SIGKILL)
    kept = path_of(folder, 2).stat().st_mtime_ns

    finished = _wait_for_job(runner)
    assert finished.contents == undisturbed
    assert path_of(folder, 2).stat().st_mtime_ns == kept  # not computed again


def test_job_of_a_killed_agent_is_resumed_by_the_next_one(
    runner: RayJobRunner, undisturbed: tuple[bytes, ...], tmp_path: Path
) -> None:
    program = (
        "from node.jobs.work import JobOrder, run_job; "
        f"run_job(JobOrder(document={JOB_SPEC.document()!r}, folder={str(tmp_path / str(JOB))!r}))"
    )
    process = subprocess.Popen([sys.executable, "-c", program])
    _wait_until(lambda: path_of(tmp_path / str(JOB), 2).exists())
    process.kill()
    process.wait()
    assert not path_of(tmp_path / str(JOB), SPEC.segments).exists()

    runner.start(JOB, JOB_SPEC, {})
    assert _wait_for_job(runner).contents == undisturbed


def test_every_segment_replays_alone_and_a_skipped_one_does_not(
    runner: RayJobRunner, undisturbed: tuple[bytes, ...]
) -> None:
    runner.start(JOB, JOB_SPEC, {})
    _wait_for_job(runner)
    for index in range(SPEC.segments):
        assert replays(SPEC, runner.content(JOB, index), index, Hash32(undisturbed[index + 1]))

    start = runner.content(JOB, 3)
    previous = content_hash(start)
    lazy = dump_checkpoint(replace(parse_checkpoint(SPEC, start), index=4, previous=previous))
    assert not replays(SPEC, start, 3, content_hash(lazy))


def test_checkpoint_spoiled_on_disk_is_computed_again(
    runner: RayJobRunner, undisturbed: tuple[bytes, ...], tmp_path: Path
) -> None:
    runner.start(JOB, JOB_SPEC, {})
    _wait_for_job(runner)
    spoiled = path_of(tmp_path / str(JOB), 5)
    spoiled.write_bytes(spoiled.read_bytes()[:-4])
    runner.start(JOB, JOB_SPEC, {})
    assert _wait_for_job(runner).contents == undisturbed
    assert content_hash(spoiled.read_bytes()) == undisturbed[5]


def test_stopped_job_leaves_its_files_only_if_asked(runner: RayJobRunner, tmp_path: Path) -> None:
    runner.start(JOB, JOB_SPEC, {})
    _wait_until(lambda: path_of(tmp_path / str(JOB), 1).exists())
    runner.stop(JOB, forget=False)
    assert path_of(tmp_path / str(JOB), 1).exists()
    assert runner.finished() == ()
    runner.stop(JOB, forget=True)
    assert not path_of(tmp_path / str(JOB), 1).exists()


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


def _worker_of(job_id: JobId) -> int:
    """The Ray worker of this process's cluster that runs a job; Ray titles its workers by their task."""
    children = psutil.Process().children(recursive=True)
    (worker,) = (child for child in children if f"job-{job_id}" in " ".join(child.cmdline()))
    return worker.pid

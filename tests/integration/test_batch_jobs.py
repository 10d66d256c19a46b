"""Batch jobs on a real Ray Data: the contents of units computed alone, whoever is killed on the way; judged elsewhere."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from node.jobs.folder import JobFolder
from node.jobs.runner import RayJobRunner, RunnerOptions
from node.jobs.work import EXIT_FAILED, JobOrder, run_job
from node.ports import FinishedJob
from oracle.pipeline.replay_process import ReplayProcess, UnitAsk
from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.encoding import canonical_json
from swarm_chain.core.units import JobId
from tests.batch_world import BLOB, BLOBS, WORK, batch_spec, contents_of, input_spec, program_of

JOB = JobId(6)
SIZES = {"width": 64, "layers": 2, "vocabulary": 256}
LARGE = WORK | {
    "rows": 96,
    "model": {"seed": 9, "sizes": SIZES, "tokens": 200},
}  # slow enough to be killed in the middle
WAIT_S = 120

pytestmark = pytest.mark.usefixtures("ray_cluster")


@pytest.fixture(scope="module")
def undisturbed() -> tuple[bytes, ...]:
    """Content hashes of the large job, unit by unit, without Ray."""
    return tuple(map(content_hash, contents_of(program_of(batch_spec(LARGE)))))


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[RayJobRunner]:
    made = RayJobRunner(RunnerOptions(directory=tmp_path))
    yield made
    made.close()


def test_input_when_run_on_ray_data_then_the_contents_of_units_one_by_one_and_a_judge_s(tmp_path: Path) -> None:
    spec = input_spec(resources={"workers": 2, "memory_mb": 64})
    result = run_job(JobOrder(document=spec.document(), folder=str(tmp_path), inputs=BLOBS))
    contents = contents_of(program_of(spec))
    judge = ReplayProcess(timeout_for=60)
    ask = UnitAsk(spec=canonical_json(spec.document()), unit=5, source=contents[0], inputs=BLOBS)

    assert (result.exit_code, result.contents) == (0, tuple(map(content_hash, contents)))
    assert judge.compute(ask) == result.contents[6]
    judge.close()


@pytest.mark.long
def test_job_when_worker_and_then_driver_are_killed_then_it_goes_on_where_it_was(
    runner: RayJobRunner, undisturbed: tuple[bytes, ...], tmp_path: Path
) -> None:
    folder = JobFolder(path=tmp_path / str(JOB))
    runner.start(JOB, batch_spec(LARGE, resources={"workers": 2, "memory_mb": 64}), {})
    _wait_until(lambda: _kept(folder) >= 2)
    os.kill(_process("MapWorker"), signal.SIGKILL)
    before = _kept(folder)
    _wait_until(lambda: _kept(folder) >= before + 2)
    first = next(path for path in sorted((folder.path / "contents").iterdir()) if path.name != "000000")
    made = first.stat().st_mtime_ns
    os.kill(_process(f"job-{JOB}"), signal.SIGKILL)
    finished = _wait_for_job(runner)

    assert (finished.exit_code, finished.contents) == (0, undisturbed)
    assert first.stat().st_mtime_ns == made  # not computed again


def test_row_when_it_is_none_then_the_customer_s_fault_and_no_actor_is_left(tmp_path: Path) -> None:
    spoiled = b"".join([b'["no token"]\n', *BLOB.splitlines(keepends=True)[1:]])
    spec = input_spec(resources={"memory_mb": 64})
    order = JobOrder(document=spec.document(), folder=str(tmp_path), inputs={spec.input_hashes[0]: spoiled})
    result = run_job(order)

    assert (result.exit_code, result.contents) == (EXIT_FAILED, ())
    assert "no prompt" in result.reason
    _wait_until(lambda: not _processes("MapWorker"))


def _kept(folder: JobFolder) -> int:
    return sum(any(hashed) for hashed in folder.hashes(17)[1:])


def _processes(title: str) -> list[int]:
    """Workers of this process's cluster by what they run; Ray titles them so."""
    children = psutil.Process().children(recursive=True)
    return [child.pid for child in children if child.is_running() and title in _title(child)]


def _title(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def _process(title: str) -> int:
    _wait_until(lambda: bool(_processes(title)))
    return _processes(title)[0]


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

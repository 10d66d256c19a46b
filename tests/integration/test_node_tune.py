"""A search on a real Ray: trials side by side, replayed by a judge's own process, resumed after kills; variants as tasks."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from node.jobs.folder import JobFolder
from node.jobs.kinds.tune_search import StudyLog
from node.jobs.work import JobOrder, JobResult, run_job
from oracle.pipeline.replay_process import ReplayProcess, UnitAsk
from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.encoding import canonical_json
from swarm_chain.core.jobs import JobSpec
from tests.optimise_world import contents_of as variants_of
from tests.optimise_world import optimise_program, optimise_spec
from tests.tune_world import contents_of, searched, tune_program, tune_spec

pytestmark = pytest.mark.usefixtures("ray_cluster")

SPEC, PROGRAM = tune_spec(trials=6), tune_program(trials=6)
CONTENTS = contents_of(PROGRAM, searched(PROGRAM))
HASHES = [bytes(content_hash(content)) for content in CONTENTS]


def run_in(folder: Path, spec: JobSpec = SPEC) -> JobResult:
    return run_job(JobOrder(document=spec.document(), folder=str(folder)))


@pytest.fixture(scope="module")
def judge() -> Iterator[ReplayProcess]:
    made = ReplayProcess(timeout_for=120)
    yield made
    made.close()


def test_search_on_ray_when_run_then_each_trial_replays_in_another_process(
    tmp_path: Path, judge: ReplayProcess
) -> None:
    result = run_in(tmp_path)
    folder = JobFolder(path=tmp_path)
    study = folder.kept(PROGRAM.units) or b""

    assert (result.exit_code, result.reason) == (0, "")
    assert any(trial.stopped for trial in StudyLog(PROGRAM, folder).in_order())
    spec = canonical_json(SPEC.document())
    judged = [judge.compute(UnitAsk(spec=spec, unit=unit, source=study)) for unit in range(PROGRAM.units)]
    assert judged == list(result.contents[1:]) == HASHES[1:]
    assert result.device_ms > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["contents", "device_ms", "hashes", "log"]


@pytest.mark.long
def test_search_when_more_trials_are_proposed_together_than_run_side_by_side_then_as_anybody_computes(
    tmp_path: Path,
) -> None:
    program, spec = tune_program(workers=2, generation=4), tune_spec(workers=2, generation=4)
    expected = tuple(bytes(content_hash(one)) for one in contents_of(program, searched(program)))

    assert run_in(tmp_path, spec).contents == expected


@pytest.mark.long
def test_search_whose_driver_was_killed_when_resumed_then_runs_only_what_is_lacking(tmp_path: Path) -> None:
    folder, kept = JobFolder(path=tmp_path), (0, 1, 2, 4)  # two generations began, of which the second has one trial
    for index in kept:
        folder.keep(index, CONTENTS[index])
    before = {index: folder.content_path(index).stat().st_mtime_ns for index in kept}

    result = run_in(tmp_path)

    assert result.contents == tuple(HASHES)
    assert {index: folder.content_path(index).stat().st_mtime_ns for index in kept} == before
    said = (tmp_path / "log").read_text().splitlines()
    assert sorted(line.partition(":")[0] for line in said) == [f"trial {number}" for number in (2, 4, 5)]


def test_search_that_is_done_when_started_again_then_runs_no_trial(tmp_path: Path) -> None:
    folder = JobFolder(path=tmp_path)
    for index, content in enumerate(CONTENTS[:-1]):
        folder.keep(index, content)

    assert run_in(tmp_path).contents == tuple(HASHES)
    assert not (tmp_path / "log").exists()


@pytest.mark.long
def test_trial_whose_actor_is_killed_when_it_runs_then_begins_again(tmp_path: Path) -> None:
    spec = tune_spec(trials=1, workers=1, steps_per_rung=150, rungs=6)
    program = tune_program(trials=1, workers=1, steps_per_rung=150, rungs=6)
    killer = subprocess.Popen([sys.executable, "-c", KILLER, str(os.getpid())])
    try:
        result = run_in(tmp_path, spec)
    finally:
        assert killer.wait(60) == 0, "no actor was there to be killed"

    assert result.contents == tuple(bytes(content_hash(one)) for one in contents_of(program, searched(program)))


# Kills the first Ray worker below a process that runs a trial: Ray titles its workers by what they run.
KILLER = """
import os, sys, time
import psutil
until = time.monotonic() + 60
while time.monotonic() < until:
    for child in psutil.Process(int(sys.argv[1])).children(recursive=True):
        try:
            line = " ".join(child.cmdline())
        except psutil.Error:
            continue
        if "ray::" in line and "Func.train" in line and child.pid != os.getpid():
            child.kill()
            sys.exit(0)
    time.sleep(0.005)
sys.exit(1)
"""


@pytest.mark.long
def test_decisions_when_one_trial_runs_at_a_time_then_those_of_rays_own_scheduler() -> None:
    from ray.tune.experiment import Trial as RayTrial
    from ray.tune.schedulers import ASHAScheduler

    program = tune_program(workers=1, trials=12, startup=12)
    trials = searched(program)
    controller: Any = None  # it asks none
    asha = ASHAScheduler(metric="value", mode="min", max_t=4, grace_period=1, reduction_factor=2)
    for trial in trials:
        ray_trial = RayTrial("none", stub=True)
        asha.on_trial_add(controller, ray_trial)
        decisions = [
            asha.on_trial_result(controller, ray_trial, {"training_iteration": rung, "value": value})
            for rung, value in enumerate(trial.values, 1)
        ]
        assert decisions == ["CONTINUE"] * (len(trial.values) - 1) + ["STOP"]
    assert any(trial.stopped for trial in trials)


def test_variants_on_ray_when_made_then_those_of_any_judge_and_latencies_beside(tmp_path: Path) -> None:
    result = run_in(tmp_path, optimise_spec())
    expected = [bytes(content_hash(content)) for content in variants_of(optimise_program())]
    report = json.loads((tmp_path / "report.json").read_bytes())["latency"]

    assert list(result.contents) == expected
    assert sorted(report) == ["3", "4", "5"]
    assert all(figures["beforeUs"] > 0 and figures["afterUs"] > 0 for figures in report.values())


@pytest.mark.long
def test_variants_when_some_are_there_then_only_the_others_are_made(tmp_path: Path) -> None:
    folder, contents = JobFolder(path=tmp_path), variants_of(optimise_program())
    for index in (0, 1, 2, 4):
        folder.keep(index, contents[index])

    assert run_in(tmp_path, optimise_spec()).contents == tuple(bytes(content_hash(content)) for content in contents)
    assert sorted(json.loads((tmp_path / "report.json").read_bytes())["latency"]) == ["3", "5"]

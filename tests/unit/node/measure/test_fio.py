"""fio's report becomes integers or an error; nothing of a run stays behind."""

import copy
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from node.measure.fio import PATTERNS, FioFigure, FioPlan, parse_fio, run_fio
from swarm_chain.core.errors import InvalidInputError, UnavailableError

PRINTED = (Path(__file__).parent / "fio-3.33.json").read_text(encoding="utf-8")
# Read off the file by eye: total_ios · 1000 / runtime, bw_bytes and three percentiles of clat_ns.
FIRST = FioFigure(
    pattern="randread", queue_depth=1, iops=10960, bytes_per_second=44892160, p50_ns=41216, p95_ns=95744, p99_ns=144384
)
LAST = FioFigure(
    pattern="randwrite",
    queue_depth=32,
    iops=66241,
    bytes_per_second=271326241,
    p50_ns=366592,
    p95_ns=847872,
    p99_ns=3489792,
)
SMALL = FioPlan(scratch_bytes=2**22, job_for=1)


def program(folder: Path, script: str) -> str:
    """A folder for PATH in which `fio` is this script."""
    (folder / "fio").write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / "fio").chmod(0o700)
    return str(folder)


def changed(change: Callable[[Any], object]) -> str:
    """fio's report with something changed."""
    document = json.loads(PRINTED)
    change(document)
    return json.dumps(document)


def test_report_of_fio_becomes_integers() -> None:
    report = parse_fio(PRINTED)

    assert report.version == "fio-3.33"
    assert tuple((figure.pattern, figure.queue_depth) for figure in report.figures) == PATTERNS
    assert report.figures[0] == FIRST
    assert report.figures[3] == LAST
    for figure in report.figures:
        assert 0 < figure.p50_ns <= figure.p95_ns <= figure.p99_ns


def test_rates_are_rounded_down() -> None:
    text = changed(lambda d: d["jobs"][0]["read"].update(total_ios=1999, runtime=2000))

    assert parse_fio(text).figures[0].iops == 999


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("fio version"),
        lambda d: d.update({"fio version": 3}),
        lambda d: d.pop("jobs"),
        lambda d: d.update(jobs=None),
        lambda d: d["jobs"].pop(),
        lambda d: d["jobs"].append(copy.deepcopy(d["jobs"][0])),
        lambda d: d["jobs"][0].update(jobname="another"),
        lambda d: d["jobs"][0].update(error=5),
        lambda d: d["jobs"][0].pop("error"),
        lambda d: d["jobs"][1].update(read=[]),
        lambda d: d["jobs"][1]["read"].update(total_ios=0),
        lambda d: d["jobs"][1]["read"].update(runtime=0),
        lambda d: d["jobs"][1]["read"].update(total_ios=-1),
        lambda d: d["jobs"][1]["read"].update(total_ios=1.5),
        lambda d: d["jobs"][1]["read"].update(total_ios=True),
        lambda d: d["jobs"][1]["read"].update(total_ios="9"),
        lambda d: d["jobs"][1]["read"].update(total_ios=2**63),
        lambda d: d["jobs"][2]["write"].pop("bw_bytes"),
        lambda d: d["jobs"][2]["write"]["clat_ns"].pop("percentile"),
        lambda d: d["jobs"][3]["write"]["clat_ns"]["percentile"].update({"99.000000": None}),
    ],
)
def test_report_that_is_not_of_this_run_is_refused(change: Callable[[Any], object]) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_fio(changed(change))

    assert caught.value.code == "bad_fio_output"


@pytest.mark.parametrize("text", ["", "fio: no such option", "[]", "null", "3", '{"jobs": [3]}', "NaN"])
def test_text_that_is_no_report_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_fio(text)

    assert caught.value.code == "bad_fio_output"


def test_absent_fio_is_said_with_its_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(UnavailableError) as caught:
        run_fio(tmp_path, SMALL)

    assert (caught.value.code, caught.value.fix) == ("no_fio", "install it: apt install fio")


@pytest.mark.parametrize(
    ("script", "reason"), [("echo cannot start >&2; exit 1", "cannot start"), ("kill -9 $$", "gave no reason")]
)
def test_fio_that_fails_or_is_killed_leaves_no_scratch_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    programs, data = tmp_path / "programs", tmp_path / "data"
    programs.mkdir()
    data.mkdir()
    monkeypatch.setenv("PATH", program(programs, script))

    with pytest.raises(UnavailableError, match=reason) as caught:
        run_fio(data, SMALL)

    assert caught.value.code == "fio_failed"
    assert list(data.iterdir()) == []


def test_fio_is_given_a_full_scratch_file_that_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs, data = tmp_path / "programs", tmp_path / "data"
    programs.mkdir()
    data.mkdir()
    look = "for a; do case $a in --filename=*) file=${a#*=};; esac; done"
    told = f'echo "size $(stat -Lc %s $file) names $(ls -A {data} | wc -l)" >&2; exit 1'
    monkeypatch.setenv("PATH", f"{program(programs, f'{look}; {told}')}:{os.environ['PATH']}")

    with pytest.raises(UnavailableError, match=f"size {SMALL.scratch_bytes} names 0$"):
        run_fio(data, SMALL)


def test_disk_without_room_for_the_scratch_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", program(tmp_path, "exit 1"))
    if shutil.disk_usage(tmp_path).free >= 2**37:
        pytest.skip("this disk has room for every plan")

    with pytest.raises(UnavailableError) as caught:
        run_fio(tmp_path, FioPlan(scratch_bytes=2**36))

    assert caught.value.code == "disk_full"


@pytest.mark.parametrize("wrong", [{"scratch_bytes": 0}, {"scratch_bytes": 2**20 + 1}, {"job_for": 0}, {"job_for": 61}])
def test_plan_out_of_bounds_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InvalidInputError):
        FioPlan(**wrong)


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_real_fio_measures_and_leaves_nothing(tmp_path: Path) -> None:
    report = run_fio(tmp_path, SMALL)

    assert all(figure.iops > 0 for figure in report.figures)
    assert list(tmp_path.iterdir()) == []

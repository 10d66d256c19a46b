"""Figures of the node's data path by fio: 4 KiB random reads and writes, one at a time and 32 at once.

    run_fio: nameless scratch file --fio, four jobs one after the other--> JSON --parse_fio--> integers

A node reports them about itself, so they raise no reward; what audits measure does. The scratch file has no name: it is
gone with the last process that holds it, however that ends.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from swarm_chain.core.errors import InvalidInputError, UnavailableError

FIO_BLOCK_BYTES = 4096
PATTERNS = (("randread", 1), ("randread", 32), ("randwrite", 1), ("randwrite", 32))
_SCRATCH_STEP = 2**20
_START_FOR = 30  # seconds fio may take beside the jobs' own time
_PERCENTILES = {"p50_ns": "50.000000", "p95_ns": "95.000000", "p99_ns": "99.000000"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FioPlan:
    """Size of the scratch file, whole MiB in bytes, and seconds each of the four jobs runs."""

    scratch_bytes: int = 2**30
    job_for: int = 10

    def __post_init__(self) -> None:
        whole = self.scratch_bytes % _SCRATCH_STEP == 0
        if not whole or not _SCRATCH_STEP <= self.scratch_bytes <= 2**36 or not 1 <= self.job_for <= 60:
            raise InvalidInputError(
                "no such fio run", fix="use whole MiB up to 64 GiB of scratch and 1 to 60 s a job", code="bad_fio_plan"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class FioFigure:
    """One job: operations and bytes a second rounded down, completion latency in ns at three percentiles."""

    pattern: str
    queue_depth: int
    iops: int
    bytes_per_second: int
    p50_ns: int
    p95_ns: int
    p99_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FioReport:
    """What one run gave: fio's own name of its version, and one figure per entry of PATTERNS, in their order."""

    version: str
    figures: tuple[FioFigure, ...]


def run_fio(folder: Path, plan: FioPlan) -> FioReport:
    """Measure the disk a folder lies on.

    Args:
        folder: on the data path to measure; it stays empty, the scratch file has no name.
        plan: size and time; the run takes about 4·job_for seconds.

    Raises:
        UnavailableError: fio is not installed (no_fio), the disk lacks room (disk_full), or fio failed (fio_failed).
        InvalidInputError: fio printed something else than its JSON (bad_fio_output).
    """
    program = shutil.which("fio")
    if program is None:
        raise UnavailableError(
            "fio is not installed", fix="install it: apt install fio", code="no_fio", retry_after=3600
        )
    if shutil.disk_usage(folder).free < 2 * plan.scratch_bytes:
        raise UnavailableError(
            f"the disk of {folder} lacks room for {plan.scratch_bytes} bytes twice over",
            fix="free some space, or measure with a smaller scratch file",
            code="disk_full",
        )
    with tempfile.TemporaryFile(dir=folder) as scratch:
        _fill(scratch, plan.scratch_bytes)
        return parse_fio(_run(program, scratch.fileno(), plan))


def parse_fio(text: str) -> FioReport:
    """Read fio's JSON strictly.

    Args:
        text: what `fio --output-format=json` printed for the jobs of PATTERNS, named `<pattern>-<depth>`.

    Raises:
        InvalidInputError: no JSON, a job is missing, failed or did nothing, or a number is none (bad_fio_output).

    Source: fio's manual, section "JSON output"; times of the clat_ns object are nanoseconds.
    """
    try:
        document = json.loads(text)
        jobs = {job["jobname"]: job for job in document["jobs"]}
        figures = tuple(_figure(jobs[f"{pattern}-{depth}"], pattern, depth) for pattern, depth in PATTERNS)
        version = document["fio version"]
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise _bad(f"{type(error).__name__} {error}") from error
    if len(document["jobs"]) != len(PATTERNS) or not isinstance(version, str):
        raise _bad("other jobs, or no version")
    return FioReport(version=version[:64], figures=figures)


def _fill(scratch: IO[bytes], size: int) -> None:
    # Written through with noise: reads of a hole, or of what a disk compresses, would measure nothing.
    for _ in range(size // _SCRATCH_STEP):
        scratch.write(os.urandom(_SCRATCH_STEP))
    scratch.flush()
    os.fsync(scratch.fileno())


def _run(program: str, scratch: int, plan: FioPlan) -> str:
    try:
        done = subprocess.run(
            [program, *_arguments(scratch, plan)],
            capture_output=True,
            text=True,
            pass_fds=(scratch,),
            timeout=len(PATTERNS) * plan.job_for + _START_FOR,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _failed(str(error)) from error
    if done.returncode:
        raise _failed(done.stderr or done.stdout)
    return done.stdout


def _arguments(scratch: int, plan: FioPlan) -> list[str]:
    shared = {
        "output-format": "json",
        "filename": f"/proc/self/fd/{scratch}",
        "filesize": str(plan.scratch_bytes),
        "bs": str(FIO_BLOCK_BYTES),
        "ioengine": "libaio",  # asynchronous, or a queue depth of 32 would be one of 1
        "direct": "1",
        "runtime": str(plan.job_for),
        "randrepeat": "0",
    }
    flags = ["--thread", "--time_based", *(f"--{name}={value}" for name, value in shared.items())]
    for pattern, depth in PATTERNS:  # threads, so that ending fio ends all of it; stonewall: one job after the other
        flags += [f"--name={pattern}-{depth}", "--stonewall", f"--rw={pattern}", f"--iodepth={depth}"]
    return flags


def _figure(job: Mapping[str, Any], pattern: str, depth: int) -> FioFigure:
    if _whole(job, "error"):
        raise _bad(f"{pattern} at depth {depth} ended with error {job['error']}")
    done = job["read" if pattern == "randread" else "write"]
    operations, milliseconds = _whole(done, "total_ios"), _whole(done, "runtime")
    if not operations or not milliseconds:
        raise _bad(f"{pattern} at depth {depth} did nothing")
    times = done["clat_ns"]["percentile"]
    latency = {name: _whole(times, percentile) for name, percentile in _PERCENTILES.items()}
    return FioFigure(
        pattern=pattern,
        queue_depth=depth,
        iops=operations * 1000 // milliseconds,
        bytes_per_second=_whole(done, "bw_bytes"),
        **latency,
    )


def _whole(values: Mapping[str, Any], name: str) -> int:
    value = values[name]
    if type(value) is not int or not 0 <= value < 2**63:
        raise _bad(f"{name} is {str(value)[:40]!r}")
    return value


def _bad(what: str) -> InvalidInputError:
    return InvalidInputError(
        f"fio printed no report of this run: {what[:200]}", fix="use fio 3.x without a job file", code="bad_fio_output"
    )


def _failed(why: str) -> UnavailableError:
    last = (why.strip().splitlines() or ["it gave no reason"])[-1]
    return UnavailableError(
        f"fio failed: {last[:200]}", fix="run `fio` by hand in the node's folder", code="fio_failed", retry_after=3600
    )

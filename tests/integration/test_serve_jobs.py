"""Serving jobs on a real Ray Serve, asked over loopback: the log replays, a bad version is taken back, nothing is left."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest

from node.jobs.folder import JobFolder
from node.jobs.runner import RayJobRunner, RunnerOptions
from node.jobs.work import EXIT_FAILED, JobOrder, JobResult, run_job
from oracle.pipeline.replay_process import ReplayProcess, UnitAsk
from swarm_chain.core.encoding import canonical_json, keccak, to_hex
from swarm_chain.core.jobs import JobSpec
from swarm_chain.core.units import JobId
from swarm_chain.reference.programs.serve import parse_log
from tests.serve_world import FIRST, SECOND, WRONG, given, name_of, program_of, serve_spec, version

WAIT_S = 90
SMALL = {"memory_mb": 64}

pytestmark = pytest.mark.usefixtures("ray_cluster")


class Customer:
    """Asks the endpoint of a job, whose folder says where it is."""

    def __init__(self, folder: Path, key: str = "") -> None:
        wait_until((folder / "report.json").exists)
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self.report: dict[str, Any] = json.loads((folder / "report.json").read_text())
        self.http = httpx2.Client(base_url=self.report["url"], trust_env=False, timeout=30, headers=headers)

    def complete(self, prompt: list[int], tokens: int, model: str = "swarm") -> Any:
        """The answer of a completion."""
        body = {"model": model, "prompt": prompt, "max_tokens": tokens}
        return self.http.post("/v1/completions", json=body).json()

    def tokens(self, prompt: list[int], tokens: int, model: str = "swarm") -> tuple[int, ...]:
        """Its tokens."""
        return tuple(self.complete(prompt, tokens, model)["choices"][0]["token_ids"])


class Served:
    """A job that runs beside the test, in a thread."""

    def __init__(self, spec: JobSpec, folder: Path) -> None:
        self.result: JobResult | None = None
        order = JobOrder(document=spec.document(), folder=str(folder))
        self._thread = threading.Thread(target=self._run, args=(order,))
        self._thread.start()

    def end(self) -> JobResult:
        """What came of it."""
        self._thread.join(WAIT_S)
        assert self.result is not None
        return self.result

    def _run(self, order: JobOrder) -> None:
        self.result = run_job(order)


def test_endpoint_when_asked_over_http_then_right_answers_a_second_version_and_a_log_a_judge_replays(
    tmp_path: Path,
) -> None:
    spec = serve_spec({"key": to_hex(keccak(b"open sesame"))}, resources=SMALL)
    served = Served(spec, tmp_path)
    customer, stranger = Customer(tmp_path, "open sesame"), Customer(tmp_path)
    streamed = customer.http.post(
        "/v1/completions", json={"model": "swarm", "prompt": [5], "max_tokens": 3, "stream": True}
    )
    embedded = customer.http.post("/v1/embeddings", json={"model": "swarm", "input": [1, 2, 3]}).json()

    assert stranger.complete([1], 1)["error"]["code"] == "bad_key"
    assert [json.loads(line[6:])["choices"][0]["token_ids"] for line in streamed.text.splitlines()[::2][:-2]] == [
        [given(FIRST, [5], 3)[0]],
        list(given(FIRST, [5], 3)[1:]),
    ]
    assert tuple(embedded["data"][0]["embedding"]) == given(FIRST, [1, 2, 3], 0)
    assert [customer.tokens([place], 4) for place in range(2)] == [given(FIRST, [place], 4) for place in range(2)]
    assert customer.complete([64], 1)["error"]["code"] == "bad_request"
    assert customer.complete([1], 64)["error"]["code"] == "bad_request"
    wait_until(lambda: len(json.loads((tmp_path / "report.json").read_text())["versions"]) == 2)
    assert customer.tokens([9], 4) == given(SECOND, [9], 4)
    assert customer.tokens([9], 4, name_of(FIRST)) == given(FIRST, [9], 4)
    for place in range(4):
        customer.tokens([place], 2)

    assert (served.end().exit_code, len(served.end().contents)) == (0, 4)
    _assert_judged(spec, tmp_path, [4, 4, 2])


@pytest.mark.long
def test_version_when_its_known_answers_fail_then_rolled_back_and_the_rest_is_empty(tmp_path: Path) -> None:
    bad = version(SECOND, after=2, answer=WRONG)
    spec = serve_spec({"versions": [version(FIRST), bad], "serve_for": 40}, resources=SMALL)
    served = Served(spec, tmp_path)
    customer = Customer(tmp_path)
    for place in range(2):
        customer.tokens([place], 2)
    wait_until(lambda: len(json.loads((tmp_path / "report.json").read_text())["versions"]) == 2)
    report = json.loads((tmp_path / "report.json").read_text())

    assert [one["state"] for one in report["versions"]] == ["served", "rolled_back"]
    assert customer.tokens([7], 4) == given(FIRST, [7], 4)
    assert customer.complete([7], 4, name_of(SECOND))["error"]["code"] == "unknown_model"
    assert served.end().exit_code == 0
    _assert_judged(spec, tmp_path, [3, 0, 0])


@pytest.mark.long
def test_first_version_when_its_known_answers_fail_then_the_customer_s_fault(tmp_path: Path) -> None:
    spec = serve_spec({"versions": [version(FIRST, answer=WRONG)]}, resources=SMALL)
    result = run_job(JobOrder(document=spec.document(), folder=str(tmp_path)))

    assert (result.exit_code, result.contents) == (EXIT_FAILED, ())
    assert "known answers" in result.reason


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[RayJobRunner]:
    made = RayJobRunner(RunnerOptions(directory=tmp_path))
    yield made
    made.close()


@pytest.mark.long
def test_driver_when_killed_then_its_successor_serves_the_rest_and_stopping_leaves_no_replica(
    runner: RayJobRunner, tmp_path: Path
) -> None:
    folder, job = tmp_path / "8", JobId(8)
    runner.start(job, serve_spec(resources=SMALL), {})
    customer = Customer(folder)
    first = customer.report["url"]
    for place in range(5):
        customer.tokens([place], 2)
    wait_until(lambda: JobFolder(path=folder).kept(1) is not None)
    os.kill(_processes("job-8")[0], signal.SIGKILL)
    wait_until(lambda: not runner.finished() and json.loads((folder / "report.json").read_text())["url"] != first)
    again = Customer(folder)

    assert again.report["answered"] == 4  # the fifth was in no content yet
    assert again.tokens([3], 4) == given(SECOND, [3], 4)
    runner.stop(job, forget=True)
    wait_until(lambda: not _processes("TokenReplica"))


def _assert_judged(spec: JobSpec, folder: Path, sizes: list[int]) -> None:
    contents = [JobFolder(path=folder).kept(index) or b"" for index in range(program_of(spec).units + 1)]
    judge, posted = ReplayProcess(timeout_for=60), canonical_json(spec.document())
    hashes = [judge.compute(UnitAsk(spec=posted, unit=unit, source=contents[unit + 1])) for unit in range(len(sizes))]
    judge.close()

    assert [len(parse_log(content).log) for content in contents[1:]] == sizes
    assert hashes == JobFolder(path=folder).hashes(len(contents))[1:]


def _processes(title: str) -> list[int]:
    found = []
    for child in psutil.Process().children(recursive=True):
        try:
            if title in " ".join(child.cmdline()):
                found.append(child.pid)
        except psutil.Error:
            continue
    return found


def wait_until(holds: Callable[[], bool]) -> None:
    """Waits for something that happens soon."""
    end = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)

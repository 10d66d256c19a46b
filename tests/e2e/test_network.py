"""The README's network, by the README's words: its lines are taken from there and run as they stand."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import reduce
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
READY_S, PAID_S = 180, 420

pytestmark = pytest.mark.long


def readme_lines() -> list[str]:
    """The block that begins with `make network`, without remarks."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"```\n(make network.*?)```", text, re.DOTALL)
    assert found is not None
    return [line.split("#")[0].strip() for line in found.group(1).splitlines()]


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Path]:
    """What `make network` runs, in a folder of its own; gives that folder once it is ready."""
    log = tmp_path / "network.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.network", "--build", str(tmp_path)],
            cwd=ROOT,
            stdout=output,
            stderr=output,
        )
    until = time.monotonic() + READY_S
    while b"ready;" not in log.read_bytes():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < until, log.read_text()
        time.sleep(0.5)
    yield tmp_path
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0, log.read_text()


def test_job_when_submitted_by_the_readme_then_paid_and_its_result_is_there(network: Path) -> None:
    first, *rest = readme_lines()
    assert first == "make network"
    environment, out = f". {network}/network/env", network / "model"
    changes = (
        (". build/network/env", environment),
        ("--out model", f"--out {out}"),
        ("job submit", "job submit --yes"),
    )
    commands = [reduce(lambda text, change: text.replace(*change), changes, line) for line in rest]

    done = subprocess.run(
        ["bash", "-e", "-c", "\n".join(commands)],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PAID_S,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert list(out.iterdir())

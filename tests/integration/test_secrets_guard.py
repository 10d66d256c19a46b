"""The search for secrets in logs bites: a run that leaves one in a log fails, with workers and without."""

import base64
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from swarm_chain.devnet.chain import MNEMONIC
from tests.secrets_guard import known_secrets, leaks_in, logs_under, remember

ROOT = Path(__file__).parents[2]
KEY = bytes(range(1, 33))
SUITE = f'''
from tests.secrets_guard import remember

def test_something(tmp_path):
    remember(bytes.fromhex("{KEY.hex()}"), "open sesame")
    (tmp_path / "member.log").write_text(%r)

def test_something_else(tmp_path):
    (tmp_path / "notes.txt").write_text("open sesame")
'''


def played(folder: Path, said: str, *options: str) -> "subprocess.CompletedProcess[str]":
    """A run of a suite whose program says something in its log."""
    (folder / "test_suite.py").write_text(SUITE % said, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "tests.secrets_guard", "-p", "no:cacheprovider", *options]
    command += ["--rootdir", str(folder), "--basetemp", str(folder / "base"), "-c", os.devnull, str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=False)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder outside of this run's own, which is searched too."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@pytest.mark.parametrize("options", [(), ("--numprocesses", "2")], ids=["alone", "workers"])
def test_run_when_a_log_holds_a_secret_then_it_fails_and_names_the_log_alone(
    folder: Path, options: tuple[str, ...]
) -> None:
    done = played(folder, f"signing with 0x{KEY.hex().upper()}", *options)

    assert done.returncode == 1, done.stdout + done.stderr
    assert "2 passed" in done.stdout
    assert "member.log: 1 secrets" in done.stdout
    assert KEY.hex() not in done.stdout.lower()


def test_run_when_no_log_holds_one_then_it_passes(folder: Path) -> None:
    done = played(folder, "member_started at 0x1234", "--numprocesses", "2")

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "said",
    ["http://user:open sesame@signer", f"key {base64.b64encode(KEY).decode()}", f"keys of {MNEMONIC}", KEY.hex()],
    ids=["password", "base64", "mnemonic", "key"],
)
def test_leak_when_a_secret_is_spelled_in_any_way_then_found(folder: Path, said: str) -> None:
    remember(KEY, "open sesame")
    (folder / "member.log").write_text(said)

    (leak,) = leaks_in(folder, known_secrets())

    assert leak.startswith(str(folder / "member.log"))
    assert said not in leak


def test_logs_when_searched_then_only_logs_are(folder: Path) -> None:
    for name in ("a.log", "logs/error-1.txt", "keys/oracle", "password"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("open sesame")

    assert {path.name for path in logs_under(folder)} == {"a.log", "error-1.txt"}
    assert len(list(leaks_in(folder, {"OPEN SESAME"}))) == 2


def test_remember_when_a_secret_is_too_short_then_refused() -> None:
    with pytest.raises(ValueError, match="six characters"):
        remember("abc")

"""Starting and stopping a member: what stands in the way is said in one line, and a signal ends it cleanly."""

import json
import signal
import socket
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from swarm_chain.devnet import Devnet
from tests.integration.oracle.process import MemberProgram

Launch = Callable[[str], MemberProgram]


@pytest.fixture
def program(chain: Devnet, launch: Launch) -> MemberProgram:
    """A member that is not started yet."""
    return launch(chain.rpc_url)


def refusal(program: MemberProgram, *arguments: str, **environment: str) -> tuple[int, dict[str, object]]:
    """Exit code of `swarm oracle run` and the only document it prints, its error; no traceback beside it."""
    done = program.run("--json", "oracle", "run", *arguments, **environment)
    assert "Traceback" not in done.stdout + done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.long)])
def test_stop_when_signalled_then_ticks_end_and_the_exit_code_is_0(program: MemberProgram, number: int) -> None:
    program.start()
    time.sleep(1)
    assert program.end(number) == 0
    text = program.log_path.read_text()
    assert program.said("member_stopped")
    assert "Traceback" not in text
    assert "leaked" not in text
    assert "maximum number of running instances" not in text


def test_start_when_the_port_is_in_use_then_3(program: MemberProgram) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        code, error = refusal(program, "--port", str(other.getsockname()[1]))
    assert (code, error["error"]) == (3, "cannot_listen")


def test_start_when_the_chain_is_away_then_4(program: MemberProgram) -> None:
    code, error = refusal(program, "--port", "0", SWARM_RPC_URL="http://127.0.0.1:9")
    assert (code, error["error"]) == (4, "rpc_unavailable")


@pytest.mark.long
def test_start_when_the_database_is_locked_then_4(program: MemberProgram) -> None:
    with sqlite3.connect(program.home / "oracle.db") as other:
        other.execute("BEGIN EXCLUSIVE")
        code, error = refusal(program, "--port", "0")
    assert (code, error["error"]) == (4, "store_unavailable")
    assert "locked" in str(error["message"])


@pytest.mark.long
def test_start_when_the_database_folder_is_missing_then_4(program: MemberProgram) -> None:
    url = f"sqlite:///{program.home / 'missing' / 'oracle.db'}"
    code, error = refusal(program, "--port", "0", "--database-url", url)
    assert (code, error["error"]) == (4, "store_unavailable")


def test_start_when_the_database_is_something_else_then_3(program: MemberProgram) -> None:
    (program.home / "oracle.db").write_bytes(b"no database at all" * 100)
    code, error = refusal(program, "--port", "0")
    assert (code, error["error"]) == (3, "foreign_store")


@pytest.mark.long
def test_start_when_the_home_is_a_file_then_3(program: MemberProgram, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, error = refusal(program, "--port", "0", SWARM_HOME=str(tmp_path / "file"))
    assert (code, error["error"]) == (3, "bad_home")


@pytest.mark.long
def test_start_when_the_preset_is_another_ones_then_3(program: MemberProgram) -> None:
    path = program.home / "deployment.json"
    document = json.loads(path.read_text()) | {"params": "mainnet"}
    path.write_text(json.dumps(document))
    code, error = refusal(program, "--port", "0")
    assert (code, error["error"]) == (3, "wrong_params")


def test_start_when_there_is_no_key_then_3(program: MemberProgram) -> None:
    (program.home / "keys" / "oracle").unlink()
    code, error = refusal(program, "--port", "0")
    assert (code, error["error"]) == (3, "no_keystore")


def test_start_when_the_password_is_wrong_then_3(program: MemberProgram) -> None:
    (program.home / "password").write_text("something else\n")
    code, error = refusal(program, "--port", "0")
    assert (code, error["error"]) == (3, "wrong_password")

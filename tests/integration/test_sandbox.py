"""Customers' code in its sandbox: the honest one gives its answer, each abuse ends as the customer's fault and leaves nothing."""

import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from swarm_chain.core.errors import InconsistentError, InvalidInputError, UnavailableError
from swarm_chain.core.jobs import JobSpec
from swarm_chain.reference.programs.base import inputs_of
from swarm_chain.reference.programs.hooks import load_hooks
from swarm_chain.reference.programs.registry import open_program
from swarm_chain.reference.programs.sandboxed import compute_sandboxed, compute_unit, run_hook, unit_limits
from swarm_chain.sandbox.limits import FEWEST_PROCESSES, SandboxLimits
from swarm_chain.sandbox.plan import SCRATCH

pytestmark = pytest.mark.usefixtures("walls")

TIGHT = SandboxLimits(memory_mb=200, disk_mb=50, seconds=5)
TRAIN = JobSpec(
    kind="train",
    program="swarm-train/1",
    work={
        "model": "mlp", "seed": 7, "steps": 4, "segment_steps": 2, "batch": 2, "context": 8, "vocabulary": 16,
        "width": 8, "heads": 2, "layers": 1, "learning_rate_micro": 10_000,
    },
)  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """After each test no process of a sandbox runs and no folder of one lies about."""
    yield
    until = time.monotonic() + 5
    while _sandboxes() and time.monotonic() < until:
        time.sleep(0.01)
    assert _sandboxes() == []


def _sandboxes() -> list[list[str]]:
    """Command lines of sandboxes this process started, also of what lost its parent; not those of a worker beside it."""
    return [process.info["cmdline"] for process in psutil.process_iter(["cmdline"]) if _is_ours(process)]


def _is_ours(process: psutil.Process) -> bool:
    if not any("swarm_chain.sandbox" in word for word in process.info["cmdline"] or ()):
        return False
    try:
        above = {parent.pid for parent in process.parents()}
    except psutil.NoSuchProcess:
        return False
    return os.getpid() in above or os.getppid() not in above


def test_code_when_honest_then_gives_the_same_bytes_fifty_times() -> None:
    code = "def double(data):\n    return data + bytes(sorted({1, 9, 4}))"
    assert {run_hook(code, "double", b"ab", TIGHT) for _ in range(50)} == {b"ab\x01\x04\x09"}


def test_code_when_it_kept_something_then_the_next_unit_does_not_find_it() -> None:
    code = "seen = []\ndef f(data):\n    open('/tmp/kept', 'ab').write(data)\n    return open('/tmp/kept', 'rb').read()"
    assert [run_hook(code, "f", b"x", TIGHT) for _ in range(2)] == [b"x", b"x"]


def test_unit_when_sandboxed_then_gives_the_bytes_it_gives_outside() -> None:
    program = open_program(TRAIN, inputs_of({}))
    assert compute_sandboxed(TRAIN, {}, 0, program.first(), unit_limits(TRAIN, 60)) == program.compute(
        0, program.first()
    )
    assert compute_unit(TRAIN, {}, 0, program.first()) == program.compute(0, program.first())


def test_unit_when_its_source_is_none_then_the_programs_own_error_comes_back() -> None:
    with pytest.raises(InvalidInputError) as caught:
        compute_sandboxed(TRAIN, {}, 0, b"no checkpoint", unit_limits(TRAIN, 60))
    assert caught.value.code != "customer_code"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("raise ValueError('no such row')", "raises ValueError: no such row"),
        ("import sys; sys.exit(3)", "raises SystemExit: 3"),
        ("import os; os._exit(3)", "ended without an answer (exit status 3)"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "ended without an answer (exit status 137)"),
        ("import os; os.closerange(0, 512); return b''", "ended without an answer"),
        ("import os; [os.write(n, bytes(7) + b'\\x03abc') for n in range(3, 20) if is_open(n)]", "into the answer's pipe"),
        ("import os; [os.write(n, b'x') for n in range(3, 20) if is_open(n)]; os._exit(0)", "without an answer"),
        ("return 'text'", "gives str, not bytes"),
        ("return bytes(30_000_000)", "gives more than 12000000 bytes"),
        ("block = bytearray(10_000_000_000); return b''", "MemoryError"),
        ("while True: data += bytearray(b'x') * 10_000_000", "MB of memory"),
        ("open('/tmp/full', 'wb').write(bytes(49_000_000)); open('/tmp/f', 'wb').write(bytes(9_000_000))", "No space"),
        ("import tempfile; files = [hidden(tempfile.TemporaryFile()) for _ in range(9)]", "No space"),
        ("open('/usr/x', 'wb')", "OSError: [Errno 30]"),
        ("import socket; socket.create_connection(('127.0.0.1', PORT), 1); return b'reached'", "raises"),
        ("import socket; socket.create_connection(('1.1.1.1', 53), 1); return b'reached'", "raises"),
        ("return open(PATH, 'rb').read()", "raises FileNotFoundError"),
        ("import os; os.setuid(0); return b'root'", "PermissionError"),
        ("import os; os.kill(1, 9); os.kill(PID, 9); return b''", "raises"),
        ("nonsense", "raises NameError"),
    ],
)  # fmt: skip
def test_code_when_it_misbehaves_then_the_customer_is_told_why(body: str, says: str, tmp_path: Path) -> None:
    secret = tmp_path / "key"
    secret.write_bytes(b"a key")
    secret.chmod(0o644)
    with socket.create_server(("127.0.0.1", 0)) as server:
        known = f"PATH, PORT, PID = {str(secret)!r}, {server.getsockname()[1]}, {os.getpid()}\n{HELPERS}"
        error = _fault(f"{known}\ndef f(data):\n    {body}")
    assert says in error.message
    assert "\n" not in error.message


@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "import time; time.sleep(1000)",
        "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32)); signal.pause()",
    ],
)
def test_code_when_it_hangs_then_it_ends_with_its_time(body: str) -> None:
    error = _fault(f"def f(data):\n    {body}", SandboxLimits(seconds=1))
    assert error.message == "the customer's code took longer than 1 s"


@pytest.mark.parametrize("setsid", ["", "os.setsid()"])
def test_code_when_it_forks_without_end_then_all_of_it_ends(setsid: str) -> None:
    code = f"import os\ndef f(data):\n    while True:\n        if os.fork() == 0:\n            {setsid or 'pass'}"
    error = _fault(code, SandboxLimits(seconds=2, processes=FEWEST_PROCESSES))
    assert error.message.startswith("the customer's code")


def test_code_when_it_leaves_a_daemon_then_the_answer_counts_and_the_daemon_ends() -> None:
    code = (
        "import os, time\ndef f(data):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0:\n"
        "            time.sleep(1000)\n        os._exit(0)\n    os.wait()\n    return b'done'"
    )
    assert run_hook(code, "f", b"", TIGHT) == b"done"


def test_code_when_it_prints_then_its_last_lines_come_with_the_error() -> None:
    error = _fault("def f(data):\n    print('x' * 9000)\n    print('the row is empty', flush=True)\n    return 1 / 0")
    said = str(error.values["stderr"])
    assert "the row is empty" in said
    assert "ZeroDivisionError" in said
    assert len(said) <= 2048


def test_code_when_it_looks_around_then_sees_no_environment_no_other_process_and_no_right() -> None:
    code = (
        "import os\ndef f(data):\n    status = open('/proc/self/status').read()\n"
        "    rights = [line for line in status.splitlines() if line.startswith('CapEff') or line.startswith('NoNew')]\n"
        "    seen = sorted(name for name in os.listdir('/proc') if name.isdigit())\n"
        "    return repr((rights, seen, [k for k in os.environ if 'SWARM' in k], os.getcwd())).encode()"
    )
    found = run_hook(code, "f", b"", TIGHT).decode()
    assert found == repr((["CapEff:\t0000000000000000", "NoNewPrivs:\t1"], ["1", "2"], [], SCRATCH))


def test_hooks_when_loaded_outside_a_sandbox_then_refused() -> None:
    with pytest.raises(InconsistentError) as caught:
        load_hooks("raise SystemExit")
    assert caught.value.code == "not_sandboxed"


def test_sandbox_when_it_cannot_start_then_it_is_not_the_customers_fault() -> None:
    with pytest.raises(UnavailableError) as caught:
        run_hook("def f(data): return data", "f", b"", SandboxLimits(seconds=0))
    assert caught.value.code == "no_sandbox"


HELPERS = """
import os
def is_open(number):
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
def hidden(file):
    file.write(bytes(9_000_000))
    file.flush()
    return file
"""


def _fault(code: str, limits: SandboxLimits = TIGHT) -> InvalidInputError:
    with pytest.raises(InvalidInputError) as caught:
        run_hook(code, "f", b"", limits)
    assert caught.value.code == "customer_code"
    return caught.value

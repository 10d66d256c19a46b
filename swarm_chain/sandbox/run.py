"""Runs one function on one request in a sandbox and gives its answer; whatever happens, nothing of it is left.

request --framed--> launcher > init > worker --ready, answer-->
                    watched: wall clock, memory, processes, length of the answer
"""

import itertools
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from swarm_chain.core.errors import InconsistentError, InvalidInputError, RejectedError, SwarmError, UnavailableError
from swarm_chain.sandbox.frames import after_frame, announced, framed, split_frame
from swarm_chain.sandbox.limits import SandboxLimits
from swarm_chain.sandbox.plan import launch_command
from swarm_chain.sandbox.tree import below, end_init, held_bytes
from swarm_chain.sandbox.worker import READY

LOOK_EVERY_S: Final = 0.05
KEPT_ERRORS: Final = 2048  # bytes of the end of what the code wrote to its error stream
_CHUNK: Final = 1 << 18
_END_WITHIN_S: Final = 10
_LAST_WORDS_S: Final = 1  # from the end of its pipe to the end of its process
_HEADER_BYTES: Final = 64 * 1024
_FAMILIES: Final = {kind.__name__: kind for kind in (InvalidInputError, RejectedError, InconsistentError)}
Launcher = subprocess.Popen[bytes]
_numbers = itertools.count(os.getpid())


@dataclass(slots=True, kw_only=True)
class _Talk:
    """What went over the pipes so far."""

    unsent: memoryview
    heard: bytearray = field(default_factory=bytearray)
    errors: bytearray = field(default_factory=bytearray)
    ready: bool = False


def run_sandboxed(function: str, request: Sequence[bytes], limits: SandboxLimits) -> bytes:
    """Call a function in a sandbox: no network, no files but Python's, no key, no other process, none of its own left.

    Args:
        function: takes the request and gives the answer, as "module:name" that the sandbox imports.
        request: parts of any length.
        limits: of the call.

    Returns:
        What the function gives.

    Raises:
        InvalidInputError: the function raises it; or its process ended, took too long or used more than it may (code
            customer_code; `values` holds the end of what it wrote to its error stream).
        SwarmError: the function raises it.
        UnavailableError: this machine cannot wall a process off, or lacks what starting one takes (code no_sandbox).
    """
    if sys.platform != "linux":
        raise _no_sandbox(f"{sys.platform} has no namespaces")
    with tempfile.TemporaryDirectory(prefix="swarm-sandbox-") as folder:
        command = launch_command(function, limits, Path(folder), next(_numbers))
        launcher = _launched(command)
        talk = _Talk(unsent=memoryview(framed([len(request).to_bytes(8, "big"), *request])))
        fault = "was interrupted"
        try:
            fault = _converse(launcher, talk, limits)
        finally:
            status = _end(launcher, by_itself=not fault and not _complete(talk))
    return _answer(talk, fault or f"ended without an answer (exit status {status})")


def _launched(command: list[str]) -> Launcher:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, env={}, cwd="/", start_new_session=True, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe
    )


def _converse(launcher: Launcher, talk: _Talk, limits: SandboxLimits) -> str:
    """Sends and hears until the answer is there, the pipe ends or a limit is passed; gives the limit's name."""
    until = look_at = time.monotonic()
    until += limits.seconds
    with selectors.DefaultSelector() as selector:
        for pipe in filter(None, (launcher.stdin, launcher.stdout, launcher.stderr)):
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, selectors.EVENT_WRITE if pipe is launcher.stdin else selectors.EVENT_READ)
        while launcher.stdout in selector.get_map() and not _complete(talk):
            for key, _ in selector.select(LOOK_EVERY_S):
                if not _moved(launcher, talk, key.fileobj):
                    selector.unregister(key.fileobj)
            if max(announced(talk.heard), len(talk.heard)) > limits.answer_bytes + _HEADER_BYTES:
                return f"gives more than {limits.answer_bytes} bytes"
            if time.monotonic() >= look_at:
                fault = _passed(launcher.pid, limits, until)
                if fault:
                    return fault
                look_at = time.monotonic() + LOOK_EVERY_S
    return ""


def _moved(launcher: Launcher, talk: _Talk, pipe: object) -> bool:
    """Moves what one pipe is ready for; False once it has ended or has nothing more to do."""
    try:
        if launcher.stdin is not None and pipe is launcher.stdin:
            talk.unsent = talk.unsent[os.write(launcher.stdin.fileno(), talk.unsent[:_CHUNK]) :]
            return len(talk.unsent) > 0
        if launcher.stdout is not None and pipe is launcher.stdout:
            return _heard(talk, os.read(launcher.stdout.fileno(), _CHUNK))
        return _said(talk, launcher.stderr)
    except BlockingIOError:
        return True
    except OSError:  # the other end is gone; what it said before is still to be read
        return False


def _heard(talk: _Talk, piece: bytes) -> bool:
    talk.heard += piece
    if not talk.ready and split_frame(talk.heard) == READY:
        talk.heard, talk.ready = after_frame(talk.heard), True
    return bool(piece)


def _said(talk: _Talk, pipe: IO[bytes] | None) -> bool:
    piece = b"" if pipe is None else os.read(pipe.fileno(), _CHUNK)
    talk.errors = (talk.errors + piece)[-KEPT_ERRORS:]
    return bool(piece)


def _passed(launcher: int, limits: SandboxLimits, until: float) -> str:
    """The limit that was passed; empty if none was."""
    if time.monotonic() >= until:
        return f"took longer than {limits.seconds} s"
    inside = below(launcher)
    if len(inside) > limits.processes:
        return f"started more than {limits.processes} processes"
    if held_bytes(inside, limits.memory_mb * 1_000_000) > limits.memory_mb * 1_000_000:
        return f"used more than {limits.memory_mb} MB of memory"
    return ""


def _complete(talk: _Talk) -> bool:
    header = split_frame(talk.heard) if talk.ready else None
    if header is None:
        return False
    return not header.startswith(b'{"ok":true') or split_frame(after_frame(talk.heard)) is not None


def _end(launcher: Launcher, *, by_itself: bool) -> int:
    """Ends the sandbox, unless it is about to end by itself, and waits until the kernel has; gives its exit status."""
    for pipe in (launcher.stdin, launcher.stdout, launcher.stderr):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    if by_itself:
        with suppress(subprocess.TimeoutExpired):
            return launcher.wait(_LAST_WORDS_S)
    if not end_init(launcher.pid):
        launcher.kill()
    return launcher.wait(_END_WITHIN_S)


def _answer(talk: _Talk, fault: str) -> bytes:
    said = bytes(talk.errors).decode(errors="replace").strip()
    if not talk.ready:
        raise _no_sandbox(said.splitlines()[-1] if said else fault)
    if not _complete(talk):
        raise _customers_fault(f"the customer's code {fault}", said)
    header = _header(talk, said)
    if header.get("ok") is True:
        return split_frame(after_frame(talk.heard)) or b""
    message, fix, code = (str(header.get(name, ""))[:500] for name in ("message", "fix", "code"))
    if code == "customer_code":
        raise _customers_fault(message, said)
    if header.get("family") == UnavailableError.__name__:
        raise UnavailableError(message, fix=fix, code=code)
    kind: type[SwarmError] = _FAMILIES.get(str(header.get("family")), InvalidInputError)
    raise kind(message, fix=fix, code=code)


def _header(talk: _Talk, said: str) -> dict[str, object]:
    try:
        header = json.loads(split_frame(talk.heard) or b"")
    except ValueError:
        header = None
    if not isinstance(header, dict):
        raise _customers_fault("the customer's code wrote into the answer's pipe", said)
    return header


def _customers_fault(message: str, said: str) -> InvalidInputError:
    fix = "correct the code of the spec"
    return InvalidInputError(message, fix=fix, code="customer_code", values={"stderr": said})


def _no_sandbox(why: str) -> UnavailableError:
    return UnavailableError(
        f"this machine cannot wall off a customer's code: {why}",
        fix="allow user namespaces (sysctl user.max_user_namespaces above 0, "
        "kernel.apparmor_restrict_unprivileged_userns=0), or run as root with CAP_SYS_ADMIN",
        code="no_sandbox",
        retry_after=300,
    )

"""Probes of the machine: packages, GPU log, memory, disks, clock, programs. Each asks one thing and decides nothing."""

import ctypes
import os
import platform
import re
import shutil
import subprocess
import sysconfig
from importlib.metadata import PackageNotFoundError, distribution, version
from importlib.util import find_spec
from pathlib import Path

import psutil

from node.doctor.facts import ClockSync, Disk, Package, Toolchain
from swarm_chain.core.checkup import Room
from swarm_chain.core.errors import UnavailableError
from swarm_chain.reference.programs.sandboxed import run_hook
from swarm_chain.sandbox.limits import SandboxLimits

PROGRAM_S, SANDBOX_S = 3, 30
_UNSYNCHRONISED = 0x40  # STA_UNSYNC of adjtimex(2)
_XID = re.compile(r"NVRM: Xid \([^)]*\): (\d+)")
_LOG_BYTES = 64 * 2**10


def packages() -> tuple[Package, ...]:
    """Python, Ray and torch: installed versions, and what the installed Swarm wants."""
    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet

    found: dict[str, SpecifierSet] = {}
    try:
        ours = distribution("swarm")
        wanted = [Requirement(text) for text in ours.requires or ()]
        found = {one.name: one.specifier for one in wanted if one.marker and one.marker.evaluate({"extra": "node"})}
        found["python"] = SpecifierSet(ours.metadata["Requires-Python"] or "")
    except PackageNotFoundError:
        pass  # run from a source tree: `fits` stays None
    have = {"python": platform.python_version(), "ray": _version("ray"), "torch": _version("torch")}
    return tuple(
        Package(
            name=name,
            have=text,
            wanted=str(found[name]) if name in found else "",
            fits=found[name].contains(text, prereleases=True) if name in found and text else None,
        )
        for name, text in have.items()
    )


def xids(log: Path = Path("/dev/kmsg")) -> tuple[int, ...]:
    """Numbers of the GPU faults in the kernel's log since the machine started.

    Raises:
        OSError: this user may not read it, or there is none.
    """
    descriptor, found = os.open(log, os.O_RDONLY | os.O_NONBLOCK), []
    try:
        while record := _record(descriptor):
            found += [int(number) for number in _XID.findall(record.decode(errors="replace"))]
    finally:
        os.close(descriptor)
    return tuple(found)


def _record(descriptor: int) -> bytes:
    """The next record of the log; empty at its end."""
    while True:
        try:
            return os.read(descriptor, _LOG_BYTES)
        except BlockingIOError:
            return b""
        except BrokenPipeError:
            continue  # records were overwritten while we read: the next read goes on behind them


def memory() -> tuple[int, int]:
    """Available and total main memory, bytes."""
    found = psutil.virtual_memory()
    return found.available, found.total


def room(folder: Path, least_bytes: int, good_bytes: int) -> Room:
    """Free space where a folder is or would be made."""
    there = _existing(folder)
    free = shutil.disk_usage(there).free
    return Room(folder=str(there), free_bytes=free, least_bytes=least_bytes, good_bytes=good_bytes)


def disk(folder: Path, devices: Path = Path("/sys/dev/block")) -> Disk:
    """Whether the disk below a folder rotates, as the kernel says.

    Args:
        folder: where it is or would be made.
        devices: the kernel's list of block devices.
    """
    there = _existing(folder)
    number = there.stat().st_dev
    entry = (devices / f"{os.major(number)}:{os.minor(number)}").resolve()
    for place in (entry, entry.parent):  # a partition has no queue of its own
        answer = place / "queue" / "rotational"
        if answer.is_file():
            return Disk(folder=str(there), is_rotational=answer.read_text(encoding="ascii").strip() == "1")
    return Disk(folder=str(there), is_rotational=None, problem="the kernel names no disk below this file system")


class _Timex(ctypes.Structure):
    """The beginning of struct timex; the rest is kept free for the kernel to write into."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_char * 256),
    )


def clock_sync() -> ClockSync:
    """What the kernel says of its clock; it is asked, not set (modes = 0)."""
    programs = tuple(name for name in ("chronyc", "timedatectl", "ntpq") if shutil.which(name))
    adjtimex = getattr(ctypes.CDLL(None), "adjtimex", None)
    answer = _Timex()
    if adjtimex is None or adjtimex(ctypes.byref(answer)) < 0:
        return ClockSync(is_synchronised=None, programs=programs, problem="this system's clock cannot be asked")
    return ClockSync(is_synchronised=not answer.status & _UNSYNCHRONISED, programs=programs)


def toolchain() -> Toolchain:
    """Triton, the C compiler it looks for, and Python's headers."""
    triton = find_spec("triton")
    compilers = (shutil.which(name) for name in ("cc", "gcc", "clang"))
    headers = Path(sysconfig.get_path("include")) / "Python.h"
    return Toolchain(
        triton="installed" if triton else "",
        compiler=next((where for where in compilers if where), ""),
        headers=str(headers.parent) if headers.is_file() else "",
    )


def sandbox() -> tuple[str, str]:
    """Why customers' code cannot be walled off here, and what to do; empty if it can. Tried: no one setting decides it."""
    try:
        answer = run_hook("def f(data): return data", "f", b"walls", SandboxLimits(seconds=SANDBOX_S))
    except UnavailableError as error:
        return error.message, error.fix
    return ("", "") if answer == b"walls" else ("a sandbox gave another answer", "report it")


def program(name: str) -> str | None:
    """First line of a program's --version; None if it is not on the path, empty if it does not tell."""
    where = shutil.which(name)
    if where is None:
        return None
    try:
        done = subprocess.run([where, "--version"], capture_output=True, text=True, timeout=PROGRAM_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return next(iter(done.stdout.splitlines()), "")[:80]


def _existing(folder: Path) -> Path:
    return next(one for one in (folder, *folder.absolute().parents) if one.is_dir())


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""

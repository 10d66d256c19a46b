"""Processes below another one, as /proc shows them: how much they hold, and their end. Linux only."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")


def below(process: int) -> tuple[int, ...]:
    """The processes that descend from one, which is not among them."""
    return tuple(_below(process))


def held_bytes(processes: tuple[int, ...], most: int) -> int:
    """Bytes of memory that processes hold; what they share counts once, but only where it matters.

    Args:
        processes: their numbers.
        most: bytes they may hold; below it the quick sum, in which shared memory counts for each, is enough.
    """
    quick = sum(map(_resident, processes))
    return quick if quick <= most else sum(map(_proportional, processes))


def end_init(launcher: int) -> bool:
    """Ends process 1 of a sandbox, and with it, by the kernel's hand, all of the sandbox; False if there is none.

    Args:
        launcher: its parent; what waits for the launcher to end knows that nothing is left.
    """
    found = _children(launcher)
    for init in found:
        with suppress(ProcessLookupError):
            os.kill(init, signal.SIGKILL)
    return bool(found)


def _below(process: int) -> Iterator[int]:
    for child in _children(process):
        yield child
        yield from _below(child)


def _children(process: int) -> list[int]:
    found: list[int] = []
    for thread in _listed(Path(f"/proc/{process}/task")):
        with suppress(OSError):
            found += map(int, (thread / "children").read_text(encoding="ascii").split())
    return found


def _listed(path: Path) -> list[Path]:
    try:
        return list(path.iterdir())
    except OSError:
        return []


def _resident(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def _proportional(process: int) -> int:
    try:
        for line in Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return _resident(process)

"""One process a folder: whoever holds the lock works in it. The kernel lets go of it when the process ends, however it ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def folder_lock(path: Path) -> Iterator[bool]:
    """Tries to hold a lock.

    Args:
        path: the lock's file; made if absent, never removed: a lock on a file that is gone keeps nobody out.

    Yields:
        True while it is ours; False if another process holds it.
    """
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield _taken(lock)
    finally:
        os.close(lock)


def _taken(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True

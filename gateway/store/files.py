"""Bytes under their hash: written beside, checked, renamed. A name that is there is whole.

<folder>/blobs/<hash>          inputs of jobs
<folder>/jobs/<id>/<hash>      contents of a job
<folder>/incoming/<random>     what is being received; emptied at the start
"""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sha3 import keccak_256

from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import Hash32, JobId


class Incoming:
    """A file that is being received.

    Args:
        path: where it lies meanwhile.
        file: open for writing.
        most: bytes it may have.
    """

    def __init__(self, path: Path, file: BinaryIO, most: int) -> None:
        self._path, self._file, self._most = path, file, most
        self._hash = keccak_256()
        self.size = 0

    def add(self, piece: bytes) -> None:
        """Takes the next bytes.

        Raises:
            InvalidInputError: they are too many (code too_large).
        """
        self.size += len(piece)
        if self.size > self._most:
            raise InvalidInputError(f"this may have {self._most} bytes", fix="send less", code="too_large")
        self._hash.update(piece)
        self._file.write(piece)

    @property
    def hash(self) -> Hash32:
        """keccak256 of what came so far."""
        return Hash32(self._hash.digest())

    def keep(self, target: Path) -> None:
        """Puts it where it belongs, on disk for good."""
        self._file.flush()
        os.fsync(self._file.fileno())
        target.parent.mkdir(parents=True, exist_ok=True)
        self._path.replace(target)
        _sync_folder(target.parent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The files of a gateway."""

    folder: Path

    def blob(self, content: Hash32) -> Path:
        """Where an input lies, if it is here."""
        return self.folder / "blobs" / to_hex(content)

    def content(self, job_id: JobId, content: Hash32) -> Path:
        """Where a content of a job lies, if it is here."""
        return self.folder / "jobs" / str(job_id) / to_hex(content)

    @contextmanager
    def receive(self, most: int) -> Iterator[Incoming]:
        """A file to receive; gone afterwards unless it was kept.

        Args:
            most: bytes it may have.
        """
        path = self.folder / "incoming" / secrets.token_hex(8)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with path.open("wb") as file:
                yield Incoming(path, file, most)
        finally:
            path.unlink(missing_ok=True)

    def forget_incoming(self) -> None:
        """Removes what was being received when an earlier process ended."""
        shutil.rmtree(self.folder / "incoming", ignore_errors=True)

    def forget_job(self, job_id: JobId) -> None:
        """Removes the contents of a job."""
        shutil.rmtree(self.folder / "jobs" / str(job_id), ignore_errors=True)


def _sync_folder(folder: Path) -> None:
    """A rename is on disk once its folder is."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

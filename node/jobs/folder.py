"""The files of a job, so that whoever runs it next goes on where it stands.

<folder>/contents/000000 000001 …   contents, each written beside and renamed
<folder>/hashes                     their hashes, 32 bytes each, zeros for what is not there yet
<folder>/device_ms                  milliseconds spent so far
<folder>/log                        what program and customer's code said, newest last
<folder>/report.json                what is not judged, such as latencies measured here
"""

import os
from dataclasses import dataclass
from pathlib import Path

from swarm_chain.core.checkpoints import MAX_CHECKPOINT_BYTES, content_hash
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import Hash32

MAX_LOG_BYTES = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFolder:
    """Where one job keeps what it has done. One process writes at a time."""

    path: Path

    def keep(self, index: int, content: bytes) -> Hash32:
        """Stores a content for good and gives its hash.

        Raises:
            InvalidInputError: it is larger than what members take.
        """
        if len(content) > MAX_CHECKPOINT_BYTES:
            raise InvalidInputError(
                f"content {index} has {len(content)} bytes",
                fix=f"make what a unit leaves behind smaller than {MAX_CHECKPOINT_BYTES}",
                code="content_too_large",
            )
        hashed = content_hash(content)
        write_whole(self.content_path(index), content)
        self._note_hash(index, hashed)
        return hashed

    def kept(self, index: int) -> bytes | None:
        """A stored content; None if it is not there or not what was stored."""
        hashes = self.hashes(index + 1)
        try:
            content = self.content_path(index).read_bytes()
        except FileNotFoundError:
            return None
        return content if content_hash(content) == hashes[index] else None

    def hashes(self, count: int) -> list[Hash32]:
        """Hashes of the first contents; zeros for those that were never stored."""
        try:
            stored = (self.path / "hashes").read_bytes()
        except FileNotFoundError:
            stored = b""
        padded = stored[: 32 * count].ljust(32 * count, b"\0")
        return [Hash32(padded[at : at + 32]) for at in range(0, 32 * count, 32)]

    def content_path(self, index: int) -> Path:
        """Where a content lies."""
        return self.path / "contents" / f"{index:06d}"

    def add_time(self, spent_ms: int) -> None:
        """Adds to the time spent on devices."""
        write_whole(self.path / "device_ms", str(self.spent_ms() + spent_ms).encode("ascii"))

    def spent_ms(self) -> int:
        """Milliseconds spent on devices so far."""
        try:
            return int((self.path / "device_ms").read_text(encoding="ascii"))
        except (FileNotFoundError, ValueError):
            return 0

    def say(self, text: str) -> None:
        """Appends lines to the job's log; what is beyond its lid is dropped."""
        log = self.path / "log"
        self.path.mkdir(parents=True, exist_ok=True)
        room = MAX_LOG_BYTES - (log.stat().st_size if log.exists() else 0)
        with log.open("ab") as file:
            file.write((text.rstrip("\n") + "\n").encode()[: max(room, 0)])

    def log_text(self, offset: int, most: int) -> str:
        """Text of the log from a byte on, of at most `most` bytes; empty where it ends, and within a character."""
        try:
            with (self.path / "log").open("rb") as file:
                file.seek(offset)
                piece = file.read(most)
        except FileNotFoundError:
            return ""
        return piece.decode(errors="ignore")

    def _note_hash(self, index: int, hashed: Hash32) -> None:
        path = self.path / "hashes"
        stored = path.read_bytes() if path.exists() else b""
        padded = stored.ljust(32 * (index + 1), b"\0")
        write_whole(path, padded[: 32 * index] + hashed + padded[32 * (index + 1) :])


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file that is there whole or not at all, whatever ends the process."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".part")
    with beside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)

"""Inputs of jobs on this node's disk, by content hash; what was used least recently goes first."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from node.jobs.folder import write_whole
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import Hash32


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobCache:
    """A folder of at most `most` bytes; a file's name is its hash, its time is when it was used last."""

    folder: Path
    most: int

    def has(self, content: Hash32) -> bool:
        """True if an input is here."""
        return self._path(content).exists()

    def keep(self, content: Hash32, blob: bytes, beside: Iterable[Hash32]) -> None:
        """Stores an input, and drops what was used least recently until there is room.

        Args:
            content: keccak256 of the bytes.
            blob: the bytes.
            beside: other inputs that must stay.

        Raises:
            InvalidInputError: these inputs together are more than may be kept (code inputs_too_large).
        """
        kept = {self._path(other).name for other in beside} - {self._path(content).name}
        files = sorted(self._files(), key=lambda path: path.stat().st_mtime_ns)
        sizes = {path: path.stat().st_size for path in files if path.name != self._path(content).name}
        room = self.most - len(blob) - sum(sizes.values())
        for path in [path for path in sizes if path.name not in kept]:
            if room >= 0:
                break
            path.unlink(missing_ok=True)
            room += sizes[path]
        if room < 0:
            raise InvalidInputError(
                f"the inputs have more than the {self.most} bytes this node keeps",
                fix="raise SWARM_INPUT_CACHE_MB",
                code="inputs_too_large",
            )
        write_whole(self._path(content), blob)

    def read(self, contents: Iterable[Hash32]) -> Mapping[Hash32, bytes]:
        """Those of some inputs that are here and whole; a spoiled one is dropped."""
        found = {content: self._read(content) for content in contents}
        return {content: blob for content, blob in found.items() if blob is not None}

    def _read(self, content: Hash32) -> bytes | None:
        path = self._path(content)
        try:
            blob = path.read_bytes()
        except FileNotFoundError:
            return None
        if keccak(blob) != content:
            path.unlink(missing_ok=True)
            return None
        os.utime(path)
        return blob

    def _files(self) -> list[Path]:
        return [path for path in self.folder.glob("*") if path.suffix != ".part"]

    def _path(self, content: Hash32) -> Path:
        return self.folder / content.hex()

"""The member's secret that all its volumes are generated from: a private file beside its database, never in it.

Whoever has it can generate every block and needs no disk. It is made when there are no volumes yet; where there are some
and it is gone, nothing is made in its place by itself: a backup, or the machine that acted before, may still have it.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from swarm_chain.core.encoding import hash_from_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.storageset import KEY_BYTES, Volume, VolumeKey, volume_key

FILE_NAME = "storage-secret"
_PRIVATE = 0o600


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeSecret:
    """32 bytes that only this member knows; they hide from every repr and log."""

    raw: bytes = field(repr=False)

    def key_of(self, volume: Volume) -> VolumeKey:
        """Key of one volume."""
        return volume_key(self.raw, volume)


def open_secret(path: Path, entropy: Callable[[int], bytes], *, has_volumes: bool) -> VolumeSecret | None:
    """The secret of a file, which is made on the first start.

    Args:
        path: the file.
        entropy: gives unpredictable bytes.
        has_volumes: whether volumes were opened before; then a missing file is not made.

    Returns:
        None where it is missing and there are volumes: they cannot be grown or audited until it is back or renewed.

    Raises:
        InvalidInputError: others may read it, or it holds no secret (exit 3).
    """
    if not path.exists():
        if has_volumes:
            return None
        write_secret(path, entropy)
    return read_secret(path)


def read_secret(path: Path) -> VolumeSecret:
    """The secret of a file that only its owner can read.

    Raises:
        InvalidInputError: others may read it, it cannot be read, or it holds no secret (exit 3).
    """
    try:
        mode, text = path.stat().st_mode, path.read_text(encoding="ascii").strip()
        if mode & 0o077:
            raise _refused(path, "others may read it", f"chmod 600 {path}, and renew it if somebody may have")
        return VolumeSecret(raw=hash_from_hex("0x" + text))
    except (OSError, UnicodeDecodeError, InvalidInputError) as error:
        if isinstance(error, InvalidInputError) and error.code == "bad_storage_secret":
            raise
        raise _refused(path, "it holds no 32 bytes of hex", "restore it from a backup") from None  # its text is secret


def write_secret(path: Path, entropy: Callable[[int], bytes]) -> None:
    """Makes a new secret where there is no file; it is on disk, and its owner's alone, before anything uses it."""
    part = path.with_suffix(".part")
    part.unlink(missing_ok=True)
    with open(part, "x", encoding="ascii", opener=lambda name, flags: os.open(name, flags, _PRIVATE)) as file:
        file.write(entropy(KEY_BYTES).hex() + "\n")
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _refused(path: Path, why: str, fix: str) -> InvalidInputError:
    return InvalidInputError(f"{path} is not used: {why}", fix=fix, code="bad_storage_secret", exit_code=3)

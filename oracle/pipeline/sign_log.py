"""What this member's key has signed of observations, in a file beside the database: it outlives a lost database.

Two observations of one epoch are a violation. A member whose database is gone must know that it spoke already, so every
content hash is on disk before any other member can ask for the observation.
"""

import os
from pathlib import Path

from swarm_chain.core.encoding import hash_from_hex
from swarm_chain.core.errors import InconsistentError, InvalidInputError
from swarm_chain.core.units import Address, EpochNumber, Hash32

Entry = tuple[Address, EpochNumber]


class SignLog:
    """Content hashes by member and epoch; lines `epoch member hash`, only ever appended.

    Args:
        path: the file; made at the first entry.

    Raises:
        InvalidInputError: the file cannot be read (exit 3).
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._signed = _read(path)

    def signed(self, member: Address, epoch: EpochNumber) -> Hash32 | None:
        """Content hash of the observation the key signed for an epoch, None if it signed none."""
        return self._signed.get((member, epoch))

    def record(self, member: Address, epoch: EpochNumber, content_hash: Hash32) -> None:
        """Keeps a content hash on disk before anyone sees the signature.

        Raises:
            InconsistentError: another observation of the epoch was signed before.
        """
        self.check(member, epoch, content_hash)
        if self.signed(member, epoch) is None:
            self._append(f"{epoch} {member} 0x{content_hash.hex()}\n")
            self._signed[member, epoch] = content_hash

    def check(self, member: Address, epoch: EpochNumber, content_hash: Hash32) -> None:
        """Refuses an observation that contradicts one signed before.

        Raises:
            InconsistentError: it does.
        """
        if self.signed(member, epoch) not in (None, content_hash):
            raise InconsistentError(
                f"this key signed another observation of epoch {epoch} before",
                fix="do not run one key in two places; the other members hand the first one back",
                code="signed_before",
            )

    def _append(self, line: str) -> None:
        with open(self._path, "a", encoding="ascii") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())


def _read(path: Path) -> dict[Entry, Hash32]:
    try:
        if not path.exists():
            return {}
        whole, _, torn = path.read_text(encoding="ascii").rpartition("\n")
        if torn:  # the machine lost power while it was written
            os.truncate(path, len(whole) + 1 if whole else 0)
        return dict(_entry(line) for line in whole.splitlines())
    except (OSError, ValueError, InvalidInputError) as error:
        raise InvalidInputError(
            f"{path} cannot be read: {error}",
            fix="restore it from a backup; without it a lost database could make this member contradict itself",
            code="bad_sign_log",
            exit_code=3,
        ) from error


def _entry(line: str) -> tuple[Entry, Hash32]:
    epoch, member, content_hash = line.split(" ")
    return (Address(member), EpochNumber(int(epoch))), hash_from_hex(content_hash)

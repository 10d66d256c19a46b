"""A volume on the node's disk: blocks are appended, survive a crash once confirmed, and are really read when audited.

    append: blocks --pwrite, fsync--> blocks.bin --then--> held.json {volume, blocks} --fsync, rename--> confirmed
    open:   held.json says what was confirmed; bytes of blocks.bin behind that are of an append that did not end, and are cut
    audit:  block i --pread past the page cache--> 4096 bytes

One process at a time has a volume open: the agent, which holds the lock of its folder (`node.state.only_agent`).
"""

import errno
import json
import mmap
import os
import shutil
from pathlib import Path
from types import TracebackType

from swarm_chain.core.encoding import canonical_json, to_hex
from swarm_chain.core.errors import InconsistentError, InvalidInputError, UnavailableError
from swarm_chain.core.storageset import BLOCK_BYTES, StorageAnswer, StorageAudit, Volume, answer_to

KEEP_FREE_BYTES = 2**30  # room an append leaves on the disk for the rest of the machine
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_O_DIRECT = getattr(os, "O_DIRECT", 0)  # Linux only; elsewhere the page cache is asked to forget


class VolumeFile:
    """The blocks of one volume in a folder of their own; close it, or use it as a context.

    Args:
        folder: made if absent, readable by its owner only.
        volume: whose blocks these are.
        keep_free_bytes: room an append leaves on the disk.

    Raises:
        InvalidInputError: the folder holds another volume.
        InconsistentError: confirmed blocks are gone.
    """

    def __init__(self, folder: Path, volume: Volume, keep_free_bytes: int = KEEP_FREE_BYTES) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self._volume = volume
        self._keep_free_bytes = keep_free_bytes
        self._held = self._recorded()
        self._writer = os.open(folder / "blocks.bin", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            self._drop_unconfirmed()
            self._reader, self._direct = _open_reader(folder / "blocks.bin")
        except BaseException:
            os.close(self._writer)
            raise
        self._page = mmap.mmap(-1, BLOCK_BYTES)  # page-aligned, as O_DIRECT wants it

    @property
    def volume(self) -> Volume:
        """Whose blocks these are."""
        return self._volume

    @property
    def blocks(self) -> int:
        """How many blocks are confirmed, from block 0 on without a gap."""
        return self._held

    @property
    def direct(self) -> bool:
        """True if reads go past the page cache by O_DIRECT, False if it is asked to forget before each."""
        return self._direct

    def append(self, first: int, content: bytes) -> int:
        """Store more blocks; when this returns they survive a crash. What is held already is passed over.

        Args:
            first: number of the first block given, 0 to `blocks`.
            content: whole blocks, one after the other.

        Returns:
            How many blocks are confirmed now.

        Raises:
            InvalidInputError: no whole blocks, or a gap before them.
            UnavailableError: the disk lacks room (code disk_full); what was confirmed stays.
        """
        if len(content) % BLOCK_BYTES or not 0 <= first <= self._held:
            raise InvalidInputError(
                f"{len(content)} bytes from block {first} on do not continue {self._held} blocks",
                fix=f"send whole blocks of {BLOCK_BYTES} bytes from block {self._held} on",
                code="no_continuation",
            )
        fresh = memoryview(content)[(self._held - first) * BLOCK_BYTES :]
        if fresh:
            self._check_room(len(fresh))
            self._store(fresh)
        return self._held

    def read(self, index: int) -> bytes:
        """Read one block from the disk itself.

        Args:
            index: number of the block, in [0, blocks).

        Returns:
            4096 bytes.

        Raises:
            InvalidInputError: no such block is held.
            InconsistentError: the file ends before it.
        """
        if not 0 <= index < self._held:
            raise InvalidInputError(f"block {index} of {self._held} is not held", code="not_held")
        offset = index * BLOCK_BYTES
        if not self._direct:
            os.posix_fadvise(self._reader, offset, BLOCK_BYTES, os.POSIX_FADV_DONTNEED)
        if os.preadv(self._reader, [self._page], offset) != BLOCK_BYTES:
            raise _lost(self._folder)
        return self._page[:]

    def answer(self, audit: StorageAudit) -> StorageAnswer:
        """Answer an audit by reading every block it leads to.

        Args:
            audit: of this volume, over blocks that are confirmed.

        Raises:
            InvalidInputError: another volume, or more blocks than are held (code not_held).
            InconsistentError: the file lost blocks.
        """
        if audit.volume != self._volume or audit.blocks > self._held:
            raise InvalidInputError(
                f"the audit is of another volume, or of {audit.blocks} blocks where {self._held} are held",
                fix="audit what this node confirmed",
                code="not_held",
            )
        return answer_to(audit, self.read)

    def close(self) -> None:
        """Give the files back."""
        os.close(self._reader)
        os.close(self._writer)
        self._page.close()

    def __enter__(self) -> "VolumeFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _drop_unconfirmed(self) -> None:
        if os.fstat(self._writer).st_size < self._held * BLOCK_BYTES:
            raise _lost(self._folder)
        os.ftruncate(self._writer, self._held * BLOCK_BYTES)

    def _check_room(self, wanted: int) -> None:
        free = shutil.disk_usage(self._folder).free
        if free - self._keep_free_bytes < wanted:
            raise _no_room(self._folder, f"{wanted} bytes wanted, {free} free, {self._keep_free_bytes} to be left")

    def _recorded(self) -> int:
        record = self._folder / "held.json"
        if not record.exists():
            if (self._folder / "blocks.bin").exists():  # the record comes first: somebody removed it
                raise _lost(self._folder)
            self._note(0)
            self._publish()
        return _confirmed(record, self._volume)

    def _store(self, fresh: memoryview) -> None:
        held = self._held + len(fresh) // BLOCK_BYTES
        try:
            self._write(fresh)
            self._note(held)
        except OSError as error:
            os.ftruncate(self._writer, self._held * BLOCK_BYTES)
            if error.errno not in _NO_ROOM:
                raise
            raise _no_room(self._folder, os.strerror(error.errno)) from error
        self._publish()
        self._held = held

    def _write(self, fresh: memoryview) -> None:
        offset = self._held * BLOCK_BYTES
        while fresh:
            written = os.pwrite(self._writer, fresh, offset)
            fresh, offset = fresh[written:], offset + written
        os.fsync(self._writer)
        os.posix_fadvise(self._writer, 0, 0, os.POSIX_FADV_DONTNEED)  # no audit shall be answered from memory

    def _note(self, held: int) -> None:
        with (self._folder / "held.part").open("wb") as file:
            file.write(canonical_json({"blocks": held, "volume": to_hex(self._volume.encoded)}))
            file.flush()
            os.fsync(file.fileno())

    def _publish(self) -> None:
        (self._folder / "held.part").replace(self._folder / "held.json")
        _sync_folder(self._folder)


def _confirmed(path: Path, volume: Volume) -> int:
    """Blocks that a folder's record confirms."""
    try:
        record = json.loads(path.read_bytes())
        named, held = record["volume"], record["blocks"]
    except (ValueError, LookupError, TypeError) as error:
        raise InconsistentError(f"{path} is no record of a volume", fix="restore it, or drop the volume") from error
    if named != to_hex(volume.encoded) or not isinstance(held, int) or held < 0:
        raise InvalidInputError(
            f"{path.parent} holds another volume", fix="give every volume a folder of its own", code="another_volume"
        )
    return held


def _open_reader(path: Path) -> tuple[int, bool]:
    """Descriptor for audits, and whether it reads past the page cache; some file systems refuse O_DIRECT."""
    try:
        return os.open(path, os.O_RDONLY | _O_DIRECT), _O_DIRECT != 0
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    return os.open(path, os.O_RDONLY), False


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _lost(folder: Path) -> InconsistentError:
    return InconsistentError(
        f"{folder} has fewer blocks than this node confirmed",
        fix="check the disk, then drop the volume: members send a new one",
        code="lost_blocks",
    )


def _no_room(folder: Path, why: str) -> UnavailableError:
    return UnavailableError(
        f"the disk of {folder} lacks room: {why}",
        fix="free some space, or offer less storage (SWARM_STORAGE_MB)",
        code="disk_full",
        retry_after=3600,
    )

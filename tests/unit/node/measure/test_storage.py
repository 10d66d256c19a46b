"""A volume on disk: what is confirmed survives, what is asked is read, and a full disk is said, not suffered."""

import ctypes
import mmap
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from node.measure.storage import VolumeFile
from oracle.judge.storage import StorageCase, judge_storage
from swarm_chain.core.errors import InconsistentError, InvalidInputError, UnavailableError
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.storageset import BLOCK_BYTES, StorageAudit, blocks
from tests.storage_world import KEY, MALLORY, PARAMS, VOLUME, audit_of

APPENDING = """
import sys
from pathlib import Path
from node.measure.storage import VolumeFile
from swarm_chain.core.storageset import blocks
from tests.storage_world import KEY, VOLUME
with VolumeFile(Path(sys.argv[1]), VOLUME, keep_free_bytes=0) as file:
    while True:
        print(file.append(file.blocks, blocks(KEY, file.blocks, 64)), flush=True)
"""


@contextmanager
def opened(folder: Path, count: int = 0) -> Iterator[VolumeFile]:
    """A volume file that holds the first blocks of the volume."""
    with VolumeFile(folder, VOLUME, keep_free_bytes=0) as file:
        file.append(0, blocks(KEY, 0, count))
        yield file


def judged(file: VolumeFile, audit: StorageAudit, elapsed_ms: int = 10) -> Outcome:
    """What a member finds of a volume file's answer."""
    params = replace(PARAMS, reads=audit.reads)
    answer = file.answer(audit)
    return judge_storage(
        StorageCase(key=KEY, audit=audit, uploaded=file.blocks, params=params, elapsed_ms=elapsed_ms, answer=answer)
    ).outcome


def test_volume_sent_in_parts_over_several_openings_passes_every_audit(tmp_path: Path) -> None:
    for first in (0, 16, 32):
        with VolumeFile(tmp_path, VOLUME, keep_free_bytes=0) as file:
            assert file.append(first, blocks(KEY, first, 16)) == first + 16

    with opened(tmp_path) as file:
        assert file.blocks == 48
        assert {judged(file, audit_of(number, blocks=48)) for number in range(100)} == {Outcome.PASSED}


def test_older_audit_of_fewer_blocks_still_passes_when_the_volume_has_grown(tmp_path: Path) -> None:
    with opened(tmp_path, 24) as file:
        assert judged(file, audit_of(blocks=16)) is Outcome.PASSED


def test_byte_that_rots_on_the_disk_fails_the_audits_that_read_it(tmp_path: Path) -> None:
    with opened(tmp_path, 4) as file:
        with (tmp_path / "blocks.bin").open("r+b") as disk:
            disk.seek(2 * BLOCK_BYTES + 17)
            disk.write(bytes([file.read(2)[17] ^ 1]))
            disk.flush()
            os.fsync(disk.fileno())

        assert judged(file, audit_of(blocks=4)) is Outcome.FAILED
        assert judged(file, audit_of(blocks=2)) is Outcome.PASSED


def test_blocks_held_already_are_passed_over_and_gaps_refused(tmp_path: Path) -> None:
    with opened(tmp_path, 4) as file:
        assert file.append(2, blocks(KEY, 2, 4)) == 6
        assert file.append(0, blocks(KEY, 0, 3)) == 6
        assert b"".join(file.read(index) for index in range(6)) == blocks(KEY, 0, 6)
        for first, content in ((7, bytes(BLOCK_BYTES)), (-1, bytes(BLOCK_BYTES)), (6, bytes(4095))):
            with pytest.raises(InvalidInputError, match="do not continue 6 blocks"):
                file.append(first, content)


def test_confirmed_blocks_survive_a_kill_in_the_middle_of_an_append(tmp_path: Path) -> None:
    command = [sys.executable, "-c", APPENDING, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for _ in range(3):
            child.stdout.readline()
        child.kill()
        told = [64 * 3, *(int(line) for line in child.stdout)]

    with opened(tmp_path) as file:
        assert file.blocks in (told[-1], told[-1] + 64)
        assert b"".join(map(file.read, range(file.blocks))) == blocks(KEY, 0, file.blocks)
        assert file.append(file.blocks, blocks(KEY, file.blocks, 1)) == file.blocks


def test_bytes_behind_what_was_confirmed_are_cut_on_opening(tmp_path: Path) -> None:
    with opened(tmp_path, 3):
        pass
    with (tmp_path / "blocks.bin").open("ab") as disk:
        disk.write(b"half of a block")

    with opened(tmp_path) as file:
        assert file.blocks == 3
        assert (tmp_path / "blocks.bin").stat().st_size == 3 * BLOCK_BYTES


def test_file_that_lost_confirmed_blocks_is_not_opened(tmp_path: Path) -> None:
    with opened(tmp_path, 3):
        pass
    os.truncate(tmp_path / "blocks.bin", 3 * BLOCK_BYTES - 1)

    with pytest.raises(InconsistentError) as caught, opened(tmp_path):
        pass
    assert caught.value.code == "lost_blocks"


def test_file_that_loses_blocks_while_open_says_so(tmp_path: Path) -> None:
    with opened(tmp_path, 3) as file:
        os.truncate(tmp_path / "blocks.bin", BLOCK_BYTES)

        with pytest.raises(InconsistentError):
            file.read(2)


@pytest.mark.parametrize("record", ["", "[]", '{"blocks": 1}', '{"volume": 3}', "\xff"], ids=repr)
def test_record_that_is_none_is_not_guessed_at(tmp_path: Path, record: str) -> None:
    (tmp_path / "held.json").write_text(record, encoding="latin-1")

    with pytest.raises(InconsistentError), opened(tmp_path):
        pass


def test_blocks_whose_record_is_gone_are_not_thrown_away(tmp_path: Path) -> None:
    with opened(tmp_path, 3):
        pass
    (tmp_path / "held.json").unlink()

    with pytest.raises(InconsistentError), opened(tmp_path):
        pass
    assert (tmp_path / "blocks.bin").stat().st_size == 3 * BLOCK_BYTES


def test_folder_of_another_volume_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path, 1):
        pass

    with pytest.raises(InvalidInputError, match="another volume"):
        VolumeFile(tmp_path, replace(VOLUME, index=1))


def test_disk_without_room_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with VolumeFile(tmp_path, VOLUME, keep_free_bytes=shutil.disk_usage(tmp_path).total) as file:
        with pytest.raises(UnavailableError, match="lacks room") as caught:
            file.append(0, blocks(KEY, 0, 1))

        assert (caught.value.code, file.blocks) == ("disk_full", 0)
        assert caught.value.fix
        assert (tmp_path / "blocks.bin").stat().st_size == 0


def test_disk_that_fills_up_while_writing_costs_nothing_confirmed(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with opened(tmp_path, 100) as file:
        resource.setrlimit(resource.RLIMIT_FSIZE, (102 * BLOCK_BYTES, hard))  # the kernel ends the third write early
        try:
            with pytest.raises(UnavailableError) as caught:
                file.append(100, blocks(KEY, 100, 4))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

        assert (caught.value.code, file.blocks) == ("disk_full", 100)
        assert (tmp_path / "blocks.bin").stat().st_size == 100 * BLOCK_BYTES
        assert file.append(100, blocks(KEY, 100, 4)) == 104
        assert file.read(103) == blocks(KEY, 103, 1)


@pytest.mark.parametrize(
    "audit",
    [
        audit_of(blocks=4),
        audit_of(blocks=3, volume=replace(VOLUME, node=MALLORY)),
        audit_of(blocks=3, volume=replace(VOLUME, index=1)),
    ],
)
def test_audit_of_what_is_not_held_is_refused(tmp_path: Path, audit: StorageAudit) -> None:
    with opened(tmp_path, 3) as file, pytest.raises(InvalidInputError) as caught:
        file.answer(audit)

    assert caught.value.code == "not_held"


def test_block_that_is_not_held_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path, 3) as file:
        for index in (-1, 3):
            with pytest.raises(InvalidInputError):
                file.read(index)


def test_files_are_their_owners_alone(tmp_path: Path) -> None:
    with opened(tmp_path / "volume", 1):
        modes = {path.stat().st_mode & 0o077 for path in (tmp_path / "volume", tmp_path / "volume" / "blocks.bin")}

    assert modes == {0}


def test_audited_blocks_do_not_come_from_the_page_cache(tmp_path: Path) -> None:
    with opened(tmp_path, 64) as file, (tmp_path / "blocks.bin").open("r+b", buffering=0) as disk:
        os.fsync(disk.fileno())
        os.posix_fadvise(disk.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        before = _cached_pages(disk.fileno())
        if len(before) == 64 * BLOCK_BYTES // mmap.PAGESIZE:
            pytest.skip("this file system lives in memory")
        file.answer(audit_of(blocks=64))

        assert _cached_pages(disk.fileno()) <= before or not file.direct


def _cached_pages(descriptor: int) -> set[int]:
    """Pages of the 64 blocks that the kernel holds; asking reads nothing, which a read that must not wait may."""
    size = 64 * BLOCK_BYTES
    held = (ctypes.c_ubyte * (size // mmap.PAGESIZE))()
    with mmap.mmap(descriptor, size) as mapped:
        first = ctypes.c_char.from_buffer(mapped)
        failed = ctypes.CDLL(None).mincore(ctypes.byref(first), ctypes.c_size_t(size), held)
        del first  # else the mapping could not be closed
    assert not failed
    return {number for number, byte in enumerate(held) if byte & 1}

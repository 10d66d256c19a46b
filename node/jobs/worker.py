"""What runs inside a Ray worker: the segments of one training job, each checkpoint on disk before the next begins.

    <directory>/000000.ckpt 000001.ckpt …      content of each checkpoint, written beside and renamed
    <directory>/device_ms                      milliseconds spent on segments so far

A worker that dies leaves whole checkpoints only; the next one starts at the last that continues the chain.
"""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.reference.checkpoint import names_previous, parse_checkpoint
from swarm_chain.reference.spec import TrainSpec, parse_train_spec
from swarm_chain.reference.train import initial_checkpoint, run_segment

EXIT_OK, EXIT_FAILED, EXIT_INVALID_SPEC = 0, 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingResult:
    """What a worker reports: content hashes in order, time spent, exit code and the reason of a failure."""

    contents: tuple[bytes, ...]
    device_ms: int
    exit_code: int
    reason: str = ""


def run_training(document: object, directory: str) -> TrainingResult:
    """Run a training job from where its directory stands.

    Args:
        document: the job spec, parsed JSON.
        directory: folder of this job; made if absent.

    Returns:
        The result; the customer's errors are exit codes, not exceptions.
    """
    try:
        spec = parse_train_spec(document)
    except InvalidInputError as error:
        return TrainingResult(contents=(), device_ms=0, exit_code=EXIT_INVALID_SPEC, reason=error.message)
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    content, hashes = _resume(spec, folder)
    try:
        for index in range(len(hashes) - 1, spec.segments):
            started = time.monotonic_ns()
            content = run_segment(spec, content, index)
            _write(checkpoint_path(folder, index + 1), content)
            _add_time(folder, (time.monotonic_ns() - started) // 1_000_000)
            hashes.append(content_hash(content))
    except InvalidInputError as error:
        return TrainingResult(contents=(), device_ms=spent_ms(folder), exit_code=EXIT_FAILED, reason=error.message)
    return TrainingResult(contents=tuple(hashes), device_ms=spent_ms(folder), exit_code=EXIT_OK)


def checkpoint_path(folder: Path, index: int) -> Path:
    """Where a job's checkpoint lies."""
    return folder / f"{index:06d}.ckpt"


def spent_ms(folder: Path) -> int:
    """Milliseconds a job has spent on its segments so far."""
    try:
        return int((folder / "device_ms").read_text(encoding="ascii"))
    except (FileNotFoundError, ValueError):
        return 0


def _resume(spec: TrainSpec, folder: Path) -> tuple[bytes, list[bytes]]:
    content = initial_checkpoint(spec)
    _write(checkpoint_path(folder, 0), content)
    hashes: list[bytes] = [content_hash(content)]
    for index in range(1, spec.segments + 1):
        following = _read_next(spec, checkpoint_path(folder, index), content, index)
        if following is None:
            break
        content = following
        hashes.append(content_hash(content))
    return content, hashes


def _read_next(spec: TrainSpec, path: Path, previous: bytes, index: int) -> bytes | None:
    try:
        content = path.read_bytes()
        fits = parse_checkpoint(spec, content).index == index and names_previous(spec, content, previous)
    except (FileNotFoundError, InvalidInputError):
        return None
    return content if fits else None


def _write(path: Path, content: bytes) -> None:
    beside = path.with_suffix(".part")
    with beside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def _add_time(folder: Path, spent: int) -> None:
    _write(folder / "device_ms", str(spent_ms(folder) + spent).encode("ascii"))

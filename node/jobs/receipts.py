"""From a finished job to its receipt, and from a draw to the checkpoints that are handed in. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from swarm_chain.core import merkle
from swarm_chain.core.checkpoints import (
    checkpoint_tree,
    checkpoints_to_upload,
    draw_segments,
    path_hash,
)
from swarm_chain.core.kinds import JobKind
from swarm_chain.core.model import Receipt
from swarm_chain.core.signing import checkpoint_hash
from swarm_chain.core.units import ZERO_HASH, Address, Hash32, JobId, Timestamp
from swarm_chain.reference.programs.base import Program


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRun:
    """What a node knows of a job it has run: content hashes of its checkpoints in order, none if it failed."""

    job_id: JobId
    kind: JobKind
    node: Address
    spec_hash: Hash32
    contents: tuple[Hash32, ...]
    device_ms: int
    started_at: Timestamp
    finished_at: Timestamp
    exit_code: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnCheckpoint:
    """A checkpoint to hand in: where it is, its path, and the struct hash the node key signs."""

    index: int
    path: tuple[Hash32, ...]
    struct_hash: Hash32


def make_receipt(run: JobRun) -> Receipt:
    """State what came of a job.

    Args:
        run: the finished job; a failed one names no checkpoint, because there is nothing to replay or to pay.

    Returns:
        The receipt; device time is rounded up to whole seconds.
    """
    kept = run.contents if run.exit_code == 0 else ()
    return Receipt(
        job_id=run.job_id,
        kind=run.kind,
        node=run.node,
        spec_hash=run.spec_hash,
        input_digest=kept[0] if kept else ZERO_HASH,
        output_digest=kept[-1] if kept else ZERO_HASH,
        checkpoint_root=merkle.root(checkpoint_tree(kept)) if kept else ZERO_HASH,
        checkpoint_count=len(kept),
        device_seconds=-(-run.device_ms // 1000),
        started_at=run.started_at,
        finished_at=run.finished_at,
        exit_code=run.exit_code,
    )


def drawn_checkpoints(
    program: Program, receipt: Receipt, contents: Sequence[Hash32], seed: Hash32
) -> tuple[DrawnCheckpoint, ...]:
    """Draw the units of a completed job and name the contents that prove them.

    Args:
        program: the job's.
        receipt: the receipt handed in.
        contents: content hashes of all contents.
        seed: of the job's draw, as `job_seed` gives it.

    Returns:
        Sources of the drawn units and the last content, ascending.

    Source: docs/spec/protocol.md "Drawing of job segments".
    """
    drawn = draw_segments(seed, receipt.job_id, len(contents) - 1)
    tree = checkpoint_tree(contents)
    return tuple(
        _opened(receipt, index, contents[index], merkle.path(tree, index))
        for index in checkpoints_to_upload(map(program.source, drawn), len(contents))
    )


def _opened(receipt: Receipt, index: int, content: Hash32, path: tuple[Hash32, ...]) -> DrawnCheckpoint:
    struct_hash = checkpoint_hash(receipt.job_id, receipt.node, index, content, path_hash(path))
    return DrawnCheckpoint(index=index, path=path, struct_hash=struct_hash)

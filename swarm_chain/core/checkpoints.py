"""Tree over the contents (checkpoints) of a job, and the units (segments) of it that are drawn for replay.

    checkpoint 0 --segment 0--> checkpoint 1 --segment 1--> … --segment c-2--> checkpoint c-1
         |                           |                                              |
       leaf 0                      leaf 1              …                        leaf c-1        -> checkpointRoot

Source: docs/spec/protocol.md, sections Trees and "Drawing of job segments".
"""

from collections.abc import Iterable, Sequence

from swarm_chain.core import merkle
from swarm_chain.core.draws import draw_distinct
from swarm_chain.core.encoding import double_hash, keccak, words
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import BPS, Hash32, JobId

MAX_CHECKPOINT_BYTES = 12_000_000  # base64 of it fits the 16 MiB an oracle accepts
MAX_CHECKPOINTS = 4096
# Units a judge computes again: 5 % of the job, which is what judging may cost, but enough that a short one is looked at,
# and no more than members want to be sent. docs/spec/protocol.md says who is caught how often.
LEAST_DRAWN, MOST_DRAWN, DRAWN_BPS = 2, 32, 500


def content_hash(content: bytes) -> Hash32:
    """Hash the bytes of a checkpoint, as the next checkpoint and the tree name it."""
    return keccak(content)


def checkpoint_leaf(index: int, content: Hash32) -> Hash32:
    """Leaf of a checkpoint: double_hash(abi.encode(uint256 index, bytes32 contentHash))."""
    return double_hash(words(index, content))


def checkpoint_tree(contents: Sequence[Hash32]) -> bytes:
    """Build the tree whose root the receipt names.

    Args:
        contents: content hashes of all checkpoints, in order; 2 to MAX_CHECKPOINTS of them.

    Returns:
        The nodes, as `merkle.build_tree` lays them out.

    Raises:
        InvalidInputError: too few (there is no segment to replay) or too many.
    """
    if not 2 <= len(contents) <= MAX_CHECKPOINTS:
        raise InvalidInputError(
            f"a job has {len(contents)} checkpoints", fix=f"keep from 2 to {MAX_CHECKPOINTS}", code="checkpoint_count"
        )
    return merkle.build_tree(checkpoint_leaf(index, content) for index, content in enumerate(contents))


def opens_checkpoint(root: Hash32, count: int, index: int, content: Hash32, path: Sequence[Hash32]) -> bool:
    """Tell whether a path shows that a content is checkpoint `index` of the job.

    Args:
        root: checkpointRoot of the receipt.
        count: checkpointCount of the receipt.
        index: position of the checkpoint.
        content: hash of its bytes.
        path: siblings, the leaf's own first.

    Returns:
        False for anything that does not fit: index, length of the path or any hash.
    """
    if not 0 <= index < count or len(path) != merkle.path_length(count, index):
        return False
    return merkle.verify(root, checkpoint_leaf(index, content), path)


def path_hash(path: Sequence[Hash32]) -> Hash32:
    """keccak256 over the nodes of a path, one after the other; signed in JobCheckpoint."""
    return keccak(b"".join(path))


def job_seed(block_hash: Hash32, receipt_digest: Hash32) -> Hash32:
    """Randomness of a job's draw, made after its receipt is on chain.

    Args:
        block_hash: hash of block c + 2, where c is the block of JobCompleted.
        receipt_digest: the digest JobCompleted names.
    """
    return keccak(words(block_hash, receipt_digest))


def drawn_count(units: int) -> int:
    """Number of units of a job that are drawn.

    Args:
        units: of the job, >= 1.
    """
    return min(units, max(LEAST_DRAWN, min(MOST_DRAWN, units * DRAWN_BPS // BPS)))


def draw_segments(seed: Hash32, job_id: JobId, segments: int) -> tuple[int, ...]:
    """Draw the segments that are replayed.

    Args:
        seed: what `job_seed` gave.
        job_id: the job.
        segments: number of segments of the job, >= 1; one less than its checkpoints.

    Returns:
        `drawn_count(segments)` distinct segments in draw order; segment i leads from checkpoint i to i + 1.

    Raises:
        InvalidInputError: the job has no segment.
    """
    if segments < 1:
        raise InvalidInputError("a job without segments cannot be replayed", code="checkpoint_count")
    return draw_distinct("segments", words(seed, job_id), drawn_count(segments), segments)


def checkpoints_to_upload(sources: Iterable[int], count: int) -> tuple[int, ...]:
    """Name the contents a node hands in: what each drawn unit is computed from, and the last one.

    Args:
        sources: of the units that `draw_segments` gave.
        count: checkpoints of the job.

    Returns:
        Distinct indices, ascending.
    """
    return tuple(sorted({*sources, count - 1}))

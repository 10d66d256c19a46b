"""From a challenge to a commitment, and from drawn rows to a proof.

    ComputeChallenge --prove--> ComputeRun --commitment_of--> Commitment      before anyone knows which rows are drawn
                                    └──────prove_rows(draw)--> Proof          after the draw

A run keeps 64 bytes a row and the tree, 128 bytes a row in all: a restarted agent rebuilds it from the heads alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swarm_chain.core.compute import HEAD_BYTES, ComputeChallenge, commitment_tree, seed_w, seed_x
from swarm_chain.core.errors import InconsistentError, InvalidInputError
from swarm_chain.core.merkle import path, root
from swarm_chain.core.model import Commitment, Opening, Proof
from swarm_chain.core.rowchain import Compute, NumpyCompute, input_rows, weights

_REFERENCE = NumpyCompute()


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeRun:
    """A finished run: `heads` is the first 64 bytes of every final row in row order, `tree` the tree over them."""

    challenge: ComputeChallenge
    heads: bytes
    tree: bytes


def prove(challenge: ComputeChallenge, compute: Compute, check_rows: Sequence[int]) -> ComputeRun:
    """Do the work of a challenge on one device.

    Args:
        challenge: what to compute.
        compute: backend of the device, its known answers checked.
        check_rows: rows to recompute before anything is committed, each in [0, m); the caller draws two at random.

    Returns:
        The run; memory is bounded by W, one chunk of the backend and 128 bytes a row.

    Raises:
        InconsistentError: the backend computed a row wrongly; nothing may be committed.

    Source: compute-proof.md "Bytes" and "Verifying fast".
    """
    return restore_run(challenge, checked_heads(challenge, compute, check_rows))


def checked_heads(challenge: ComputeChallenge, compute: Compute, check_rows: Sequence[int]) -> bytes:
    """Compute the committed part of all final rows and check some of them on the reference.

    Args:
        challenge: what to compute.
        compute: backend of the device, its known answers checked.
        check_rows: rows to recompute, each in [0, m).

    Returns:
        m · 64 bytes in row order.

    Raises:
        InconsistentError: the backend computed a row wrongly; nothing may be committed.
    """
    heads = final_heads(challenge, compute)
    _check_against_reference(challenge, heads, check_rows)
    return heads


def final_heads(challenge: ComputeChallenge, compute: Compute) -> bytes:
    """Compute the committed part of all final rows, chunk by chunk.

    Args:
        challenge: what to compute.
        compute: backend of the device.

    Returns:
        m · 64 bytes in row order.
    """
    shape = challenge.shape
    x_seed = seed_x(challenge.window, challenge.node, challenge.device)
    w = compute.weights(seed_w(challenge.window, shape.n), shape.n)
    rows_at_once = max(1, compute.chunk_bytes // shape.n)
    chunks = []
    for first in range(0, shape.m, rows_at_once):
        indices = np.arange(first, min(first + rows_at_once, shape.m), dtype=np.int64)
        chunks.append(compute.run_chain(compute.rows(x_seed, indices, shape.n), w, shape.steps).tobytes())
    return b"".join(chunks)


def restore_run(challenge: ComputeChallenge, heads: bytes) -> ComputeRun:
    """Rebuild a run from the heads an agent stored before it committed.

    Args:
        challenge: what was computed.
        heads: m · 64 bytes.

    Returns:
        The run, tree included.

    Raises:
        InvalidInputError: the heads are not those of a run of this shape.
    """
    if len(heads) != challenge.shape.m * HEAD_BYTES:
        raise InvalidInputError(
            f"{len(heads)} bytes are not the heads of {challenge.shape.m} rows", fix="run the challenge again"
        )
    return ComputeRun(challenge=challenge, heads=heads, tree=commitment_tree(heads))


def commitment_of(run: ComputeRun) -> Commitment:
    """State what a run commits to, ready to be signed.

    Args:
        run: a finished run.

    Returns:
        The commitment.
    """
    challenge, shape = run.challenge, run.challenge.shape
    return Commitment(
        window_id=challenge.window.window_id,
        window_seed=challenge.window.window_seed,
        node=challenge.node,
        device=challenge.device,
        m=shape.m,
        n=shape.n,
        steps=shape.steps,
        root=root(run.tree),
    )


def prove_rows(run: ComputeRun, rows: Sequence[int]) -> Proof:
    """Open the drawn rows of a run.

    Args:
        run: the run behind the commitment.
        rows: drawn rows in draw order (`draw_rows`), each in [0, m).

    Returns:
        The proof, ready to be signed.

    Raises:
        InvalidInputError: there is no such row.
    """
    return Proof(
        window_id=run.challenge.window.window_id,
        node=run.challenge.node,
        device=run.challenge.device,
        root=root(run.tree),
        openings=tuple(_open(run, row) for row in rows),
    )


def _open(run: ComputeRun, row: int) -> Opening:
    siblings = path(run.tree, row)
    return Opening(row=row, head=run.heads[row * HEAD_BYTES : (row + 1) * HEAD_BYTES], path=siblings)


def _check_against_reference(challenge: ComputeChallenge, heads: bytes, rows: Sequence[int]) -> None:
    shape = challenge.shape
    x_seed = seed_x(challenge.window, challenge.node, challenge.device)
    w = weights(seed_w(challenge.window, shape.n), shape.n)
    for row in rows:  # one at a time: a vector times W is several times faster than two rows times W
        x = input_rows(x_seed, np.array([row], dtype=np.int64), shape.n)
        expected = _REFERENCE.run_chain(x, w, shape.steps).tobytes()
        if heads[row * HEAD_BYTES : (row + 1) * HEAD_BYTES] != expected:
            raise InconsistentError(
                f"row {row} of window {challenge.window.window_id}, device {challenge.device} is wrong: not committed",
                fix="run `swarm node doctor`; the node must stay on the numpy backend until the device passes",
                code="self_check_failed",
                values={"row": row, "device": challenge.device, "windowId": str(challenge.window.window_id)},
            )

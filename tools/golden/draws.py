"""Golden draws: seeds, drawn rows, bytes of the matrices, and the segments of a job."""

import numpy as np

from swarm_chain.core import checkpoints, compute, encoding, merkle, rowchain, signing
from swarm_chain.core.encoding import keccak, to_hex, words
from swarm_chain.core.units import JobId
from tools.golden.form import CHAIN_ID, Document, sample_address, sample_hash
from tools.golden.messages import BEFORE_OPEN, SIGNER, commitment


def challenge() -> Document:
    """Seeds, drawn rows, a column of W and a row of X0, a few steps of that row; the draw of a job's segments."""
    beacon, later, promise = sample_address("ChallengeBeacon"), sample_hash("block c+2"), commitment(SIGNER.address, 1)
    promises = [commitment(SIGNER.address, 0), promise]
    root = merkle.root(merkle.build_tree(encoding.double_hash(signing.commitment_hash(item)) for item in promises))
    draw_seed = keccak(words(later, promise.window_seed, root))
    window = compute.ComputeWindow(
        chain_id=CHAIN_ID, beacon=beacon, window_id=promise.window_id, window_seed=promise.window_seed
    )
    shape = compute.ComputeShape(m=promise.m, n=promise.n, steps=promise.steps)
    question = compute.ComputeChallenge(window=window, node=promise.node, device=promise.device, shape=shape)
    return {
        "chainId": str(CHAIN_ID),
        "beacon": beacon,
        "node": promise.node,
        "device": str(promise.device),
        "windowId": str(promise.window_id),
        **{name: str(getattr(shape, name)) for name in ("m", "n", "steps")},
        **{name: to_hex(value) for name, value in BEFORE_OPEN.items()},
        "secretHash": to_hex(keccak(BEFORE_OPEN["secret"])),
        "windowSeed": to_hex(promise.window_seed),
        "commitmentsRoot": to_hex(root),
        "drawBlockHash": to_hex(later),
        "drawSeed": to_hex(draw_seed),
        "root": to_hex(promise.root),
        "rows": [str(row) for row in compute.draw_rows(draw_seed, question, promise.root, 8)],
        **_matrix_bytes(question),
        **_job_draw(),
    }


def _matrix_bytes(question: compute.ComputeChallenge) -> Document:
    window, shape = question.window, question.shape
    seed_w, seed_x = compute.seed_w(window, shape.n), compute.seed_x(window, question.node, question.device)
    row = rowchain.input_rows(seed_x, np.array([5], dtype=np.int64), shape.n)
    last = rowchain.run_rows(row, rowchain.weights(seed_w, shape.n), shape.steps).tobytes()
    return {
        "seedW": str(seed_w),
        "seedX": str(seed_x),
        "column": "7",
        "columnBytes": to_hex(rowchain.weight_column(seed_w, 7, shape.n).tobytes()),
        "row": "5",
        "rowBytes": to_hex(row.tobytes()),
        "lastRowBytes": to_hex(last),
        "rowLeaf": to_hex(compute.commitment_leaf(5, compute.digest(last[: compute.HEAD_BYTES]))),
    }


def _job_draw() -> Document:
    digest, job_id, segments = sample_hash("receipt 1"), JobId(3), 9
    seed = checkpoints.job_seed(sample_hash("block c+2"), digest)
    return {
        "jobSeed": to_hex(seed),
        "jobReceiptDigest": to_hex(digest),
        "jobId": str(job_id),
        "jobSegments": str(segments),
        "drawnSegments": [str(segment) for segment in checkpoints.draw_segments(seed, job_id, segments)],
    }

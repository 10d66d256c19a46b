"""Judges openings of the row chain exactly: many devices at once, one multiplication a step for all that share W.

    JudgeCase --screen--> drawn rows, each leaf on a path to the committed root --recompute--> same 64 bytes? --> Verdict

Everything a device sent is compared with what the judge derives itself; only rows of devices that pass the screen are
recomputed, and nothing a device sent takes part in that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from swarm_chain.core.compute import (
    HEAD_BYTES,
    ComputeChallenge,
    commitment_leaf,
    digest,
    draw_rows,
    mtops,
    seed_w,
    seed_x,
)
from swarm_chain.core.errors import InvalidInputError, SwarmError
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.merkle import NODE_BYTES, verify
from swarm_chain.core.model import Commitment, Opening, Proof, Verdict
from swarm_chain.core.rowchain import Compute, Int8Matrix, NumpyCompute, input_rows
from swarm_chain.core.units import Hash32, Mtops

# What malformed values can raise while they are screened. A device that makes the judge stumble has failed, nobody else.
_STUMBLES = (SwarmError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_REFERENCE = NumpyCompute()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCase:
    """One device in one drawn window: what it was asked, what it committed to, what it opened, how long it took.

    `draws` is the number of rows to open; `elapsed_ms` the median over members, > 0 where there is a commitment.
    """

    challenge: ComputeChallenge
    draw_seed: Hash32
    draws: int
    elapsed_ms: int = 0
    commitment: Commitment | None = None
    proof: Proof | None = None

    def __post_init__(self) -> None:
        # What the member itself says must be right, or a device would be blamed for it.
        if len(self.draw_seed) != 32 or not 1 <= self.draws <= self.challenge.shape.m:
            raise InvalidInputError(
                f"no {self.draws} rows can be drawn", fix="use the draw seed and count of the window"
            )
        if self.commitment is not None and self.elapsed_ms < 1:
            raise InvalidInputError("a commitment arrived in no time", fix="give the median of the members' clocks")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Screened:
    """A case that passed the screen: its place among the cases, its W, and the heads it claims for the drawn rows."""

    position: int
    case: JudgeCase
    w_key: tuple[int, int, int]  # seed of W, n, steps
    rows: tuple[int, ...]
    heads: bytes


def judge_openings(cases: Sequence[JudgeCase], compute: Compute = _REFERENCE) -> tuple[Verdict, ...]:
    """Judge all devices of one or more drawn windows.

    Args:
        cases: what was asked and answered; any order, any mixture of shapes and windows.
        compute: backend that knows its answers (`swarm_chain.reference.backends.choose`).

    Returns:
        One verdict per case, in the order of the cases. `reason` is one of no_commitment, wrong_seed, no_proof (missing);
        wrong_challenge, wrong_commitment, wrong_rows, malformed, wrong_path, false_row (failed); empty (passed). Only
        false_row names a row: it is in the node's own tree, while one with a wrong path may be true and only bait.

    Source: compute-proof.md "Verifying fast" and "Attacks".
    """
    verdicts: dict[int, Verdict] = {}
    screened: list[_Screened] = []
    for position, case in enumerate(cases):
        found = _screen(position, case)
        if isinstance(found, Verdict):
            verdicts[position] = found
        else:
            screened.append(found)
    screened.sort(key=lambda one: one.w_key)
    for w_key, group in groupby(screened, key=lambda one: one.w_key):
        verdicts.update(_compare(w_key, tuple(group), compute))
    return tuple(verdicts[position] for position in range(len(cases)))


def _screen(position: int, case: JudgeCase) -> Verdict | _Screened:
    if case.commitment is None:
        return _verdict(case, Outcome.MISSING, "no_commitment")
    try:
        if case.commitment.window_seed != case.challenge.window.window_seed:
            return _verdict(case, Outcome.MISSING, "wrong_seed")  # of a branch the chain left: void, not a lie
        if not _answers(case.challenge, case.commitment):
            return _verdict(case, Outcome.FAILED, "wrong_challenge")
        if case.proof is None:
            return _verdict(case, Outcome.MISSING, "no_proof")
        rows = draw_rows(case.draw_seed, case.challenge, case.commitment.root, case.draws)
        reason = _fault(case.challenge, case.commitment, case.proof, rows)
        heads = b"".join(opening.head for opening in case.proof.openings)
    except _STUMBLES:
        reason = "malformed"
    if reason:
        return _verdict(case, Outcome.FAILED, reason)
    shape = case.challenge.shape
    w_key = (seed_w(case.challenge.window, shape.n), shape.n, shape.steps)
    return _Screened(position=position, case=case, w_key=w_key, rows=rows, heads=heads)


def _answers(challenge: ComputeChallenge, commitment: Commitment) -> bool:
    shape = challenge.shape
    asked = (challenge.window.window_id, challenge.node, challenge.device, shape.m, shape.n, shape.steps)
    said = (commitment.window_id, commitment.node, commitment.device, commitment.m, commitment.n, commitment.steps)
    return said == asked and len(commitment.root) == NODE_BYTES


def _fault(challenge: ComputeChallenge, commitment: Commitment, proof: Proof, rows: tuple[int, ...]) -> str:
    opened = (proof.window_id, proof.node, proof.device, proof.root)
    if opened != (commitment.window_id, commitment.node, commitment.device, commitment.root):
        return "wrong_commitment"
    if tuple(opening.row for opening in proof.openings) != rows:
        return "wrong_rows"
    if any(len(opening.head) != HEAD_BYTES for opening in proof.openings):
        return "malformed"
    length = challenge.shape.path_length
    if not all(
        _on_path(commitment.root, row, opening, length) for row, opening in zip(rows, proof.openings, strict=True)
    ):
        return "wrong_path"
    return ""


def _on_path(root: Hash32, row: int, opening: Opening, length: int) -> bool:
    leaf = commitment_leaf(row, digest(opening.head))
    return len(opening.path) == length and verify(root, leaf, opening.path)


def _compare(w_key: tuple[int, int, int], group: tuple[_Screened, ...], compute: Compute) -> dict[int, Verdict]:
    seed, n, steps = w_key
    w = compute.weights(seed, n)
    at_once = max(1, compute.chunk_bytes // (n * max(len(one.rows) for one in group)))
    verdicts: dict[int, Verdict] = {}
    for first in range(0, len(group), at_once):
        part = group[first : first + at_once]
        x = np.concatenate([_drawn_rows_of_x(one, n) for one in part])  # (drawn rows of all devices, n) int8
        right = compute.run_chain(x, w, steps).tobytes()
        for one in part:
            size = len(one.rows) * HEAD_BYTES
            verdicts[one.position] = _compared(one, right[:size])
            right = right[size:]
    return verdicts


def _drawn_rows_of_x(one: _Screened, n: int) -> Int8Matrix:
    challenge = one.case.challenge
    seed = seed_x(challenge.window, challenge.node, challenge.device)
    return input_rows(seed, np.array(one.rows, dtype=np.int64), n)


def _compared(one: _Screened, right: bytes) -> Verdict:
    checked = len(one.rows)
    if one.heads != right:
        starts = range(0, len(right), HEAD_BYTES)
        heads = ((one.heads[start : start + HEAD_BYTES], right[start : start + HEAD_BYTES]) for start in starts)
        false = next(row for row, (have, want) in zip(one.rows, heads, strict=True) if have != want)
        return _verdict(one.case, Outcome.FAILED, "false_row", false, rows_checked=checked)
    return _verdict(one.case, Outcome.PASSED, "", rows_checked=checked)


def _verdict(case: JudgeCase, outcome: Outcome, reason: str, row: int | None = None, rows_checked: int = 0) -> Verdict:
    challenge = case.challenge
    return Verdict(
        window_id=challenge.window.window_id,
        node=challenge.node,
        device=challenge.device,
        outcome=outcome,
        reason=reason,
        row=row,
        rows_checked=rows_checked,
        elapsed_ms=case.elapsed_ms,
        mtops=mtops(challenge.shape, case.elapsed_ms) if outcome is Outcome.PASSED else Mtops(0),
    )

"""The dispute over one row of a commitment: every state of the row, the trees the court reads, the ids it keeps.

    trace_row --RowTrace--> hashes, one a state           step_tree: leaf (t, hash_t)
        first_false_step(trace, answer)   --> t           word_tree: leaf (w, bytes 32w … 32w+31 of the row)
        false_column(trace, t, revealed)  --> FalseByte   true_byte: what the court computes itself

Whoever accuses a false row wins if it picks the first false hash: the row before is then true and known to everyone, the
revealed one is not what follows from it, and `true_byte` shows that with one column of W.
Source: docs/spec/compute-court.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swarm_chain.core.compute import (
    HEAD_BYTES,
    MAX_STEPS,
    ComputeChallenge,
    ComputeShape,
    commitment_leaf,
    digest,
    seed_w,
    seed_x,
)
from swarm_chain.core.encoding import keccak, words
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.merkle import build_tree, leaf_hashes, verify
from swarm_chain.core.rowchain import Int8Matrix, input_rows, step, walk_rows, weight_column
from swarm_chain.core.units import ZERO_ADDRESS, Address, Hash32, WindowId

WORD_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class RowTrace:
    """One row of a run after 0, 1, … T steps: T + 1 states of n bytes."""

    row: int
    states: tuple[bytes, ...]

    @property
    def steps(self) -> int:
        """Number of steps T."""
        return len(self.states) - 1

    @property
    def hashes(self) -> tuple[Hash32, ...]:
        """keccak256 of every state: what the accused answers."""
        return tuple(map(keccak, self.states))

    @property
    def head(self) -> bytes:
        """The committed part of the last state, 64 bytes."""
        return self.states[-1][:HEAD_BYTES]


@dataclass(frozen=True, slots=True, kw_only=True)
class FalseByte:
    """A byte of a revealed row that does not follow: both values in [-128, 127]."""

    column: int
    claimed: int
    computed: int


def trace_row(challenge: ComputeChallenge, row: int, w: Int8Matrix) -> RowTrace:
    """Compute one row of a challenge and keep every state; arguments and errors as in `trace_rows`."""
    return trace_rows(challenge, (row,), w)[0]


def trace_rows(challenge: ComputeChallenge, rows: Sequence[int], w: Int8Matrix) -> tuple[RowTrace, ...]:
    """Compute some rows of a challenge and keep every state.

    Args:
        challenge: what the commitment answers.
        rows: row numbers, each in [0, m).
        w: (n, n) int8, W of the challenge's window and n (`weights(seed_w(window, n), n)`); challenges may share it.

    Returns:
        One trace per row, in their order; (steps + 1) · n bytes each.

    Raises:
        InvalidInputError: there is no such row, or W has another size.
    """
    shape = challenge.shape
    if w.shape != (shape.n, shape.n):
        raise InvalidInputError(f"W is {w.shape}, the challenge has n = {shape.n}", fix="generate W for this n")
    for row in rows:
        _require_row(row, shape)
    x = input_rows(_input_seed(challenge), np.array(rows, dtype=np.int64), shape.n)
    walked = [x.tobytes(), *(state.tobytes() for state in walk_rows(x, w, shape.steps))]
    places = range(0, len(rows) * shape.n, shape.n)
    return tuple(
        RowTrace(row=row, states=tuple(state[start : start + shape.n] for state in walked))
        for row, start in zip(rows, places, strict=True)
    )


def true_byte(challenge: ComputeChallenge, row: int, at: int, row_before: bytes, column: int) -> int:
    """Compute one byte of a row after a step, the way the court does: one column of W, one dot product.

    Args:
        challenge: what the commitment answers.
        row: row number, in [0, m).
        at: number of steps done, in [0, steps].
        row_before: the n bytes of the row after at - 1 steps; not read when `at` is 0.
        column: column of the byte, in [0, n).

    Returns:
        The byte that follows, in [-128, 127].

    Raises:
        InvalidInputError: no such row, step or column, or a row of another length.
    """
    shape = challenge.shape
    _require_row(row, shape)
    if not 0 <= at <= shape.steps or not 0 <= column < shape.n:
        raise InvalidInputError(
            f"there is no column {column} after step {at}", fix="stay inside the commitment's shape"
        )
    if at == 0:
        return int(input_rows(_input_seed(challenge), np.array([row], dtype=np.int64), shape.n)[0, column])
    if len(row_before) != shape.n:
        raise InvalidInputError(f"the row before has {len(row_before)} bytes", fix=f"give all {shape.n} of them")
    before = np.frombuffer(row_before, dtype=np.int8)[np.newaxis, :]  # (1, n)
    weights = weight_column(seed_w(challenge.window, shape.n), column, shape.n)[:, np.newaxis]  # (n, 1)
    return int(step(before, weights)[0, 0])


def first_false_step(trace: RowTrace, hashes: Sequence[Hash32], head: bytes) -> int | None:
    """Find the step an accuser picks.

    Args:
        trace: the row as it must be.
        hashes: the T + 1 hashes of the answer.
        head: the 64 bytes of the answer.

    Returns:
        The first step whose hash is false. T if all hashes are true and the head is not: no row can then be revealed.
        None if the answer is true, so that nothing can be proven.

    Raises:
        InvalidInputError: the answer has another number of hashes.
    """
    if len(hashes) != len(trace.states):
        raise InvalidInputError(
            f"{len(hashes)} hashes do not answer {trace.steps} steps", fix=f"give {len(trace.states)} hashes"
        )
    for at, (said, true) in enumerate(zip(hashes, trace.hashes, strict=True)):
        if said != true:
            return at
    return None if head == trace.head else trace.steps


def false_column(trace: RowTrace, at: int, revealed: bytes) -> FalseByte | None:
    """Find the byte an accuser proves false.

    Args:
        trace: the row as it must be.
        at: the picked step, the first false one.
        revealed: the n bytes the accused revealed for it.

    Returns:
        The first byte that differs; None if the revealed row is true.

    Raises:
        InvalidInputError: a row of another length, which the court does not take.
    """
    true = trace.states[at]
    if len(revealed) != len(true):
        raise InvalidInputError(f"the revealed row has {len(revealed)} bytes", fix=f"a row has {len(true)}")
    for column, (said, computed) in enumerate(zip(revealed, true, strict=True)):
        if said != computed:
            return FalseByte(column=column, claimed=_signed(said), computed=_signed(computed))
    return None


def step_tree(hashes: Sequence[Hash32]) -> bytes:
    """Tree over the hashes of an answer, for `pick`.

    Args:
        hashes: T + 1 hashes, T >= 1.

    Returns:
        The tree in the layout of `merkle`; leaf t is double_hash(abi.encode(t, hash_t)).

    Raises:
        InvalidInputError: not the number of hashes an answer can have.
    """
    if not 2 <= len(hashes) <= MAX_STEPS + 1:
        raise InvalidInputError(f"an answer has no {len(hashes)} hashes", fix=f"give 2 to {MAX_STEPS + 1}")
    return build_tree(leaf_hashes(words(at, value) for at, value in enumerate(hashes)))


def word_tree(row: bytes) -> bytes:
    """Tree over the 32-byte words of a revealed row, for `prove`.

    Args:
        row: n bytes, n >= 64.

    Returns:
        The tree in the layout of `merkle`; leaf w is double_hash(abi.encode(w, word_w)).

    Raises:
        InvalidInputError: not whole words, or fewer than two.
    """
    if len(row) % WORD_BYTES or len(row) < 2 * WORD_BYTES:
        raise InvalidInputError(f"{len(row)} bytes are no row", fix="give the n bytes of a row, n >= 64")
    return build_tree(leaf_hashes(words(w, word_of(row, w * WORD_BYTES)) for w in range(len(row) // WORD_BYTES)))


def word_of(row: bytes, column: int) -> Hash32:
    """The 32-byte word of a row that holds the byte of a column."""
    start = column - column % WORD_BYTES
    return Hash32(row[start : start + WORD_BYTES])


def opens_row(root: Hash32, shape: ComputeShape, row: int, head: bytes, path: Sequence[bytes]) -> bool:
    """Tell whether a head and path open a committed leaf, as `answer` demands.

    Args:
        root: root of the commitment.
        shape: shape of the commitment.
        row: row number.
        head: first 64 bytes of the last state.
        path: siblings, leaf upwards.

    Returns:
        True if the head is what was committed for this row, whether it is the true one or not.
    """
    if not 0 <= row < shape.m or len(head) != HEAD_BYTES or len(path) != shape.path_length:
        return False
    return verify(root, commitment_leaf(row, digest(head)), path)


def offence_id(window_id: WindowId, node: Address, device: int, member: Address = ZERO_ADDRESS) -> Hash32:
    """Id of an offence, convicted once: keccak256(abi.encode(windowId, node, device, member)); member zero for the node's own."""
    return keccak(words(window_id, node, device, member))


def accusation_id(offence: Hash32, commitment_hash: Hash32, row: int, accuser: Address) -> Hash32:
    """Id of an accused row: keccak256(abi.encode(offenceId, commitmentHash, row, accuser)), once for each accuser."""
    return keccak(words(offence, commitment_hash, row, accuser))


def seal_hash(accuser: Address, subject: Hash32, salt: Hash32) -> Hash32:
    """What is noted before an accusation: keccak256(abi.encode(accuser, subject, salt)).

    Args:
        accuser: who will accuse; nobody else can use the seal.
        subject: accusation id, or offence id to show an equivocation.
        salt: 32 random bytes, kept until the accusation is on chain.
    """
    return keccak(words(accuser, subject, salt))


def draw_counter(draw_seed: Hash32, challenge: ComputeChallenge, root: Hash32, row: int, draws: int) -> int | None:
    """Find the counter below `draws` that drew a row, which shows that an oracle member had to look at it.

    Args:
        draw_seed: 32 bytes, stored on chain after the window closed.
        challenge: gives node, device and m.
        root: the committed root.
        row: an opened row.
        draws: how many rows the member says it drew.

    Returns:
        The smallest such counter; None if the row is not among the first `draws` draws.
    """
    prefix = words(draw_seed, challenge.node, challenge.device, root)
    for counter in range(draws):
        if int.from_bytes(keccak(prefix + words(counter)), "big") % challenge.shape.m == row:
            return counter
    return None


def _input_seed(challenge: ComputeChallenge) -> int:
    return seed_x(challenge.window, challenge.node, challenge.device)


def _require_row(row: int, shape: ComputeShape) -> None:
    if not 0 <= row < shape.m:
        raise InvalidInputError(f"the commitment has no row {row}", fix=f"use a row from 0 to {shape.m - 1}")


def _signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte

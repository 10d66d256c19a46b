"""Golden dispute: columns of W, trees of the court, and a small commitment with every state of every row, true and false."""

from dataclasses import dataclass

import numpy as np

from swarm_chain.core import compute, court, merkle, rowchain, signing, verdicts
from swarm_chain.core.encoding import keccak, to_hex, words
from swarm_chain.core.model import Commitment
from swarm_chain.core.units import EpochNumber, Hash32, window_id
from swarm_chain.testing import FakeSigner
from tools.golden.form import CHAIN_ID, Document, hexes, sample_address, sample_hash, text

NODE, MEMBER, ACCUSER = FakeSigner("golden node"), FakeSigner("golden member"), FakeSigner("golden accuser")
SHAPE = compute.ComputeShape(m=64, n=64, steps=4)
SIZES = tuple(2**power for power in range(6, 14))
COUNTS = (2, 3, 5, 8, 65, 1025)
DRAWS = 8
_BEFORE = {"prevrandao": "prevrandao", "previousBlockHash": "block n-1", "secret": "secret"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lie:
    """A row that is true up to a step, where one byte is another, and follows from the false state after it."""

    row: int
    step: int
    column: int


LIE = _Lie(row=9, step=2, column=33)


def court_document() -> Document:
    """A commitment of 64 rows that can be accused, the same with one false row, and what the court hashes."""
    before = {name: sample_hash(f"court {label}") for name, label in _BEFORE.items()}
    window = compute.ComputeWindow(
        chain_id=CHAIN_ID,
        beacon=sample_address("ChallengeBeacon"),
        window_id=window_id(EpochNumber(3), 1),
        window_seed=keccak(words(*before.values())),
    )
    question = compute.ComputeChallenge(window=window, node=NODE.address, device=2, shape=SHAPE)
    return {
        "chainId": str(CHAIN_ID),
        **{name: to_hex(value) for name, value in before.items()},
        **_window_fields(question),
        **_game(question),
        "columns": _columns(window),
        "trees": {"counts": list(map(str, COUNTS)), "roots": hexes([_counted_root(count) for count in COUNTS])},
    }


def _window_fields(question: compute.ComputeChallenge) -> Document:
    window, shape = question.window, question.shape
    return {
        "beacon": window.beacon,
        "windowId": str(window.window_id),
        "windowSeed": to_hex(window.window_seed),
        "node": question.node,
        "device": str(question.device),
        **{name: str(getattr(shape, name)) for name in ("m", "n", "steps")},
    }


def _game(question: compute.ComputeChallenge) -> Document:
    w = rowchain.weights(compute.seed_w(question.window, SHAPE.n), SHAPE.n)
    traces = court.trace_rows(question, range(SHAPE.m), w)
    lie = _lie(traces[LIE.row], w)
    heads = [trace.head for trace in traces]
    false_heads = [lie.head if row == LIE.row else head for row, head in enumerate(heads)]
    tree, false_tree = (compute.commitment_tree(b"".join(each)) for each in (heads, false_heads))
    drawn_block, commitments_root = sample_hash("court block c+2"), sample_hash("court commitments")
    draw_seed = keccak(words(drawn_block, question.window.window_seed, commitments_root))
    return {
        "states": [to_hex(b"".join(trace.states)) for trace in traces],
        "commitmentsRoot": to_hex(commitments_root),
        "drawBlockHash": to_hex(drawn_block),
        "drawSeed": to_hex(draw_seed),
        "drawnRows": [str(row) for row in compute.draw_rows(draw_seed, question, merkle.root(tree), DRAWS)],
        "true": _signed(question, merkle.root(tree)),
        "false": _signed(question, merkle.root(false_tree)),
        "lie": {name: str(getattr(LIE, name)) for name in ("row", "step", "column")}
        | {"states": to_hex(b"".join(lie.states)), "path": hexes(merkle.path(false_tree, LIE.row))},
        "dispute": _dispute(question, merkle.root(tree), lie),
    }


def _lie(trace: court.RowTrace, w: rowchain.Int8Matrix) -> court.RowTrace:
    told = bytearray(trace.states[LIE.step])
    told[LIE.column] ^= 1
    x = np.frombuffer(bytes(told), dtype=np.int8)[np.newaxis, :]  # (1, n)
    later = (state.tobytes() for state in rowchain.walk_rows(x, w, SHAPE.steps - LIE.step))
    return court.RowTrace(row=LIE.row, states=(*trace.states[: LIE.step], bytes(told), *later))


def _commitment(question: compute.ComputeChallenge, root: Hash32) -> Commitment:
    window, shape = question.window, question.shape
    return Commitment(
        window_id=window.window_id,
        window_seed=window.window_seed,
        node=question.node,
        device=question.device,
        m=shape.m,
        n=shape.n,
        steps=shape.steps,
        root=root,
    )


def _signed(question: compute.ComputeChallenge, root: Hash32) -> Document:
    promise = _commitment(question, root)
    domain = signing.domain_separator(CHAIN_ID, question.window.beacon)
    return {
        "root": to_hex(root),
        "hash": to_hex(signing.commitment_hash(promise)),
        "signature": to_hex(NODE.sign_typed(domain, signing.commitment_hash(promise))),
    }


def _dispute(question: compute.ComputeChallenge, root: Hash32, lie: court.RowTrace) -> Document:
    promised = signing.commitment_hash(_commitment(question, root))
    offence = court.offence_id(question.window.window_id, question.node, question.device)
    accusation, salt = court.accusation_id(offence, promised, LIE.row, ACCUSER.address), sample_hash("salt")
    passed = verdicts.PassedVerdicts(
        epoch=EpochNumber(3), member=MEMBER.address, draws=DRAWS, passed_root=verdicts.passed_root([promised])
    )
    domain = signing.domain_separator(CHAIN_ID, question.window.beacon)
    return {
        "accuser": ACCUSER.address,
        "salt": to_hex(salt),
        "offenceId": to_hex(offence),
        "memberOffenceId": to_hex(
            court.offence_id(question.window.window_id, question.node, question.device, MEMBER.address)
        ),
        "accusationId": to_hex(accusation),
        "sealHash": to_hex(court.seal_hash(ACCUSER.address, accusation, salt)),
        "stepsRoot": to_hex(merkle.root(court.step_tree(lie.hashes))),
        "wordsRoot": to_hex(merkle.root(court.word_tree(lie.states[LIE.step]))),
        "member": MEMBER.address,
        "passedRoot": to_hex(passed.passed_root),
        "passedPath": hexes(merkle.path(verdicts.passed_tree([promised]), 0)),
        "passedSignature": to_hex(MEMBER.sign_typed(domain, verdicts.verdicts_hash(passed))),
    }


def _columns(window: compute.ComputeWindow) -> Document:
    cases = [_column_case(window, n) for n in SIZES]
    return {name: [text(case[name]) for case in cases] for name in cases[0]}


def _column_case(window: compute.ComputeWindow, n: int) -> dict[str, int | bytes]:
    """Column and row n/2 + 3 of their matrices, and the byte that follows from them."""
    seed_w, seed_x, at = compute.seed_w(window, n), compute.seed_x(window, NODE.address, 2), n // 2 + 3
    weights = rowchain.weight_column(seed_w, at, n)
    row = rowchain.input_rows(seed_x, np.array([at], dtype=np.int64), n)
    return {
        "n": n,
        "seedW": seed_w,
        "column": at,
        "columnHash": keccak(weights.tobytes()),
        "columnHead": weights.tobytes()[:32],
        "row": at,
        "rowHash": keccak(row.tobytes()),
        "inputEntry": int(row[0, at]),
        "stepEntry": int(rowchain.step(row, weights[:, np.newaxis])[0, 0]),
    }


def _counted_root(count: int) -> Hash32:
    return merkle.root(court.step_tree([keccak(text(at).encode()) for at in range(count)]))

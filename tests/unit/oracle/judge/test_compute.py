"""The judge passes what is right, in any mixture, and one device's nonsense costs no other device its verdict."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from oracle.judge.compute import JudgeCase, judge_openings
from swarm_chain.core.compute import ComputeShape, ComputeWindow, mtops
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.model import Verdict
from swarm_chain.core.rowchain import Int8Matrix, NumpyCompute
from swarm_chain.core.units import WindowId
from tests.compute_world import ALICE, CHALLENGE, DRAWS, ELAPSED_MS, MALLORY, SHAPE, WINDOW, case_of, honest_run

HONEST = case_of(honest_run())


class Counting(NumpyCompute):
    """The reference; remembers how many rows each multiplication took."""

    def __init__(self) -> None:
        self.rows_at_once: list[int] = []

    def run_chain(self, x: Int8Matrix, w: Int8Matrix, steps: int) -> Int8Matrix:
        self.rows_at_once.append(len(x))
        return super().run_chain(x, w, steps)


def opened_with(**changes: Any) -> JudgeCase:
    """The honest case with something of its first opening replaced."""
    assert HONEST.proof is not None
    first, *rest = HONEST.proof.openings
    return replace(HONEST, proof=replace(HONEST.proof, openings=(replace(first, **changes), *rest)))


def test_honest_proof_passes_with_its_measured_rate() -> None:
    (verdict,) = judge_openings([HONEST])

    assert verdict == Verdict(
        window_id=WINDOW.window_id,
        node=ALICE,
        device=0,
        outcome=Outcome.PASSED,
        rows_checked=DRAWS,
        elapsed_ms=ELAPSED_MS,
        mtops=mtops(SHAPE, ELAPSED_MS),
    )


def test_no_cases_give_no_verdicts() -> None:
    assert judge_openings([]) == ()


def test_mixture_of_windows_shapes_and_devices_is_judged_in_the_order_given() -> None:
    shapes = [
        SHAPE,
        ComputeShape(m=128, n=64, steps=3),
        ComputeShape(m=64, n=128, steps=2),
        ComputeShape(m=64, n=64, steps=2),
    ]
    windows = [WINDOW, replace(WINDOW, window_id=WindowId(7))]
    challenges = [
        replace(CHALLENGE, window=window, shape=shape, node=node, device=device)
        for device, shape in enumerate(shapes)
        for window in windows
        for node in (ALICE, MALLORY)
    ]

    verdicts = judge_openings([case_of(honest_run(challenge)) for challenge in challenges])

    assert [(v.window_id, v.node, v.device) for v in verdicts] == [
        (c.window.window_id, c.node, c.device) for c in challenges
    ]
    assert {v.outcome for v in verdicts} == {Outcome.PASSED}


def test_devices_that_share_w_are_multiplied_together() -> None:
    compute = Counting()
    cases = [case_of(honest_run(replace(CHALLENGE, device=device))) for device in range(5)]

    verdicts = judge_openings(cases, compute)

    assert compute.rows_at_once == [5 * DRAWS]
    assert all(verdict.outcome is Outcome.PASSED for verdict in verdicts)


def test_batch_larger_than_a_chunk_is_cut_without_changing_a_verdict() -> None:
    compute = Counting()
    compute.chunk_bytes = 2 * DRAWS * SHAPE.n
    cases = [case_of(honest_run(replace(CHALLENGE, device=device))) for device in range(5)]
    cases[3] = replace(cases[3], proof=cases[0].proof)

    outcomes = [verdict.outcome for verdict in judge_openings(cases, compute)]

    assert compute.rows_at_once == [2 * DRAWS, 2 * DRAWS]
    assert outcomes == [Outcome.PASSED, Outcome.PASSED, Outcome.PASSED, Outcome.FAILED, Outcome.PASSED]


def test_device_that_committed_nothing_is_missing() -> None:
    (verdict,) = judge_openings([replace(HONEST, commitment=None, proof=None, elapsed_ms=0)])

    assert (verdict.outcome, verdict.reason, verdict.mtops) == (Outcome.MISSING, "no_commitment", 0)


def test_device_that_opened_nothing_is_missing() -> None:
    (verdict,) = judge_openings([replace(HONEST, proof=None)])

    assert (verdict.outcome, verdict.reason, verdict.mtops) == (Outcome.MISSING, "no_proof", 0)


@pytest.mark.parametrize(
    "nonsense",
    [
        {"head": b""},
        {"head": bytes(63)},
        {"head": bytes(65)},
        {"head": None},
        {"head": "a" * 64},
        {"head": 2**64},
        {"head": float("nan")},
        {"path": None},
        {"path": ()},
        {"path": (b"",) * 6},
        {"path": (bytes(31),) * 6},
        {"path": (None,) * 6},
        {"path": ("a" * 32,) * 6},
        {"path": 2**64},
        {"row": None},
        {"row": -1},
        {"row": 2**64},
        {"row": "0"},
        {"row": float("nan")},
    ],
    ids=str,
)
def test_malformed_opening_fails_and_costs_the_others_nothing(nonsense: dict[str, Any]) -> None:
    other = case_of(honest_run(replace(CHALLENGE, device=1)))

    before, verdict, after = judge_openings([HONEST, opened_with(**nonsense), other])

    assert verdict.outcome is Outcome.FAILED
    assert verdict.reason in {"malformed", "wrong_rows", "wrong_path"}
    assert (before.outcome, after.outcome) == (Outcome.PASSED, Outcome.PASSED)


@pytest.mark.parametrize("openings", [None, 5, (None,) * DRAWS, ("x",) * DRAWS, ({},) * DRAWS], ids=str)
def test_openings_of_a_wrong_kind_fail_and_cost_the_others_nothing(openings: Any) -> None:
    assert HONEST.proof is not None
    broken = replace(HONEST, proof=replace(HONEST.proof, openings=openings))

    verdict, other = judge_openings([broken, HONEST])

    assert (verdict.outcome, verdict.reason) == (Outcome.FAILED, "malformed")
    assert other.outcome is Outcome.PASSED


@pytest.mark.parametrize("root", [None, b"", bytes(31), "a" * 32, 2**256], ids=str)
def test_root_of_a_wrong_kind_fails(root: Any) -> None:
    assert HONEST.commitment is not None
    assert HONEST.proof is not None
    broken = replace(HONEST, commitment=replace(HONEST.commitment, root=root), proof=replace(HONEST.proof, root=root))

    (verdict,) = judge_openings([broken])

    assert verdict.outcome is Outcome.FAILED


@pytest.mark.parametrize("wrong", [{"draws": 0}, {"draws": 65}, {"draw_seed": bytes(31)}, {"elapsed_ms": 0}])
def test_mistake_of_the_member_itself_is_an_error_and_not_a_verdict(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        replace(HONEST, **wrong)


def test_judge_does_not_depend_on_the_order_of_cases() -> None:
    cases = [case_of(honest_run(replace(CHALLENGE, device=device))) for device in range(6)]
    cases[2] = replace(cases[2], proof=None)
    shuffled = np.random.default_rng(1).permutation(len(cases)).tolist()

    straight = judge_openings(cases)

    assert judge_openings([cases[i] for i in shuffled]) == tuple(straight[i] for i in shuffled)


def test_window_of_another_contract_is_another_challenge() -> None:
    elsewhere = ComputeWindow(
        chain_id=WINDOW.chain_id, beacon=MALLORY, window_id=WINDOW.window_id, window_seed=WINDOW.window_seed
    )
    (verdict,) = judge_openings([replace(HONEST, challenge=replace(CHALLENGE, window=elsewhere))])

    assert (verdict.outcome, verdict.reason) == (Outcome.FAILED, "false_row")

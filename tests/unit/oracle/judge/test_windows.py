"""Whole windows: owed, committed, late, doubled, judged; and the cheaters of compute-proof.md that reach this far."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from oracle.judge.windows import (
    WindowEvidence,
    commitments_root,
    find_equivocations,
    judge_windows,
    owed_shapes,
)
from oracle.model import Plan
from swarm_chain.core import merkle
from swarm_chain.core.compute import ComputeShape, ComputeWindow
from swarm_chain.core.encoding import double_hash, keccak
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.model import Proof, WindowRecord
from swarm_chain.core.signing import commitment_hash
from swarm_chain.core.units import ZERO_HASH, Address
from tests.oracle_world import CHAIN_ID, NETWORK, PARAMS, SHAPE, Run, address, commit, drawn, opened, prove, run

OPEN = opened(1, 0)
ALICE, BOB, MALLORY = (run(OPEN, "alice"), run(OPEN, "bob"), run(OPEN, "mallory", garbage_from=128))
DRAWN = drawn(OPEN, (ALICE.signed, BOB.signed, MALLORY.signed))


def _device(done: Run) -> tuple[Address, int]:
    return done.commitment.node, done.commitment.device


def _evidence(
    *runs: Run,
    window: WindowRecord = DRAWN,
    proofs: Mapping[str, Proof] | None = None,
    late: tuple[str, ...] = (),
    doubled: tuple[str, ...] = (),
    owed: tuple[str, ...] = ("alice", "bob", "mallory"),
) -> WindowEvidence:
    given = {done.node: prove(done, window).proof for done in runs} if proofs is None else proofs
    return WindowEvidence(
        window=ComputeWindow(
            chain_id=CHAIN_ID, beacon=NETWORK.beacon, window_id=window.window_id, window_seed=window.window_seed
        ),
        draw_seed=window.draw_seed,
        draws=PARAMS.compute.draws,
        owed={(address(node), 0): SHAPE for node in owed},
        commitments={_device(done): done.commitment for done in runs},
        proofs={(address(node), 0): proof for node, proof in given.items()},
        elapsed_ms={_device(done): 1 for done in runs if done.node not in late},
        doubled=frozenset((address(node), 0) for node in doubled),
    )


def _found(evidence: WindowEvidence) -> dict[str, tuple[str, str]]:
    names = {address(name): name for name in ("alice", "bob", "mallory", "stranger")}
    return {names[v.node]: (v.outcome.value, v.reason) for v in judge_windows((evidence,))}


def test_window_when_all_commit_then_honest_ones_pass_and_the_liar_fails() -> None:
    assert _found(_evidence(ALICE, BOB, MALLORY)) == {
        "alice": ("passed", ""),
        "bob": ("passed", ""),
        "mallory": ("failed", "false_row"),
    }


def test_window_when_a_device_is_silent_then_missing() -> None:
    found = _found(_evidence(ALICE, BOB, proofs={"alice": prove(ALICE, DRAWN).proof}))

    assert found["bob"] == ("missing", "no_proof")
    assert found["mallory"] == ("missing", "no_commitment")


def test_window_when_most_members_did_not_hear_the_commitment_then_late_but_no_lie() -> None:
    assert _found(_evidence(ALICE, late=("alice",)))["alice"] == ("missing", "late")


def test_window_when_a_device_signed_twice_then_failed_even_with_a_true_proof() -> None:
    assert _found(_evidence(ALICE, doubled=("alice",)))["alice"] == ("failed", "equivocation")


def test_window_when_a_device_without_plan_commits_then_not_planned() -> None:
    stranger = run(OPEN, "stranger")

    assert _found(_evidence(stranger))["stranger"] == ("failed", "not_planned")


def test_window_when_another_shape_was_run_then_wrong_challenge() -> None:
    half = run(OPEN, "alice", shape=replace(SHAPE, steps=SHAPE.steps - 1))
    evidence = _evidence(half, proofs={})

    assert _found(evidence)["alice"] == ("failed", "wrong_challenge")


def test_window_when_the_openings_are_of_another_window_then_failed() -> None:
    other = opened(1, 1)
    old = prove(run(other, "alice"), drawn(other, ())).proof

    assert _found(_evidence(ALICE, proofs={"alice": old}))["alice"] == ("failed", "wrong_commitment")


def test_window_when_no_rate_can_be_infinite_then_a_millisecond_is_the_least() -> None:
    evidence = replace(_evidence(ALICE), elapsed_ms={_device(ALICE): 0})

    verdict = next(v for v in judge_windows((evidence,)) if v.outcome is Outcome.PASSED)

    assert (verdict.elapsed_ms, verdict.mtops) == (1, 16)


def test_windows_when_judged_together_or_alone_then_the_same_verdicts() -> None:
    second = opened(1, 1)
    done = run(second, "alice")
    other = _evidence(done, window=drawn(second, (done.signed,)))
    first = _evidence(ALICE, BOB, MALLORY)

    together = judge_windows((other, first))

    assert together == judge_windows((first,)) + judge_windows((other,))


def test_root_when_commitments_come_in_any_order_then_the_same() -> None:
    commitments = [ALICE.commitment, BOB.commitment, MALLORY.commitment]

    assert commitments_root(commitments) == commitments_root(reversed(commitments)) == DRAWN.commitments_root


def test_root_when_one_commitment_then_padded_and_when_none_then_zero() -> None:
    leaf = double_hash(commitment_hash(ALICE.commitment))

    assert commitments_root([ALICE.commitment]) == merkle.node_hash(leaf, double_hash(ZERO_HASH))
    assert commitments_root([]) == ZERO_HASH


def test_equivocation_when_two_roots_were_signed_then_found_once_in_order() -> None:
    roots = [keccak(b"%d" % number) for number in range(3)]
    doubles = [commit("alice", replace(ALICE.commitment, root=root)) for root in roots]

    (pair,) = find_equivocations([ALICE.signed, *doubles, BOB.signed, ALICE.signed])

    low, high = sorted(commitment_hash(s.commitment) for s in (ALICE.signed, *doubles))[:2]
    assert (commitment_hash(pair.first.commitment), commitment_hash(pair.second.commitment)) == (low, high)


def test_equivocation_when_the_seeds_differ_then_none() -> None:
    elsewhere = commit("alice", replace(ALICE.commitment, window_seed=keccak(b"another branch"), root=keccak(b"root")))

    assert find_equivocations([ALICE.signed, elsewhere]) == ()


def test_equivocation_when_the_same_commitment_comes_twice_or_for_another_window_then_none() -> None:
    other = run(opened(1, 1), "alice")

    assert find_equivocations([ALICE.signed, ALICE.signed, other.signed]) == ()


@pytest.mark.parametrize(
    ("planned", "expected"),
    [
        ((), {0: PARAMS.compute.first_steps}),
        (((0, 12),), {0: 12}),
        (((0, 12), (1, 9)), {0: 12, 1: 9}),
        (((1, 9),), {1: 9}),
    ],
)
def test_owed_when_a_node_has_plans_then_those_and_else_device_zero(
    planned: tuple[tuple[int, int], ...], expected: dict[int, int]
) -> None:
    m, n = PARAMS.compute.m, PARAMS.compute.n
    plans = [Plan(node=address("a"), device=device, m=m, n=n, steps=steps) for device, steps in planned]

    owed = owed_shapes([address("a")], plans, PARAMS.compute)

    assert owed == {(address("a"), device): ComputeShape(m=m, n=n, steps=steps) for device, steps in expected.items()}

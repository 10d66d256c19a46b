"""Honest and dishonest provers of small runs, for every test that judges one."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from node.prove import ComputeRun, commitment_of, final_heads, prove_rows, restore_run
from oracle.judge.compute import JudgeCase
from swarm_chain.core.compute import ComputeChallenge, ComputeShape, ComputeWindow, draw_rows, seed_w, seed_x
from swarm_chain.core.encoding import keccak
from swarm_chain.core.merkle import root
from swarm_chain.core.rowchain import Int8Matrix, Int32Matrix, NumpyCompute, input_rows, weights
from swarm_chain.core.units import Address, Hash32, WindowId

VECTORS = Path(__file__).parent / "golden" / "compute_proof.json"

ALICE = Address("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
MALLORY = Address("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC")
WINDOW = ComputeWindow(
    chain_id=31337,
    beacon=Address("0x00000000000000000000000000000000000bEaC0"),
    window_id=WindowId(1 << 16),
    window_seed=keccak(b"window seed"),
)
SHAPE = ComputeShape(m=64, n=64, steps=3)
CHALLENGE = ComputeChallenge(window=WINDOW, node=ALICE, device=0, shape=SHAPE)
DRAW_SEED = keccak(b"draw seed")
DRAWS = 8
ELAPSED_MS = 1000

# One step of some arithmetic: exact products (r, n) int32 in, next state (r, n) int8 out.
Rescale = Callable[[Int32Matrix], Int8Matrix]


def honest_run(challenge: ComputeChallenge = CHALLENGE) -> ComputeRun:
    """A run done right."""
    return restore_run(challenge, final_heads(challenge, NumpyCompute()))


def run_with(challenge: ComputeChallenge, rescale: Rescale) -> ComputeRun:
    """A run whose steps are done by another rule than the protocol's."""
    shape = challenge.shape
    x = input_rows(seed_x(challenge.window, challenge.node, challenge.device), np.arange(shape.m), shape.n)
    w = weights(seed_w(challenge.window, shape.n), shape.n).astype(np.int32)
    for _ in range(shape.steps):
        x = rescale(x.astype(np.int32) @ w)
    return restore_run(challenge, x[:, :64].tobytes())


def lazy_run(challenge: ComputeChallenge, done: int) -> ComputeRun:
    """A run of which only the first `done` rows were computed; the rest is made up."""
    heads = honest_run(challenge).heads[: done * 64]
    return restore_run(challenge, heads + bytes((challenge.shape.m - done) * 64))


def drawn(run: ComputeRun, draw_seed: Hash32 = DRAW_SEED, draws: int = DRAWS) -> tuple[int, ...]:
    """Rows the protocol draws for a run's commitment."""
    return draw_rows(draw_seed, run.challenge, root(run.tree), draws)


def case_of(run: ComputeRun, draw_seed: Hash32 = DRAW_SEED, draws: int = DRAWS) -> JudgeCase:
    """The case of a prover that commits to its run and opens what is drawn."""
    return JudgeCase(
        challenge=run.challenge,
        draw_seed=draw_seed,
        draws=draws,
        elapsed_ms=ELAPSED_MS,
        commitment=commitment_of(run),
        proof=prove_rows(run, drawn(run, draw_seed, draws)),
    )


def relabelled(run: ComputeRun, challenge: ComputeChallenge) -> ComputeRun:
    """Somebody's finished run handed in as the answer to another challenge."""
    return replace(run, challenge=challenge)

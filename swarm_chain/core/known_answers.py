"""Known answers of the row chain: what every backend must give before it may prove or judge.

The answers come from an independent implementation (the vectors of compute-proof.md). A root covers all rows of a run,
and every column of each state but the last.
"""

from dataclasses import dataclass

import numpy as np

from swarm_chain.core.compute import ComputeShape, commitment_tree
from swarm_chain.core.merkle import root
from swarm_chain.core.rowchain import Compute
from swarm_chain.core.units import Hash32


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswer:
    """One run and the root it must commit to."""

    seed_x: int
    seed_w: int
    shape: ComputeShape
    root: Hash32


KNOWN_ANSWERS = (
    KnownAnswer(
        seed_x=0x1AE1CE6985095498,
        seed_w=0x94E1D1016D0B9762,
        shape=ComputeShape(m=64, n=64, steps=1),
        root=Hash32(bytes.fromhex("ce5f20da131f47eceda3656d6cfd9306f49e1e5e917136d9f0cc1ddaf4c0484b")),
    ),
    KnownAnswer(
        seed_x=0x56F413CA84CA0E09,
        seed_w=0xF47A1CAC12D940AB,
        shape=ComputeShape(m=128, n=256, steps=5),
        root=Hash32(bytes.fromhex("22b6b1cd9ac6bc8ddc5e2797f01ea7cb58fa38a68dbbbc1ee1442e2acff57be6")),
    ),
    KnownAnswer(
        seed_x=0x607E143302CED31F,
        seed_w=0x294C62E5DED3A8AB,
        shape=ComputeShape(m=256, n=1024, steps=3),
        root=Hash32(bytes.fromhex("7315c90c7c3ba33d1f44d43610c303d9ca67dace15e153e3304f06675feea8ee")),
    ),
)


def wrong_answers(compute: Compute, answers: tuple[KnownAnswer, ...] = KNOWN_ANSWERS) -> tuple[KnownAnswer, ...]:
    """Run the known cases on a backend.

    Args:
        compute: the backend to examine.
        answers: cases to run.

    Returns:
        The cases it got wrong; empty if it may be trusted.
    """
    return tuple(answer for answer in answers if _root(compute, answer) != answer.root)


def _root(compute: Compute, answer: KnownAnswer) -> Hash32:
    shape = answer.shape
    x = compute.rows(answer.seed_x, np.arange(shape.m, dtype=np.int64), shape.n)
    heads = compute.run_chain(x, compute.weights(answer.seed_w, shape.n), shape.steps)
    return root(commitment_tree(heads.tobytes()))

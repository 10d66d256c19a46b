"""Proofs judged a second, many devices at once, against the time to make one proof and the machine's own int8 rate."""

import argparse
from dataclasses import replace
from itertools import cycle, islice
from statistics import median

import torch
from _report import Result, print_report, seconds_of

from node.prove import commitment_of, prove, prove_rows
from oracle.judge.compute import JudgeCase, judge_openings
from swarm_chain.core.compute import ComputeChallenge, ComputeShape, ComputeWindow, draw_rows
from swarm_chain.core.encoding import keccak
from swarm_chain.core.known_answers import wrong_answers
from swarm_chain.core.merkle import root
from swarm_chain.core.model import Outcome
from swarm_chain.core.units import Address, WindowId
from swarm_chain.reference.rowchain_torch import TorchCompute

SHAPE = ComputeShape(m=4096, n=1024, steps=64)
DRAWS = 32
WINDOW = ComputeWindow(
    chain_id=31337,
    beacon=Address("0x00000000000000000000000000000000000bEaC0"),
    window_id=WindowId(1 << 16),
    window_seed=keccak(b"bench"),
)
NODE = Address("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")


def honest_case(device: int, compute: TorchCompute) -> JudgeCase:
    """The case of one device that did all of its work."""
    challenge = ComputeChallenge(window=WINDOW, node=NODE, device=device, shape=SHAPE)
    run = prove(challenge, compute, ())
    draw_seed = keccak(b"draw")
    rows = draw_rows(draw_seed, challenge, root(run.tree), DRAWS)
    return JudgeCase(
        challenge=challenge,
        draw_seed=draw_seed,
        draws=DRAWS,
        elapsed_ms=1000,
        commitment=commitment_of(run),
        proof=prove_rows(run, rows),
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", type=int, default=64, help="devices judged at once")
    parser.add_argument("--proofs", type=int, default=8, help="different proofs among them, each judged several times")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    compute = TorchCompute("cpu", torch.get_num_threads())
    assert not wrong_answers(compute), "the backend does not know its answers"
    proofs = [honest_case(device, compute) for device in range(min(options.proofs, options.devices))]
    cases = list(islice(cycle(proofs), options.devices))
    # One false byte, so that a judge that passes everything could not be measured.
    cases[0] = replace(cases[0], commitment=proofs[-1].commitment)
    outcomes = [verdict.outcome for verdict in judge_openings(cases, compute)]
    assert outcomes == [Outcome.FAILED] + [Outcome.PASSED] * (len(cases) - 1)
    cases[0] = proofs[0]

    x = torch.randint(-128, 128, (options.devices * DRAWS, SHAPE.n), dtype=torch.int8)
    w = torch.randint(-64, 64, (SHAPE.n, SHAPE.n), dtype=torch.int8)
    judging, proving, bare = seconds_of(
        lambda: judge_openings(cases, compute),
        lambda: prove(proofs[0].challenge, compute, (1, 2)),
        lambda: [torch._int_mm(x, w) for _ in range(SHAPE.steps)],
        rounds=options.rounds + 1,
    )
    judge_s, prove_s, bare_s = median(judging[1:]), median(proving[1:]), median(bare[1:])
    each = judge_s / options.devices
    print_report(
        "judge",
        [
            Result(name="proofs judged, cpu preset", value=1 / each, unit="proofs/s", goal=100),
            Result(name="proving over judging", value=each, unit="s", baseline=prove_s, ratio=prove_s / each, goal=100),
            Result(
                name="share of the machine's int8 products",
                value=judge_s,
                unit="s",
                baseline=bare_s,
                ratio=bare_s / judge_s,
                goal=0.8,
            ),
        ],
    )


if __name__ == "__main__":
    main()

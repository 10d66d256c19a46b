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
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.known_answers import wrong_answers
from swarm_chain.core.merkle import root
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


def honest_cases(devices: int, proofs: int, compute: TorchCompute) -> list[JudgeCase]:
    """So many cases, over so many different proofs; the judge is seen to refuse a false one among them."""
    made = [honest_case(device, compute) for device in range(min(proofs, devices))]
    cases = list(islice(cycle(made), devices))
    false_case = replace(cases[0], commitment=made[-1].commitment)
    outcomes = [verdict.outcome for verdict in judge_openings([false_case, *cases], compute)]
    assert outcomes == [Outcome.FAILED] + [Outcome.PASSED] * devices, "the judge is wrong"
    return cases


def measure(devices: int, proofs: int, rounds: int) -> tuple[float, float, float]:
    """Typical seconds of judging all devices, of proving once, and of the products alone that judging needs."""
    compute = TorchCompute("cpu", torch.get_num_threads())
    assert not wrong_answers(compute), "the backend does not know its answers"
    cases = honest_cases(devices, proofs, compute)
    x = torch.randint(-128, 128, (devices * DRAWS, SHAPE.n), dtype=torch.int8)
    w = torch.randint(-64, 64, (SHAPE.n, SHAPE.n), dtype=torch.int8)
    product = torch.empty((devices * DRAWS, SHAPE.n), dtype=torch.int32)

    def multiply() -> None:
        for _ in range(SHAPE.steps):
            torch._int_mm(x, w, out=product)

    judging, proving, bare = seconds_of(
        lambda: judge_openings(cases, compute),
        lambda: prove(cases[0].challenge, compute, (1, 2)),
        multiply,
        rounds=rounds + 1,
    )
    return median(judging[1:]), median(proving[1:]), median(bare[1:])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", type=int, default=64, help="devices judged at once")
    parser.add_argument("--proofs", type=int, default=8, help="different proofs among them, each judged several times")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    judge_s, prove_s, bare_s = measure(options.devices, options.proofs, options.rounds)
    each = judge_s / options.devices
    share = Result(
        name="share of the machine's int8 products",
        value=judge_s,
        unit="s",
        baseline=bare_s,
        ratio=bare_s / judge_s,
        goal=0.8,
    )
    rate = Result(name="proofs judged, cpu preset", value=1 / each, unit="proofs/s", goal=150)
    against = Result(
        name="proving over judging", value=each, unit="s", baseline=prove_s, ratio=prove_s / each, goal=100
    )
    print_report("judge", [rate, against, share])


if __name__ == "__main__":
    main()

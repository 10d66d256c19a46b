"""Rate of the whole prove() against bare int8 products of the same shapes: how much the proof costs beside the work.

The bare run multiplies the same number of times and nothing else: no generation, no step, no hashing, no self-check.
"""

import argparse
import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter_ns

import torch
from _report import Result, print_report, seconds_of, typical_ratio

from node.prove import prove
from swarm_chain.core.compute import ComputeChallenge, ComputeShape, ComputeWindow
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.rowchain import Compute
from swarm_chain.core.units import Address, WindowId
from swarm_chain.reference.backends import candidates, choose

PRESETS = {
    "minimal": ComputeShape(m=1024, n=256, steps=8),
    "cpu": ComputeShape(m=4096, n=1024, steps=64),
    "gpu": ComputeShape(m=65_536, n=4096, steps=256),
    "gpu-large": ComputeShape(m=131_072, n=8192, steps=128),
}
GOALS = {"cpu": 0.85, "cuda": 0.70}


def challenge_of(shape: ComputeShape) -> ComputeChallenge:
    """Some challenge of a shape."""
    window = ComputeWindow(
        chain_id=31337,
        beacon=Address("0x00000000000000000000000000000000000bEaC0"),
        window_id=WindowId(1 << 16),
        window_seed=keccak(b"bench"),
    )
    node = Address("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
    return ComputeChallenge(window=window, node=node, device=0, shape=shape)


def bare_products(shape: ComputeShape, device: str) -> Callable[[], None]:
    """The products of a run and nothing else, on matrices made beforehand."""
    x = torch.randint(-128, 128, (shape.m, shape.n), dtype=torch.int8, device=device)
    by_columns = torch.randint(-64, 64, (shape.n, shape.n), dtype=torch.int8, device=device).t()
    w = by_columns.contiguous() if device == "cpu" else by_columns

    product = torch.empty((shape.m, shape.n), dtype=torch.int32, device=device)  # or each call pays for fresh pages

    def multiply() -> None:
        for _ in range(shape.steps):
            torch._int_mm(x, w, out=product)
        if device != "cpu":
            torch.cuda.synchronize()

    return multiply


def backend_of(device: str, name: str) -> Compute:
    """The backend a node would use on a device, or the one of that name if it knows its answers.

    Args:
        device: torch device string.
        name: name of a candidate; empty for the choice.
    """
    listed = candidates(device, torch.get_num_threads())
    wanted = [backend for backend in listed if name in ("", backend.name)]
    if not wanted:
        raise SystemExit(f"no backend {name!r} on {device}: choose one of {', '.join(one.name for one in listed)}")
    try:
        choice = choose(wanted, perf_counter_ns)
    except InconsistentError as error:
        raise SystemExit(str(error)) from error
    for one in choice.rejected:
        print(f"{one.name} is rejected: {one.reason}", file=sys.stderr)
    return choice.compute


def measure(shape: ComputeShape, device: str, compute: Compute, rounds: int) -> tuple[list[float], list[float]]:
    """Seconds of each round of the bare products and of the whole prove()."""
    challenge = challenge_of(shape)
    bare, whole = seconds_of(
        bare_products(shape, device),
        lambda: prove(challenge, compute, (1, shape.m - 1)),
        rounds=rounds + 1,
    )
    return bare[1:], whole[1:]  # the first round also sets the kernels up


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", choices=PRESETS, default="cpu")
    parser.add_argument("--device", choices=GOALS, default="cpu")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--backend", default="", help="name of a backend to compare, as in triton-cuda:0")
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        parser.exit(2, "prove.py: torch sees no CUDA device: check the driver, and that torch is a CUDA build\n")
    shape, device = PRESETS[options.preset], "cpu" if options.device == "cpu" else "cuda:0"
    compute = backend_of(device, options.backend)
    bare, whole = measure(shape, device, compute, options.rounds)
    operations = 2 * shape.m * shape.n * shape.n * shape.steps
    typical = Result(
        name=f"prove() at the {options.preset} preset on {compute.name}",
        value=operations / median(whole) / 1e9,
        unit="10^9 int8 op/s",
        baseline=operations / median(bare) / 1e9,
        ratio=typical_ratio(bare, whole),
        goal=GOALS[options.device],
    )
    best = Result(
        name="best of all rounds", value=min(whole), unit="s", baseline=min(bare), ratio=min(bare) / min(whole)
    )
    print_report("prove", [typical, best], device=device_name(options.device))


def device_name(device: str) -> str:
    """Name of the GPU, or "cpu"."""
    return torch.cuda.get_device_name(0) if device == "cuda" else device


if __name__ == "__main__":
    main()

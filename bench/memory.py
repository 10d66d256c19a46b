"""The memory set: rates of building and proving, what checking costs beside proving, and what a device pays that holds nothing.

Cache, mixes, lanes and draws are mainnet's; dataset and reads are small, since every ratio here is one of work per read.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from time import perf_counter

import numpy as np
from _report import Result, print_report, seconds_of, typical_ratio

from node.measure.memory import Dataset, MemoryRun, answer, commitment_of, hold, open_lanes
from oracle.judge.memory import MemoryCase, judge_memory
from swarm_chain.core.encoding import keccak
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.memory import (
    MIB,
    ROW_BYTES,
    MemoryChallenge,
    MemoryEpoch,
    MemoryShape,
    draw_lanes,
    lanes_tree,
    nonce_of,
    seed_items,
    seed_lanes,
)
from swarm_chain.core.memoryset import AT_ONCE, Fetch, build_cache, computed, start, stored, walk
from swarm_chain.core.merkle import root
from swarm_chain.core.units import Address, EpochNumber
from swarm_chain.params import load_params

EPOCH = MemoryEpoch(
    chain_id=31337,
    beacon=Address("0x00000000000000000000000000000000000bEaC0"),
    epoch=EpochNumber(1),
    epoch_seed=keccak(b"bench"),
)
NODE = Address("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
DRAW_SEED = keccak(b"draw")
GOAL = 0.01


def shape_of(items_mib: int, reads: int) -> MemoryShape:
    """Mainnet's shape with a small dataset and few reads."""
    params = load_params("mainnet").memory
    return MemoryShape(
        cache_rows=params.cache_rows,
        generations=params.generations,
        mixes=params.mixes,
        items=items_mib * MIB // ROW_BYTES,
        lanes=params.lanes,
        least_reads=reads,
    )


def case_of(run: MemoryRun, draws: int) -> MemoryCase:
    """What an honest device sends."""
    lanes = draw_lanes(DRAW_SEED, run.challenge, root(run.tree), draws)
    return MemoryCase(
        challenge=run.challenge,
        draw_seed=DRAW_SEED,
        draws=draws,
        answer_ms=1000,
        elapsed_ms=1000,
        commitment=commitment_of(run),
        proof=open_lanes(run, lanes),
    )


def walking(challenge: MemoryChallenge, fetch: Fetch, lanes: int) -> None:
    """Walk the first lanes, block by block as the prover does; nothing is hashed."""
    shape = challenge.shape
    for first in range(0, lanes, AT_ONCE):
        states = start(seed_lanes(challenge), np.arange(first, min(first + AT_ONCE, lanes), dtype=np.int64))
        walk(states, fetch, shape.items, shape.reads)


def measure(dataset: Dataset, devices: int, rounds: int) -> list[Result]:
    """Prove, check and cheat in turn; the judge is seen to refuse a false answer first."""
    shape, draws = dataset.shape, load_params("mainnet").memory.draws
    nonce = nonce_of(DRAW_SEED)
    challenge = MemoryChallenge(epoch=EPOCH, node=NODE, device=0, shape=shape, nonce=nonce)
    run = answer(challenge, dataset, (0, shape.lanes - 1))
    case = case_of(run, draws)
    false_case = replace(case, commitment=replace(commitment_of(run), root=keccak(b"false")))
    outcomes = [verdict.outcome for verdict in judge_memory(dataset.cache, [case, false_case])]
    assert outcomes == [Outcome.PASSED, Outcome.FAILED], "the judge is wrong"
    held, item = stored(dataset.items), seed_items(EPOCH, NODE, 0)
    remade = computed(stored(dataset.cache.rows), shape.cache_rows, shape.mixes, item)
    longer = replace(
        challenge, shape=replace(shape, least_reads=16)
    )  # or starting a lane would count as much as reading
    times = seconds_of(
        lambda: walking(challenge, held, shape.lanes),
        lambda: lanes_tree(run.lane_results),
        lambda: judge_memory(dataset.cache, [case]),
        lambda: judge_memory(dataset.cache, [case] * devices),
        lambda: walking(longer, held, AT_ONCE),
        lambda: walking(longer, remade, AT_ONCE),
        rounds=rounds,
    )
    return results_of(shape, times, devices)


def of_proving(results: Sequence[Result], building_s: float) -> Result:
    """What checking one device alone costs beside all it did: its dataset built and read once."""
    alone = next(one for one in results if one.name.startswith("verifying one device alone"))
    assert alone.baseline is not None
    proving = building_s + alone.baseline
    name = "verifying one device alone, share of proving (dataset built and read once)"
    return Result(name=name, value=alone.value, unit="s", baseline=proving, ratio=alone.value / proving, goal=GOAL)


def results_of(shape: MemoryShape, times: Sequence[Sequence[float]], devices: int) -> list[Result]:
    """Figures from the seconds of each round."""
    prove, tree, one, many, read, remade = times
    read_mib = shape.lanes * shape.reads * ROW_BYTES / MIB
    share = [seconds / devices for seconds in many]
    return [
        Result(name="reading items, all lanes", value=read_mib / median(prove), unit="MiB/s"),
        Result(name="hashing all lanes to a root", value=median(tree), unit="s"),
        verifying("verifying one device alone, share of reading", one, prove),
        verifying(f"verifying a device among {devices}, share of reading", share, prove),
        Result(
            name="items made anew over items held, seconds",
            value=median(remade),
            unit="s",
            baseline=median(read),
            ratio=typical_ratio(remade, read),
        ),
    ]


def verifying(name: str, checked: Sequence[float], proved: Sequence[float]) -> Result:
    """One share of the time that reading took; lower is better."""
    ratio = typical_ratio(checked, proved)
    return Result(name=name, value=median(checked), unit="s", baseline=median(proved), ratio=ratio, goal=GOAL)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, default=32, help="size of the dataset")
    parser.add_argument("--reads", type=int, default=4, help="reads of a lane")
    parser.add_argument("--devices", type=int, default=64, help="devices judged together")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    shape = shape_of(options.mib, options.reads)
    began = perf_counter()
    cache = build_cache(EPOCH, shape)
    cached = perf_counter()
    dataset = hold(cache, EPOCH, NODE, 0, shape)
    built = perf_counter()
    building = [
        Result(name="building the cache", value=cache.rows.nbytes / MIB / (cached - began), unit="MiB/s"),
        Result(name="building the dataset", value=dataset.items.nbytes / MIB / (built - cached), unit="MiB/s"),
    ]
    measured = measure(dataset, options.devices, options.rounds)
    print_report("memory", [*building, *measured, of_proving(measured, built - cached)])


if __name__ == "__main__":
    main()

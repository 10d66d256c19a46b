"""Batched decoding over one request at a time, and what the prober itself costs, in the same run.

Batching: seconds to decode the same prompts one by one and side by side, and the most requests a second either gives while the
last token of a batch comes within the service level. Prober: its own lateness against an endpoint that answers at once.
"""

import argparse
import asyncio
from time import monotonic_ns, process_time

from _report import Result, print_report, seconds_of, typical_ratio

from swarm_chain.adapters.completions import Shot, fire
from swarm_chain.core.encoding import keccak
from swarm_chain.core.kinds import Category, HardwareClass
from swarm_chain.core.probing import Rung, prompt_of, rung_figures
from swarm_chain.core.serving import model_name
from swarm_chain.params import load_params
from swarm_chain.reference.tokenmodel import answers, build_model
from tests.boasts.serving import CannedEndpoint

MAINNET = load_params("mainnet")
PARAMS, LEVEL = MAINNET.serving, MAINNET.services.judged(HardwareClass.GPU, Category.SERVING)
SEED = keccak(b"bench")


def batching(most: int, rounds: int) -> list[Result]:
    """Requests a second of the largest batch within the service level over those one at a time."""
    model, count = build_model(PARAMS, SEED), PARAMS.answer_tokens
    prompts = [prompt_of(SEED, number, PARAMS) for number in range(most)]
    assert answers(model, prompts, count) == tuple(answers(model, [one], count)[0] for one in prompts), "not the same"
    alone, *batches = seconds_of(
        lambda: answers(model, prompts[:1], count),
        *(lambda size=size: answers(model, prompts[:size], count) for size in _sizes(most)),
        rounds=rounds,
    )
    found = []
    for size, seconds in zip(_sizes(most), batches, strict=True):
        ratio = typical_ratio([one * size for one in alone], seconds)
        p95_us = int(sorted(seconds)[-(-len(seconds) * 95 // 100) - 1] * 10**6)
        within = "within" if p95_us <= LEVEL.response_us else "beyond"
        name = f"batch of {size}, {within} the service level"
        best, one = size / min(seconds), 1 / min(alone)
        found.append(Result(name=name, value=best, unit="requests/s", baseline=one, ratio=ratio))
    return found


def prober(rate: int) -> list[Result]:
    """What a rung costs the prober, and how late it is itself."""
    endpoint = CannedEndpoint()
    shot = Shot(
        endpoint=f"http://127.0.0.1:{endpoint.port}",
        model=model_name(SEED),
        seed=SEED,
        rate=rate,
        params=load_params("minimal").serving,
    )
    began = process_time()
    answered = asyncio.run(fire(shot, lambda: monotonic_ns() // 1000))
    cpu = process_time() - began  # of prober and endpoint together: they share this process
    endpoint.close()
    samples = tuple(one.sample for one in answered)
    figures = rung_figures(Rung(rate=rate, timeout_us=shot.params.timeout_ms * 1000, samples=samples))
    return [
        Result(name=f"prober's own lateness p95 at {rate}/s", value=figures.lag_us, unit="us", goal=PARAMS.lag_us),
        Result(name="CPU a request, endpoint included", value=cpu * 1000 / len(samples), unit="ms"),
        Result(name="errors", value=figures.errors, unit="requests"),
    ]


def _sizes(most: int) -> list[int]:
    return [size for size in (4, 16, 32, 64) if size <= most]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--rate", type=int, default=100)
    options = parser.parse_args()
    print_report("serving", [*batching(options.most, options.rounds), *prober(options.rate)])


if __name__ == "__main__":
    main()

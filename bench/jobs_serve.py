"""Requests a second at the same p95: batches that follow the load over one request at a time, on Ray Serve, in the same run.

Open loop: requests start at even moments, whatever the answers do, and a latency counts from the moment it was due. The p95 that
both are held to is `--factor` times what one request alone takes; the rate rises by half until it is missed, then the gap is
halved. By default the model is 25 MB in bytes: as every language model, more than a processor keeps at hand, so that reading the
weights is what one request alone waits for.
"""

import argparse
import asyncio
import logging
import math
import os
import secrets
from time import perf_counter
from typing import Any

from _report import Result, print_report

from node.serving.batches import Batching, TokenRequest
from node.serving.endpoint import start_application, token_source
from node.serving.ingress import TokenSource
from swarm_chain.reference.programs.tokens import DrawnRows, ModelWork, seed_hash

FASTER, CLOSE, MOST_RATES = 1.5, 1.06, 16
PERCENTILE = 95
TRIES = 3


def best_rate(handle: Any, options: argparse.Namespace, limit: float | None) -> tuple[float, float, float]:
    """Rate, its p95 in seconds, and the limit: by itself, `factor` times the median of one request at a time."""
    drawn = DrawnRows(seed=1, tokens=16, vocabulary=options.vocabulary)
    requests = [
        TokenRequest(
            model=seed_hash(1), prompt=tuple(drawn.row(number)), tokens=options.tokens, streamed=not options.whole
        )
        for number in range(64)
    ]
    source = token_source(handle)  # once, as an endpoint does
    asyncio.run(_fire(source, requests, 16, 4.0))  # the weights are made
    alone = sorted(asyncio.run(_one_by_one(source, requests[:16])))[8]
    held, rate, found, missed = limit or options.factor * alone, options.share / alone, (0.0, 0.0), math.inf
    for _ in range(MOST_RATES):
        if missed / rate <= CLOSE:
            break
        p95 = _p95(source, requests, rate, options.seconds, held)
        found, missed = ((rate, p95), missed) if p95 <= held else (found, rate)
        rate = min(found[0] * FASTER, (found[0] + missed) / 2)
    return *found, held


def _p95(source: TokenSource, requests: list[TokenRequest], rate: float, seconds: float, held: float) -> float:
    """p95 at a rate; measured again where it was missed, since other load on the machine comes and goes."""
    count, p95 = max(32, int(rate * seconds)), 0.0
    for _ in range(TRIES):
        latencies = sorted(asyncio.run(_fire(source, requests, count, rate)))
        p95 = latencies[-(-len(latencies) * PERCENTILE // 100) - 1]
        if p95 <= held:
            break
    return p95


async def _fire(source: TokenSource, requests: list[TokenRequest], count: int, rate: float) -> list[float]:
    began = perf_counter() + 0.05
    return await asyncio.gather(
        *(_ask(source, requests[number % len(requests)], began + number / rate) for number in range(count))
    )


async def _one_by_one(source: TokenSource, requests: list[TokenRequest]) -> list[float]:
    return [await _ask(source, request, perf_counter()) for request in requests]


async def _ask(source: TokenSource, request: TokenRequest, due: float) -> float:
    await asyncio.sleep(max(0.0, due - perf_counter()))
    tokens = [token async for chunk in source(request) for token in chunk]
    assert len(tokens) == request.tokens
    return perf_counter() - due


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--vocabulary", type=int, default=8192)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--factor", type=float, default=10.0)
    parser.add_argument("--share", type=float, default=0.5, help="first rate, of what one at a time could do")
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--whole", action="store_true", help="answers in one message each, not streamed")
    options = parser.parse_args()
    os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_USAGE_STATS_ENABLED": "0"}
    # Ray's workers are nice by 15: whatever else runs here would be measured instead.
    os.environ |= {"RAY_worker_niceness": "0"}
    import ray

    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    sizes = ModelWork(width=options.width, layers=options.layers, vocabulary=options.vocabulary)
    placed = {"ray_actor_options": {"num_cpus": 1}, "max_ongoing_requests": 1024}
    alone = start_application("alone", placed, sizes, Batching(max_batch_size=1))
    one, one_p95, limit = best_rate(alone, options, None)
    from ray import serve

    serve.delete("alone")
    adaptive = Batching(max_batch_size=64)
    many, many_p95, _ = best_rate(start_application("adaptive", placed, sizes, adaptive), options, limit)
    print_report(
        "jobs_serve",
        [
            Result(
                name="adaptive batches, same p95", value=many, unit="requests/s", baseline=one, ratio=many / one, goal=4
            ),
            Result(name="p95 of adaptive batches", value=many_p95 * 1000, unit="ms", baseline=one_p95 * 1000),
            Result(name="p95 both are held to", value=limit * 1000, unit="ms"),
        ],
    )
    ray.shutdown()


if __name__ == "__main__":
    main()

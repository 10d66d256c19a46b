"""Inference as members measure it, over loopback: this machine's endpoint, the same requests and ladder, the same figures."""

import asyncio
import secrets
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

from node.config import load_settings
from node.serving.batches import Batching
from node.suite.metrics import MEMBERS, Bench, Metric
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import SwarmError
from swarm_chain.core.kinds import Category, HardwareClass
from swarm_chain.core.probing import Rung, RungFigures, rates_of, rung_figures, rung_seed
from swarm_chain.core.serving import model_name
from swarm_chain.core.units import BPS, Hash32
from swarm_chain.params import load_params

MAINNET = load_params("mainnet")
# Rungs shorter than a member's keep the whole suite under a few minutes; the model and the requests are mainnet's.
SERVED = replace(MAINNET.serving, rung_for=2, pause_for=0, most_rate=256)
BATCHING = Batching(max_batch_size=32)
LEVEL = MAINNET.services.judged(HardwareClass.GPU, Category.SERVING)
_NAMES = ("latency p50", "latency p95", "latency p99", "time to first token")


def inference_metrics(bench: Bench) -> Iterator[Metric]:
    """Latency at the lowest rate, and the largest rate whose p95 stays within the service level."""
    method = f"open loop, {SERVED.low_rate}/s for {SERVED.rung_for} s, {SERVED.answer_tokens} tokens, loopback"
    climbing = f"rates doubled up to p95 {LEVEL.response_us // 1000} ms, batches of {BATCHING.max_batch_size}, loopback"
    try:
        ladder = _climbed(bench)
    except SwarmError as error:
        problem = f"{error.message}: {error.fix}" if error.fix else error.message
        for name in _NAMES:
            yield _metric(name, "us", method, problem=problem)
        yield _metric("concurrency", "requests/s", climbing, problem=problem)
        return
    lowest = ladder[0]
    values = (lowest.p50_us, lowest.p95_us, lowest.p99_us, lowest.ttft_us)
    for name, value in zip(_NAMES, values, strict=True):
        yield _metric(name, "us", method, value)
    knee = max((one.rate for one in ladder if _is_served(one)), default=0)
    yield _metric("concurrency", "requests/s", climbing, knee)


def _climbed(bench: Bench) -> list[RungFigures]:
    """Figures rung by rung, the first one that leaves the level last."""
    from node.ray_connection import ray_connection
    from node.serving.endpoint import EndpointOptions, RayEndpoint

    model, secret = keccak(b"bench"), Hash32(secrets.token_bytes(32))
    options = EndpointOptions(name=f"swarm-bench-{secrets.token_hex(4)}", host="127.0.0.1", port=0, batching=BATCHING)
    found: list[RungFigures] = []
    with ExitStack() as stack:
        settings = load_settings({"node_folder": bench.folder, "threads": bench.threads})
        stack.enter_context(ray_connection(settings))
        endpoint = RayEndpoint(options, SERVED)
        stack.callback(endpoint.close)
        endpoint.serve_model(model)
        url = f"http://127.0.0.1:{endpoint.port}"
        _measured(bench, url, model, secret, 1)  # the first requests make the weights
        for rate in rates_of(SERVED, SERVED.most_rate):
            found.append(_measured(bench, url, model, secret, rate))
            if not _is_served(found[-1]):
                break
    return found


def _measured(bench: Bench, url: str, model: Hash32, secret: Hash32, rate: int) -> RungFigures:
    from swarm_chain.adapters.completions import Shot, fire
    from swarm_chain.reference.rescoring import rescored

    shot = Shot(endpoint=url, model=model_name(model), seed=rung_seed(secret, rate), rate=rate, params=SERVED)
    answered = asyncio.run(fire(shot, lambda: bench.clock_ns() // 1000))
    samples = rescored([one.sample for one in answered], [one.tokens for one in answered], SERVED, model, shot.seed)
    checked = tuple(replace(one, error="wrong_answer") if one.is_wrong else one for one in samples)
    return rung_figures(Rung(rate=rate, timeout_us=SERVED.timeout_ms * 1000, samples=checked))


def _is_served(one: RungFigures) -> bool:
    fast: bool = one.p95_us <= LEVEL.response_us
    return fast and one.errors * BPS <= LEVEL.error_bps * one.requests


def _metric(name: str, unit: str, method: str, value: int | None = None, problem: str = "") -> Metric:
    return Metric(
        category="inference", name=name, unit=unit, method=method, paid_by=MEMBERS, value=value, problem=problem
    )

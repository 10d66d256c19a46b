"""What this machine trains: samples a second of each reference model, and what it may claim of an audit, how it scales."""

from collections.abc import Iterator
from dataclasses import replace

from node.suite.metrics import Bench, Metric, per_second
from node.suite.scaling import scaling_metrics
from swarm_chain.core.encoding import keccak
from swarm_chain.core.training import TrainingParams
from swarm_chain.core.units import ZERO_ADDRESS
from swarm_chain.params import load_params
from swarm_chain.reference.audited import TrainingQuestion, audited_spec
from swarm_chain.reference.spec import MODELS

BY = "node, replayed"


def training_metrics(bench: Bench) -> Iterator[Metric]:
    """Samples a second of the deterministic training that members replay, model by model and over both.

    Args:
        bench: gives the clock and the number of threads.
    """
    params = load_params("mainnet").training
    elapsed: list[int] = []
    for run, model in enumerate(MODELS):
        ns, parameters = _segment_ns(bench, params, run)
        elapsed.append(ns)
        yield Metric(
            category="training",
            name="throughput" if run == 0 else f"throughput, {model}",
            unit="samples/s",
            method=f"{model}, {parameters} parameters, batch {params.batch}, one replayable segment, 1 thread",
            paid_by=BY,
            value=per_second(_samples(params), ns),
        )
    yield Metric(
        category="training",
        name="claim of one thread",
        unit="samples/s",
        method="both models in turn, as an audit asks; claim this times the free cores, less a tenth",
        paid_by=BY,
        value=per_second(len(MODELS) * _samples(params), sum(elapsed)),
    )
    yield from scaling_metrics(bench)


def _segment_ns(bench: Bench, params: TrainingParams, run: int) -> tuple[int, int]:
    """Nanoseconds of one segment of a run, and the model's parameters; one step before warms up."""
    from swarm_chain.reference.train import initial_checkpoint, run_segment

    spec = audited_spec(params, TrainingQuestion(node=ZERO_ADDRESS, device=0, nonce=keccak(b"bench")), run)
    warm = replace(spec, steps=1, segment_steps=1)
    run_segment(warm, initial_checkpoint(warm), 0)
    start = initial_checkpoint(spec)
    started = bench.clock_ns()
    run_segment(spec, start, 0)
    return bench.clock_ns() - started, spec.parameter_count


def _samples(params: TrainingParams) -> int:
    return params.segment_steps * params.batch

"""Scaling of training: shards in one process are what several compute, and no figure without a replay that agrees."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from node.bench import PRESETS
from node.suite.metrics import Bench
from node.suite.scaling import ScaledRun, checked, contents, rows, scaling_metrics, worker_counts
from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.units import Hash32
from swarm_chain.reference.audited import TrainingQuestion, audited_spec
from swarm_chain.reference.sharded import Shards, all_shards, sharded_gradient
from swarm_chain.reference.spec import TrainSpec
from swarm_chain.reference.train import batch_gradient
from tests.training_world import NODE, TINY

TIMES = 100


def spec_of(number: int) -> TrainSpec:
    """A tiny run; models take turns."""
    return audited_spec(TINY, TrainingQuestion(node=NODE, device=0, nonce=keccak(number.to_bytes(4, "big"))), number)


def hashes(spec: TrainSpec, count: int) -> tuple[Hash32, ...]:
    """What every rank of a run of so many workers ends its segments with."""
    return tuple(map(content_hash, contents(spec, sharded_gradient(all_shards(count)))))


def ran(spec: TrainSpec, count: int, elapsed_ns: int = 10**9) -> ScaledRun:
    """A run in which nobody lied."""
    return ScaledRun(spec=spec, hashes=(hashes(spec, count),) * count, elapsed_ns=elapsed_ns)


def test_run_when_it_has_one_shard_then_the_bytes_of_a_run_without() -> None:
    alone = tuple(map(content_hash, contents(spec_of(0), batch_gradient)))

    assert hashes(spec_of(0), 1) == alone
    assert hashes(spec_of(0), 2) != alone


def test_gradient_when_shards_are_in_several_processes_then_the_same_bits_in_each() -> None:
    import torch

    spec, count = spec_of(0), 3
    flat = torch.linspace(-1, 1, spec.parameter_count).requires_grad_()
    vectors: list[torch.Tensor] = []

    def collect(own: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        vectors.extend(own)
        return own

    for rank in range(count):
        sharded_gradient(Shards(count=count, own=range(rank, rank + 1), gather=collect))(spec, flat, 4)
    _, here = sharded_gradient(all_shards(count))(spec, flat, 4)
    _, there = sharded_gradient(Shards(count=count, own=range(1), gather=lambda _: vectors))(spec, flat, 4)

    assert np.array_equal(here.numpy(), there.numpy())


def test_run_when_honest_then_checked_a_hundred_times() -> None:
    for number in range(TIMES):
        run = ran(replace(spec_of(number), steps=1, segment_steps=1), 2)
        assert checked(run) == run


@pytest.mark.parametrize("cheat", ["one rank ends elsewhere", "all of one shard", "a segment less"])
def test_run_when_it_is_not_what_a_replay_gives_then_no_figure(cheat: str) -> None:
    spec = spec_of(0)
    honest, alone = hashes(spec, 2), hashes(spec, 1)
    lies = {"one rank ends elsewhere": (honest, alone), "all of one shard": (alone, alone)}
    said = lies.get(cheat, (honest[:-1], honest[:-1]))

    with pytest.raises(UnavailableError) as caught:
        checked(ScaledRun(spec=spec, hashes=said, elapsed_ns=1))

    assert caught.value.code == "not_replayed"


def test_efficiency_when_two_take_longer_than_one_then_below_all_of_it() -> None:
    spec = spec_of(0)
    timed = (spec.segments - 1) * spec.segment_steps * spec.batch
    runs = [ran(spec, 1, 10**6), ran(spec, 2, 1_250_000)]

    found = {one.name: one.value for one in rows(runs)}

    assert found == {
        "throughput, Ray Train": 1000 * timed,
        "throughput, 2 workers": 1600 * timed,
        "scaling efficiency, 2 workers": 8000,
    }


@pytest.mark.parametrize(("threads", "counts"), [(1, (1,)), (2, (1, 2)), (3, (1, 2)), (4, (1, 2, 4)), (64, (1, 2, 4))])
def test_workers_when_the_machine_has_threads_then_powers_of_two_up_to_four(
    threads: int, counts: tuple[int, ...]
) -> None:
    assert worker_counts(threads) == counts


def test_scaling_when_there_is_one_thread_then_a_reason_and_no_figure(tmp_path: Path) -> None:
    bench = Bench(shape=PRESETS["minimal"], runs=1, device="cpu", threads=1, folder=tmp_path, clock_ns=lambda: 0)

    (only,) = scaling_metrics(bench)

    assert (only.name, only.value) == ("scaling efficiency", None)
    assert "one thread" in only.problem

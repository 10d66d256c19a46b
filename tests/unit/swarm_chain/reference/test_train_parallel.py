"""swarm-train/2: one process replays what several ranks did; who did anything else ends elsewhere."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.jobs import parse_job_spec
from swarm_chain.reference.checkpoint import dump_checkpoint, parse_checkpoint
from swarm_chain.reference.parallel import BF16, FP32, ParallelRun, first_content, kind_of, run_ranks
from swarm_chain.reference.programs.base import inputs_of
from swarm_chain.reference.programs.registry import open_program
from swarm_chain.reference.sharded import Shards, all_shards, mean_in_order, sharded_gradient
from swarm_chain.reference.spec import TrainSpec
from swarm_chain.reference.train import Gradient, batch_gradient, end_of, pinned, run_segment, run_steps, start_of
from tests.rank_world import SPEC, RankCase, job_of

if TYPE_CHECKING:
    from torch import Tensor

RUN = ParallelRun(train=SPEC, workers=3, precision=FP32)
JOB = job_of(RankCase(run=RUN, strategy="ddp")).document()
HASH_ELSEWHERE = """
from swarm_chain.core.checkpoints import content_hash
from tests.rank_world import SPEC
from swarm_chain.reference.parallel import ParallelRun, first_content, run_ranks
run = ParallelRun(train=SPEC, workers=3, precision="bf16")
print(content_hash(run_ranks(run, first_content(run), 0)).hex())
"""


def opened(**changes: object) -> Any:
    """The program, with other work or other parts of the spec."""
    parts = {name: changes.pop(name) for name in tuple(changes) if name in JOB}
    return open_program(parse_job_spec(JOB | parts | {"work": JOB["work"] | changes}), inputs_of({}))


def ends_with(gradient: Gradient, steps: range = RUN.steps_of(0), run: ParallelRun = RUN) -> bytes:
    """Checkpoint 1 of whoever trains with these gradients."""
    content = first_content(run)
    start = start_of(run.train, content, 0, kind_of(run))
    with pinned():
        return end_of(start, content_hash(content), *run_steps(run.train, start.state, steps, gradient))


def two_of_three(spec: TrainSpec, flat: "Tensor", step: int) -> "tuple[Tensor, Tensor]":
    """The gradient of a node that leaves rank 2 out and still divides by three."""
    left_out = Shards(count=3, own=range(2), gather=lambda vectors: [*vectors, vectors[0] * 0])
    return sharded_gradient(left_out)(spec, flat, step)


def other_order(spec: TrainSpec, flat: "Tensor", step: int) -> "tuple[Tensor, Tensor]":
    """The gradient of a node whose ranks take the batches of the step after."""
    return sharded_gradient(all_shards(3))(spec, flat, step + 1)


def summed_backwards(spec: TrainSpec, flat: "Tensor", step: int) -> "tuple[Tensor, Tensor]":
    """The gradient of a node that adds in another order."""
    backwards = Shards(count=3, own=range(3), gather=lambda vectors: vectors[::-1])
    return sharded_gradient(backwards)(spec, flat, step)


def test_segment_when_replayed_in_another_process_then_has_the_same_hash() -> None:
    run = replace(RUN, precision=BF16)
    told = subprocess.run([sys.executable, "-c", HASH_ELSEWHERE], check=True, capture_output=True, text=True).stdout
    assert told.strip() == content_hash(run_ranks(run, first_content(run), 0)).hex()


def test_run_of_one_worker_when_in_fp32_then_is_the_run_of_swarm_train_1() -> None:
    run = replace(RUN, workers=1)
    assert run_ranks(run, first_content(run), 0) == run_segment(SPEC, first_content(run), 0)


def test_honest_segment_when_computed_by_the_program_then_matches() -> None:
    assert opened().compute(0, opened().first()) == ends_with(sharded_gradient(all_shards(3)))


@pytest.mark.parametrize("gradient", [two_of_three, other_order, summed_backwards, batch_gradient])
def test_segment_when_gradients_are_not_the_mean_of_all_ranks_then_has_another_hash(gradient: Gradient) -> None:
    assert ends_with(gradient) != opened().compute(0, opened().first())


@pytest.mark.parametrize(
    "cheat",
    [
        pytest.param(lambda: ends_with(sharded_gradient(all_shards(3)), range(1)), id="skipped step"),
        pytest.param(
            lambda: opened(seed=8).compute(0, opened(seed=8).first()),
            id="another seed",
        ),
        pytest.param(lambda: opened(precision="bf16").compute(0, opened(precision="bf16").first()), id="bf16 for fp32"),
        pytest.param(lambda: copied(opened().first()), id="copied"),
    ],
)
def test_segment_when_work_was_spared_or_changed_then_has_another_hash(cheat: Callable[[], bytes]) -> None:
    assert cheat() != opened().compute(0, opened().first())


def copied(content: bytes) -> bytes:
    """The checkpoint of a node that stops and hands in the last one again, under the next number."""
    checkpoint = parse_checkpoint(SPEC, content)
    return dump_checkpoint(replace(checkpoint, index=checkpoint.index + 1, previous=content_hash(content)))


def test_source_when_of_another_precision_then_is_refused_not_judged() -> None:
    with pytest.raises(UnavailableError, match="this machine is"):
        opened().compute(0, opened(precision="bf16").first())


def test_mean_when_added_in_order_then_is_times_one_over_count() -> None:
    import torch

    vectors = [torch.tensor([1e8, 1.0]), torch.tensor([-1e8, 1.0]), torch.tensor([1.0, 1.0])]
    assert mean_in_order(vectors).tolist() == [torch.tensor(1.0).mul(1 / 3).item(), torch.tensor(3.0).mul(1 / 3).item()]
    assert mean_in_order(vectors[::-1])[0] == 0, "1 is lost beside 1e8: the order is part of the result"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"workers": 2}, "resources.workers is 3"),
        ({"workers": 65}, "work.workers"),
        ({"strategy": "pipeline"}, "work.strategy"),
        ({"precision": "fp16"}, "work.precision"),
        ({"steps": 7}, "multiple of segment_steps"),
        ({"model": "rnn"}, "model 'rnn' is unknown"),
        ({"dropout": 1}, "work.dropout"),
        ({"code": "x = 1"}, "neither code nor inputs"),
        (
            {"batch": 1024, "context": 16, "width": 256, "segment_steps": 100, "steps": 100, "layers": 1},
            "of all workers",
        ),
        ({"kind": "tune"}, "a program of kind train"),
    ],
)
def test_work_when_wrong_then_says_what_to_change(changes: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        opened(**changes)

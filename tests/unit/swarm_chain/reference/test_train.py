"""The reference training program: same bytes in every process, and a chain that shows a skipped segment."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.units import ZERO_HASH
from swarm_chain.reference.checkpoint import dump_checkpoint, loss_micro, names_previous, parse_checkpoint
from swarm_chain.reference.data import held_out_batch, train_batch
from swarm_chain.reference.spec import TrainSpec
from swarm_chain.reference.train import final_metrics, initial_checkpoint, replays, run_segment

TRANSFORMER = TrainSpec(
    model="transformer",
    seed=7,
    steps=60,
    segment_steps=20,
    batch=16,
    context=8,
    vocabulary=16,
    width=32,
    heads=2,
    layers=1,
    learning_rate_micro=5000,
)
MLP = replace(TRANSFORMER, model="mlp", layers=2)
HASHES_OF_A_RUN = """
import sys
from swarm_chain.reference.train import initial_checkpoint, run_segment, content_hash
from swarm_chain.reference.spec import parse_train_spec
import json
spec = parse_train_spec(json.loads(sys.argv[1]))
content = initial_checkpoint(spec)
print(content_hash(content).hex())
for index in range(spec.segments):
    content = run_segment(spec, content, index)
    print(content_hash(content).hex())
"""


def run_all(spec: TrainSpec) -> list[bytes]:
    contents = [initial_checkpoint(spec)]
    for index in range(spec.segments):
        contents.append(run_segment(spec, contents[-1], index))
    return contents


def hashes_in_another_process(spec: TrainSpec) -> list[str]:
    command = [sys.executable, "-c", HASHES_OF_A_RUN, json.dumps(spec.document())]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


@pytest.mark.parametrize("spec", [TRANSFORMER, MLP], ids=["transformer", "mlp"])
def test_run_in_other_processes_gives_the_same_hashes(spec: TrainSpec) -> None:
    own = [content_hash(content).hex() for content in run_all(spec)]
    assert hashes_in_another_process(spec) == own
    assert len(set(own)) == spec.segments + 1


@pytest.mark.parametrize("spec", [TRANSFORMER, MLP], ids=["transformer", "mlp"])
def test_training_learns_the_hidden_rule(spec: TrainSpec) -> None:
    contents = run_all(spec)
    before, after = final_metrics(spec, contents[0]), final_metrics(spec, contents[-1])
    assert after.loss_micro < before.loss_micro * 3 // 4
    assert after.accuracy_bps > before.accuracy_bps + 3000
    assert loss_micro(parse_checkpoint(spec, contents[-1])) > 0


def test_replay_of_each_segment_alone_gives_the_next_hash() -> None:
    contents = run_all(MLP)
    for index in range(MLP.segments):
        assert replays(MLP, contents[index], index, content_hash(contents[index + 1]))
        assert names_previous(MLP, contents[index + 1], contents[index])


def test_a_skipped_segment_does_not_replay() -> None:
    contents = run_all(MLP)
    start = parse_checkpoint(MLP, contents[1])
    lazy = dump_checkpoint(replace(start, index=2, previous=content_hash(contents[1])))
    assert not replays(MLP, contents[1], 1, content_hash(lazy))


def test_one_changed_bit_of_the_state_does_not_replay() -> None:
    contents = run_all(MLP)
    changed = bytearray(contents[2])
    changed[-1] ^= 1
    assert not replays(MLP, contents[1], 1, content_hash(bytes(changed)))


def test_a_false_previous_hash_breaks_the_chain() -> None:
    contents = run_all(MLP)
    cut = dump_checkpoint(replace(parse_checkpoint(MLP, contents[2]), previous=ZERO_HASH))
    assert not names_previous(MLP, cut, contents[1])
    assert not replays(MLP, contents[1], 1, content_hash(cut))


def test_thread_count_of_the_caller_changes_nothing_and_is_kept() -> None:
    before, start = torch.get_num_threads(), initial_checkpoint(TRANSFORMER)
    torch.set_num_threads(2)
    try:
        two = run_segment(TRANSFORMER, start, 0)
        assert torch.get_num_threads() == 2
        torch.set_num_threads(1)
        assert run_segment(TRANSFORMER, start, 0) == two
    finally:
        torch.set_num_threads(before)


def test_segment_at_the_wrong_place_is_refused() -> None:
    start = initial_checkpoint(MLP)
    with pytest.raises(InvalidInputError, match="does not start segment"):
        run_segment(MLP, start, 1)
    end = run_all(MLP)[-1]
    with pytest.raises(InvalidInputError, match="does not start segment"):
        run_segment(MLP, end, MLP.segments)


def test_checkpoint_of_another_machine_is_not_judged() -> None:
    foreign = dump_checkpoint(replace(parse_checkpoint(MLP, initial_checkpoint(MLP)), platform="torch-1 MMX pdp11"))
    with pytest.raises(UnavailableError, match="pdp11"):
        run_segment(MLP, foreign, 0)


def test_divergence_is_the_customers_error() -> None:
    start = parse_checkpoint(TRANSFORMER, initial_checkpoint(TRANSFORMER))
    huge = dump_checkpoint(replace(start, state=np.full_like(start.state, 1e30)))
    with pytest.raises(InvalidInputError, match="diverged") as caught:
        run_segment(TRANSFORMER, huge, 0)
    assert caught.value.code == "diverged"


def test_parse_refuses_what_is_no_checkpoint() -> None:
    content = initial_checkpoint(MLP)
    infinite = parse_checkpoint(MLP, content).state.copy()
    infinite[1, 3] = np.inf
    bad = {
        "empty": b"",
        "short": content[:-1],
        "long": content + b"\0",
        "magic": b"X" + content[1:],
        "other spec": initial_checkpoint(replace(MLP, seed=8)),
        "index": content[:72] + (MLP.segments + 1).to_bytes(4, "big") + content[76:],
        "infinite": dump_checkpoint(replace(parse_checkpoint(MLP, content), state=infinite)),
    }
    for case in bad.values():
        with pytest.raises(InvalidInputError, match="checkpoint"):
            parse_checkpoint(MLP, case)


def test_batches_are_a_function_of_seed_and_step() -> None:
    assert np.array_equal(train_batch(MLP, 3), train_batch(MLP, 3))
    assert not np.array_equal(train_batch(MLP, 3), train_batch(MLP, 4))
    assert not np.array_equal(train_batch(MLP, 0), held_out_batch(MLP))
    assert not np.array_equal(train_batch(MLP, 3), train_batch(replace(MLP, seed=8), 3))
    tokens = train_batch(MLP, 3)
    assert tokens.shape == (MLP.batch, MLP.context + 1)
    assert 0 <= tokens.min() <= tokens.max() < MLP.vocabulary

"""swarm-finetune/1: adapters that help, a merge that changes nothing, and units that any process computes alike."""

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.jobs import parse_job_spec
from swarm_chain.reference.chain import Link, parse_link
from swarm_chain.reference.programs.base import Program, inputs_of
from swarm_chain.reference.programs.registry import open_program
from swarm_chain.reference.tensors import dump_tensors, part_of

WORK: dict[str, object] = {
    "architecture": "gpt2",
    "seed": 5,
    "vocabulary": 16,
    "context": 8,
    "width": 16,
    "heads": 2,
    "layers": 1,
    "batch": 16,
    "segment_steps": 15,
    "pretrain_steps": 30,
    "pretrain_rate_micro": 10_000,
    "rank": 4,
    "alpha": 8,
    "data_seed": 7,
    "steps": 30,
    "learning_rate_micro": 20_000,
}
PRETRAINED, TUNED = 2, 4  # contents after which the base and the adapters are trained
REPLAY = """
import sys, json
from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.jobs import parse_job_spec
from swarm_chain.reference.programs.base import inputs_of
from swarm_chain.reference.programs.registry import open_program
program = open_program(parse_job_spec(json.loads(sys.argv[1])), inputs_of({}))
source = sys.stdin.buffer.read()
print(content_hash(program.compute(int(sys.argv[2]), source)).hex())
"""


def document(inputs: tuple[str, ...] = (), **changes: object) -> dict[str, Any]:
    """A spec as it is posted."""
    return parse_job_spec(
        {"kind": "finetune", "program": "swarm-finetune/1", "work": WORK | changes, "inputs": inputs}
    ).document()


def opened(*blobs: bytes, **changes: object) -> Program:
    """The program of a spec with these inputs."""
    known = {content_hash(blob): blob for blob in blobs}
    return open_program(parse_job_spec(document(tuple(map(to_hex, known)), **changes)), inputs_of(known))


def run_all(program: Program) -> list[bytes]:
    """All contents."""
    contents = [program.first()]
    for unit in range(program.units):
        contents.append(program.compute(unit, contents[-1]))
    return contents


def report(content: bytes) -> dict[str, int]:
    """The figures of the last content."""
    return {name: int(value) for name, value in part_of(parse_link(content).tensors, "report").items()}


@pytest.fixture(scope="module")
def contents() -> list[bytes]:
    return run_all(opened())


def test_adapters_when_trained_then_lower_the_loss_and_survive_the_merge(contents: list[bytes]) -> None:
    figures = report(contents[-1])
    assert figures["after"] < figures["before"] * 4 // 5
    assert abs(figures["merged"] - figures["after"]) <= 10
    assert figures["difference"] <= 100
    merged, base = (part_of(parse_link(contents[at]).tensors, part) for at, part in ((-1, "merged"), (TUNED, "base")))
    changed = [name for name, value in merged.items() if not np.array_equal(value, base[name])]
    assert changed == ["transformer.h.0.attn.c_attn.weight"], "the merge changes what was adapted, and nothing else"


def test_base_when_adapters_are_trained_then_stays_as_it_was(contents: list[bytes]) -> None:
    before, after = (part_of(parse_link(contents[at]).tensors, "base") for at in (PRETRAINED, TUNED))
    assert all(np.array_equal(before[name], after[name]) for name in before)


@pytest.mark.long  # importing the libraries takes most of it
def test_segment_when_replayed_in_another_process_then_has_the_same_hash(contents: list[bytes]) -> None:
    command = [sys.executable, "-c", REPLAY, json.dumps(document()), str(PRETRAINED)]
    told = subprocess.run(command, input=contents[PRETRAINED], check=True, capture_output=True).stdout.decode()
    assert told.strip() == content_hash(contents[PRETRAINED + 1]).hex()


@pytest.mark.parametrize("unit", [1, 2, 3, 4])
def test_unit_when_copied_or_cut_short_then_has_another_hash(contents: list[bytes], unit: int) -> None:
    link = parse_link(contents[unit])
    copied = link.next(contents[unit], link.tensors, link.loss_micro)
    assert copied != contents[unit + 1]
    assert opened().compute(unit, contents[unit]) == contents[unit + 1]


@pytest.mark.parametrize("changes", [{"data_seed": 8}, {"learning_rate_micro": 20_001}, {"alpha": 9}, {"seed": 6}])
def test_segment_when_of_other_data_or_settings_then_has_other_tensors(
    contents: list[bytes], changes: dict[str, object]
) -> None:
    other = opened(**changes)
    theirs = replace(parse_link(contents[PRETRAINED]), spec=parse_link(other.first()).spec).dump()
    made = parse_link(other.compute(PRETRAINED, theirs)).tensors
    assert dump_tensors(made) != dump_tensors(parse_link(contents[PRETRAINED + 1]).tensors)


def test_job_when_base_and_data_are_inputs_then_uses_both(contents: list[bytes]) -> None:
    base = dump_tensors(part_of(parse_link(contents[PRETRAINED]).tensors, "base"))
    rows = (np.arange(9) + np.arange(16)[:, None]) % 16  # every token follows the one before it
    data = dump_tensors({"train": rows, "held_out": rows[:4]})
    named = {"base": to_hex(content_hash(base)), "data": to_hex(content_hash(data)), "pretrain_steps": 0}
    program = opened(base, data, **named)

    *_, tuned, last = run_all(program)

    assert report(last)["after"] < report(last)["before"] // 2
    assert not part_of(parse_link(tuned).tensors, "base"), "an input is not written into every content"


@pytest.mark.parametrize(
    "data",
    [
        dump_tensors({"train": np.zeros((4, 9), np.int64)}),
        dump_tensors({"train": np.full((4, 9), 16), "held_out": np.zeros((4, 9), np.int64)}),
        dump_tensors({"train": np.zeros((4, 8), np.int64), "held_out": np.zeros((4, 9), np.int64)}),
        b"tokens",
    ],
)
def test_data_when_not_tokens_of_the_model_then_ends_as_the_customers_fault(data: bytes) -> None:
    program = opened(data, data=to_hex(content_hash(data)), pretrain_steps=0, steps=15)
    content = program.first()
    with pytest.raises(InvalidInputError):
        program.compute(1, program.compute(0, content))


def test_source_when_of_another_job_place_or_machine_then_is_refused(contents: list[bytes]) -> None:
    with pytest.raises(InvalidInputError, match="another chain or place"):
        opened().compute(1, contents[0])
    with pytest.raises(InvalidInputError, match="another chain or place"):
        opened(seed=6).compute(0, contents[0])
    elsewhere = replace(parse_link(contents[0]), platform="another machine")
    with pytest.raises(UnavailableError, match="another machine"):
        opened().compute(0, elsewhere.dump())
    strange = Link(spec=elsewhere.spec, platform=parse_link(contents[0]).platform, tensors={}, index=3)
    with pytest.raises(InvalidInputError, match="not that of this module"):
        opened().compute(3, strange.dump())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"architecture": "bert"}, "work.architecture"),
        ({"steps": 31}, "multiples of segment_steps"),
        ({"width": 18}, "even multiple of heads"),
        ({"rank": 0}, "work.rank"),
        ({"base": "0x" + "ab" * 32}, "inputs must be"),
        ({"vocabulary": 4096, "width": 512}, "at most 12000000 bytes"),
        ({"dropout": 1}, "work.dropout"),
    ],
)
def test_work_when_wrong_then_says_what_to_change(changes: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        opened(**changes)


FOUR_BITS: dict[str, object] = {"architecture": "llama", "base_bits": 4, "base_group": 16}


def test_adapters_when_the_base_has_4_bits_then_learn_on_what_is_left_of_it_and_merge_into_that() -> None:
    kept = run_all(opened(**FOUR_BITS))
    figures, whole = report(kept[-1]), report(run_all(opened(architecture="llama"))[-1])
    assert figures["before"] != whole["before"], "the base is another one"
    assert figures["after"] < figures["before"] * 9 // 10
    assert abs(figures["merged"] - figures["after"]) <= 10
    merged, base = part_of(parse_link(kept[-1]).tensors, "merged"), part_of(parse_link(kept[TUNED]).tensors, "base")
    plain = "model.layers.0.mlp.up_proj.weight"  # has no adapter
    for rows in merged[plain].reshape(-1, 16):
        assert len(np.unique(rows)) <= 16, "four bits a weight"
    assert not np.array_equal(merged[plain], base[plain])
    assert np.array_equal(merged["lm_head.weight"], base["lm_head.weight"])


def test_segment_when_the_base_has_4_bits_then_replays_to_the_same_bytes() -> None:
    kept = run_all(opened(**FOUR_BITS))
    again = opened(**FOUR_BITS)
    assert all(again.compute(unit, kept[unit]) == kept[unit + 1] for unit in range(again.units))


@pytest.mark.parametrize(
    ("changes", "words"), [({"base_bits": 4}, "llama"), ({**FOUR_BITS, "base_group": 32}, "divide width")]
)
def test_work_when_its_base_cannot_have_4_bits_then_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidInputError, match=words):
        opened(**changes)

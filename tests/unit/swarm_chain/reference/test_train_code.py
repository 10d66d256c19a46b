"""swarm-train-code/1: the customer's module trains, replays, and is refused where it is none. The text is run as it is here."""

from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from swarm_chain.core.errors import InconsistentError, InvalidInputError
from swarm_chain.core.jobs import parse_job_spec
from swarm_chain.reference.chain import parse_link
from swarm_chain.reference.programs.base import inputs_of
from swarm_chain.reference.programs.registry import open_program
from swarm_chain.reference.programs.train_code import TrainCodeProgram

CODE = (Path(__file__).parents[4] / "examples" / "train_code.py").read_text(encoding="utf-8")
NORMED = """
import torch
def build(work): return torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
def batch(work, number): return (torch.randn(8, 2),)
def loss(module, tensors): return module(tensors[0]).square().mean() + module[0].weight.sum()
"""
WORK = {
    "seed": 3,
    "steps": 60,
    "segment_steps": 20,
    "learning_rate_micro": 10_000,
    "settings": {"width": 16, "batch": 32},
}


def loaded(code: str) -> ModuleType:
    """The hooks, run without a sandbox: they are this test's own."""
    module = ModuleType("hooks")
    exec(compile(code, "hooks", "exec"), module.__dict__)  # noqa: S102
    return module


def opened(code: str = CODE, **changes: Any) -> TrainCodeProgram:
    """The program of a spec."""
    spec = parse_job_spec({"kind": "train", "program": "swarm-train-code/1", "work": WORK | changes, "code": code})
    program = open_program(spec, inputs_of({}))
    assert isinstance(program, TrainCodeProgram)
    return replace(program, load=loaded)


def run_all(program: TrainCodeProgram) -> list[bytes]:
    """All contents."""
    contents = [program.first()]
    for unit in range(program.units):
        contents.append(program.compute(unit, contents[-1]))
    return contents


def test_module_when_trained_then_learns_and_every_segment_replays() -> None:
    contents = run_all(opened())
    assert parse_link(contents[-1]).loss_micro < parse_link(contents[1]).loss_micro
    assert [opened().compute(unit, contents[unit]) for unit in range(3)] == contents[1:]


def test_buffers_and_random_numbers_when_used_then_replay() -> None:
    contents = run_all(opened(NORMED))
    assert opened(NORMED).compute(2, contents[2]) == contents[3]
    counted = parse_link(contents[3]).tensors["buffer.1.num_batches_tracked"]
    assert counted == 60


@pytest.mark.parametrize("changes", [{"seed": 4}, {"settings": {"width": 16, "batch": 31}}, {"learning_rate_micro": 1}])
def test_segment_when_of_other_work_then_has_other_weights(changes: dict[str, Any]) -> None:
    first, other = opened().first(), opened(**changes)
    theirs = replace(parse_link(first), spec=parse_link(other.first()).spec).dump()
    made, honest = (parse_link(content).tensors for content in (other.compute(0, theirs), opened().compute(0, first)))
    assert not all(np.array_equal(made[name], honest[name]) for name in honest)


def test_segment_when_copied_then_has_another_hash() -> None:
    program = opened()
    link = parse_link(program.first())
    assert link.next(program.first(), link.tensors) != program.compute(0, program.first())


def test_code_when_not_in_a_sandbox_then_is_not_run() -> None:
    spec = opened().spec
    with pytest.raises(InconsistentError, match="sandbox"):
        open_program(spec, inputs_of({})).first()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def build(work): pass", "no batch and no loss"),
        (NORMED + "build = lambda work: 7", "not a torch.nn.Module"),
        (NORMED + "build = lambda work: torch.nn.Linear(2, 3).double()", "float32"),
        (NORMED + "loss = lambda module, tensors: 1.0", "not a tensor"),
        (NORMED + "loss = lambda module, tensors: torch.ones(())", "no scalar that depends"),
        (NORMED + "loss = lambda module, tensors: module(tensors[0]).sum() * float('nan')", "not finite"),
    ],
)
def test_hooks_when_not_what_they_should_be_then_end_as_the_customers_fault(code: str, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        run_all(opened(code))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"steps": 61}, "no multiple"),
        ({"steps": 0}, "work.steps"),
        ({"code": ""}, "takes code"),
        ({"lr": 1}, "work.lr"),
    ],
)
def test_work_when_wrong_then_says_what_to_change(changes: dict[str, Any], said: str) -> None:
    code = str(changes.pop("code", CODE))
    with pytest.raises(InvalidInputError, match=said):
        opened(code, **changes)

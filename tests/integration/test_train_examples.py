"""The training examples: all are jobs, and the one with code trains in a sandbox as it does outside of one."""

from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from node.jobs.folder import JobFolder
from node.jobs.work import JobOrder, run_job
from swarm_chain.core.checkpoints import drawn_count
from swarm_chain.core.jobs import JobSpec, parse_job_spec
from swarm_chain.reference.programs.base import inputs_of
from swarm_chain.reference.programs.registry import open_program
from swarm_chain.reference.programs.train_code import TrainCodeProgram

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str, **changes: object) -> JobSpec:
    """The job of an example file, with other work."""
    document: dict[str, Any] = yaml.safe_load((EXAMPLES / name).read_text(encoding="utf-8"))
    if "code_file" in document:
        document["code"] = (EXAMPLES / document.pop("code_file")).read_text(encoding="utf-8")
    return parse_job_spec(document | {"work": document["work"] | changes})


def loaded(code: str) -> ModuleType:
    """The example's hooks, run without a sandbox."""
    module = ModuleType("hooks")
    exec(compile(code, "hooks", "exec"), module.__dict__)  # noqa: S102
    return module


@pytest.mark.parametrize(
    "name", ["train.yaml", "train-ddp.yaml", "train-fsdp.yaml", "train-code.yaml", "finetune.yaml"]
)
def test_example_when_opened_then_is_a_job_of_more_units_than_are_drawn(name: str) -> None:
    units = open_program(example(name), inputs_of({})).units
    assert units > drawn_count(units)


@pytest.mark.long
@pytest.mark.usefixtures("walls")
def test_code_when_trained_in_a_sandbox_then_gives_the_bytes_it_gives_outside(tmp_path: Path) -> None:
    spec = example("train-code.yaml", steps=4, segment_steps=2)
    program = open_program(spec, inputs_of({}))
    assert isinstance(program, TrainCodeProgram)
    outside = replace(program, load=loaded)

    result = run_job(JobOrder(document=spec.document(), folder=str(tmp_path)))

    assert result.exit_code == 0, result.reason
    folder, content = JobFolder(path=tmp_path), outside.first()
    for unit in range(program.units):
        assert folder.kept(unit) == content
        content = outside.compute(unit, content)
    assert folder.kept(program.units) == content

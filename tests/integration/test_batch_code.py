"""Customers' code of a batch job, each unit in a sandbox: exact, the same for a judge, and its faults the customer's."""

from pathlib import Path

import pytest
import yaml

from node.jobs.folder import JobFolder
from node.jobs.work import EXIT_FAILED, JobOrder, run_job
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.jobs import JobSpec, parse_job_spec
from swarm_chain.reference.programs import sandboxed
from tests.batch_world import DRAWN, batch_spec, program_of

pytestmark = pytest.mark.usefixtures("walls")

EXAMPLES = Path(__file__).parents[2] / "examples"
GOOD = "def load(work):\n    return work['options']['by']\n\ndef predict(by, rows):\n    return [by * row[0] for row in rows]\n"


def code_spec(code: str) -> JobSpec:
    """A batch of eight rows through this code."""
    work = {"rows": 8, "rows_per_unit": 4, "drawn": DRAWN, "options": {"by": 3}}
    return batch_spec(work, code=code, resources={"memory_mb": 512})


def test_code_when_run_as_a_job_then_each_unit_is_what_a_judge_computes_alone(
    ray_cluster: object, tmp_path: Path
) -> None:
    spec = code_spec(GOOD)
    result = run_job(JobOrder(document=spec.document(), folder=str(tmp_path)))
    made = JobFolder(path=tmp_path).kept(2)

    assert (result.exit_code, result.reason, len(result.contents)) == (0, "", 3)
    assert made == sandboxed.compute_unit(spec, {}, 1, program_of(spec).first())


def test_code_when_it_raises_then_the_job_failed_with_its_words(ray_cluster: object, tmp_path: Path) -> None:
    spec = code_spec(GOOD + "\nraise ValueError('no weights here')\n")
    result = run_job(JobOrder(document=spec.document(), folder=str(tmp_path)))

    assert (result.exit_code, result.contents) == (EXIT_FAILED, ())
    assert "no weights here" in result.reason


@pytest.mark.parametrize(
    ("code", "code_of_error", "message"),
    [
        ("x = 1", "customer_code", "no function load"),
        (GOOD.replace("[by * row[0] for row in rows]", "[1]"), "customer_code", "a list of 4 outputs"),
        (GOOD.replace("by * row[0]", "row[0] / 2"), "bad_output", "not exact"),
    ],
)
def test_code_when_it_gives_what_it_must_not_then_told_what_would_be_right(
    code: str, code_of_error: str, message: str
) -> None:
    spec = code_spec(code)
    with pytest.raises(InvalidInputError, match=message) as caught:
        sandboxed.compute_unit(spec, {}, 0, program_of(spec).first())
    assert (caught.value.code, bool(caught.value.fix)) == (code_of_error, True)


def test_example_when_posted_then_it_holds_the_file_beside_it_and_computes() -> None:
    spec = parse_job_spec(yaml.safe_load((EXAMPLES / "batch-code.yaml").read_text(encoding="utf-8")))
    lines = sandboxed.compute_unit(spec, {}, 7, program_of(spec).first()).splitlines()

    assert spec.code == (EXAMPLES / "batch_code.py").read_text(encoding="utf-8")
    assert len(lines) == 512

"""Jobs of customers, whole: through escrow, gateway, nodes, judgement and payment; also past a gateway that is killed."""

import io
import signal
from functools import partial
from pathlib import Path

import pytest
import yaml
from rich.console import Console

from swarm_chain.core.kinds import JobState
from tests.e2e import acts, examples
from tests.e2e.world import World, open_world

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = pytest.mark.long


def test_examples_when_played_then_each_is_judged_and_paid(tmp_path: Path) -> None:
    files = [EXAMPLES / "train.yaml", EXAMPLES / "batch.yaml"]

    found = examples.tell(tmp_path, files, Console(file=io.StringIO()))

    assert [(one.judged, one.paid_wei > 0) for one in found] == [("passed", True)] * len(files)


def test_gateway_when_killed_in_mid_job_and_started_again_then_the_job_is_done_and_paid_once(tmp_path: Path) -> None:
    with open_world(tmp_path / "world") as world:
        examples.open_for_work(world, print)
        spec = yaml.safe_load((EXAMPLES / "train.yaml").read_text(encoding="utf-8"))
        spec["work"] |= {"steps": 6000, "segment_steps": 100}
        path = tmp_path / "long.yaml"
        path.write_text(yaml.safe_dump(spec), encoding="utf-8")
        job_id = examples.submit(world, path)
        world.wait_for("some of its units", lambda: _units_done(world, job_id) > 2)

        world.processes.running.pop("gateway").send_signal(signal.SIGKILL)
        world.start_gateway()
        world.wait_for("the gateway again", lambda: world.gateway("/v1/gateway"))
        world.wait_for("completion", partial(examples.is_completed, world, job_id))
        world.wait_for("the verdict", partial(examples.verdict, world, job_id))
        examples.settle(world, [job_id], print)

        assert world.view("JobEscrow", "job", job_id)["state"] == JobState.PAID
        assert len(world.events("JobEscrow", "JobPaid", jobId=job_id)) == 1
        assert len(world.events("JobEscrow", "JobAccepted", jobId=job_id)) == 1
        results = world.swarm("job", "results", str(job_id), "--out", str(tmp_path / "results"), account=acts.CUSTOMER)
        assert results["contents"] == results["of"]


def _units_done(world: World, job_id: int) -> int:
    return int(world.gateway(f"/v1/jobs/{job_id}")["unitsDone"])

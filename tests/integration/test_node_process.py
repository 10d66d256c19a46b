"""A node as a process of its own, on a real chain, a real oracle member and a real Ray: killed, restarted, drained."""

import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from swarm_chain.devnet import Devnet
from tests.chain_fixtures import ChainTools
from tests.integration.node_stage import Stage, node_stage, wait_until


@pytest.fixture
def stage(ray_cluster: None, chain: Devnet, tools: ChainTools, tmp_path: Path) -> Iterator[Stage]:
    """A provider with one registered node, and an oracle member at work."""
    with node_stage(chain, tools, tmp_path) as made:
        yield made


def test_node_survives_sigkill_without_contradicting_itself_and_sigterm_ends_it_cleanly(stage: Stage) -> None:
    before = _workers()  # of tests that ran Ray tasks from this process
    first = stage.node()
    stored = first.wait_for("commitment_stored")
    with stage.time_stopped():
        first.process.kill()
        first.process.wait()
        second = stage.node()
        second.wait_for("agent_started")
    proof = second.wait_for("proof_delivered")
    assert proof["window_id"] == stored["window_id"]
    again = [entry for entry in second.events("commitment_stored") if entry["window_id"] == stored["window_id"]]
    assert again == []
    oracle = stage.programs[0]
    verdict = oracle.wait_for("verdict")
    assert (verdict["window"], verdict["outcome"]) == (stored["window_id"], "passed")

    workers = [worker for worker in _workers() if worker not in before]
    assert workers
    second.process.send_signal(signal.SIGTERM)
    assert second.process.wait(timeout=40) == 0
    assert second.events("agent_stopped")
    wait_until(lambda: not any(worker.is_running() for worker in workers))


def test_second_agent_of_one_node_is_refused(stage: Stage) -> None:
    stage.node().wait_for("node_active")
    second = stage.node()
    assert second.process.wait(timeout=40) == 2
    assert "another agent runs" in second.log.read_text()


def _workers() -> list[psutil.Process]:
    """Workers of the session's cluster that have computed something."""
    children = psutil.Process().children(recursive=True)
    return [child for child in children if child.name() == "ray::IDLE" and child.memory_info().rss > 200 * 2**20]

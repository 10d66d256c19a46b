"""A node joins a Ray cluster that runs already: found by its labels, gone with its agent."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from node.cluster import ClusterNode, joined_cluster, node_labels, provider_selector
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.units import ProviderId
from swarm_chain.testing import FakeSigner

OBJECT_STORE_BYTES = 80 * 2**20
NODE = FakeSigner("node").address
LABELS = node_labels(NODE, ProviderId(7), "eu-west", "cpu")
WAIT_S = 60


@pytest.mark.usefixtures("ray_cluster")
def test_node_when_it_joins_then_tasks_find_it_by_its_labels_until_it_leaves() -> None:
    import ray

    with joined_cluster(_own(_head())) as folder:
        nodes = ray.nodes()  # type: ignore[no-untyped-call]  # Ray has no types for it
        (joined,) = (node for node in nodes if node["Alive"] and node["Labels"].get("swarm/node") == NODE)
        assert {name: joined["Labels"][name] for name in LABELS} == dict(LABELS)
        where = ray.remote(_node_id).options(num_cpus=0, label_selector=dict(provider_selector(LABELS)))
        assert ray.get(where.remote(), timeout=WAIT_S) == joined["NodeID"]
    assert _processes_of(folder) == []
    assert not folder.exists()


@pytest.mark.usefixtures("ray_cluster")
def test_agent_when_killed_then_its_node_ends_too() -> None:
    program = (
        "import sys, time; from node.cluster import ClusterNode, joined_cluster\n"
        f"own = ClusterNode(head={_head()!r}, host='127.0.0.1', labels={{}}, cpus=1, gpus=0, "
        f"object_store_bytes={OBJECT_STORE_BYTES})\n"
        "with joined_cluster(own) as folder:\n    print(folder, flush=True)\n    time.sleep(1000)\n"
    )
    agent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert agent.stdout is not None
    lines = iter(agent.stdout.readline, "")
    folder = Path(next(line for line in lines if "swarm-ray-" in line and "{" not in line).strip())
    assert _processes_of(folder)
    os.kill(agent.pid, signal.SIGKILL)
    agent.wait()
    agent.stdout.close()
    until = time.monotonic() + WAIT_S
    while _processes_of(folder) and time.monotonic() < until:
        time.sleep(0.2)
    assert _processes_of(folder) == []


def test_node_when_nobody_answers_then_the_error_says_what_to_check() -> None:
    with pytest.raises(UnavailableError) as caught, joined_cluster(_own("127.0.0.1:1")):
        pass
    assert caught.value.code == "cluster_unreachable"
    assert "SWARM_CLUSTER_ADDRESS" in caught.value.fix


def test_labels_when_a_value_is_none_then_it_is_refused() -> None:
    with pytest.raises(InvalidInputError) as caught:
        node_labels(NODE, ProviderId(7), "eu west", "cpu")
    assert caught.value.code == "bad_label"


def _own(head: str) -> ClusterNode:
    return ClusterNode(
        head=head, host="127.0.0.1", labels=LABELS, cpus=1, gpus=0, object_store_bytes=OBJECT_STORE_BYTES
    )


def _head() -> str:
    import ray

    return str(ray.get_runtime_context().gcs_address)


def _node_id() -> str:
    import ray

    return str(ray.get_runtime_context().get_node_id())


def _processes_of(folder: Path) -> list[int]:
    found = []
    for process in psutil.process_iter(["cmdline"]):
        if any(str(folder) in part for part in process.info["cmdline"] or ()):
            found.append(process.pid)
    return found

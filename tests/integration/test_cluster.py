"""A node joins a Ray cluster that runs already: found by its labels, gone with its agent."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
import uvicorn

from node.cluster import ClusterNode, joined_cluster, measured_labels, node_labels, provider_selector
from node.jobs.workers import selector_of
from node.ray_connection import cluster_labels
from oracle.api.server import http_config
from oracle.publish.classes import proven_of
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.jobs import JobSpec, Placement, Resources
from swarm_chain.core.kinds import Category, HardwareClass
from swarm_chain.core.units import Address, ProviderId
from swarm_chain.testing import FakeChain, FakeSigner
from tests.committee_world import CommitteeWorld
from tests.member_world import ALICE

OBJECT_STORE_BYTES = 80 * 2**20
NODE = FakeSigner("node").address
LABELS = node_labels(NODE, ProviderId(7), "eu-west", "cpu")
NOBODY = "http://127.0.0.1:9"
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
def test_node_when_a_member_published_what_it_proved_then_its_labels_show_it(tmp_path: Path) -> None:
    import ray

    registered = dict(node_labels(ALICE.address, ProviderId(1), "eu-west", "cpu"))
    with _member(tmp_path) as (committee, url):
        chain = _with_registry(committee.first.chain)
        assert cluster_labels(chain, (url, NOBODY), ALICE.address) == registered, "no report was accepted yet"
        epoch = committee.play_epoch()
        committee.settle()
        proven = proven_of(ALICE.address, committee.first.member.archive.published(epoch).facts)
        labels = cluster_labels(chain, (url, NOBODY), ALICE.address)
    with joined_cluster(_own(_head(), labels)):
        nodes = ray.nodes()  # type: ignore[no-untyped-call]  # Ray has no types for it
        (joined,) = (node for node in nodes if node["Alive"] and node["Labels"].get("swarm/node") == ALICE.address)
        shown = {name: value for name, value in joined["Labels"].items() if name.startswith("swarm/")}
        assert shown == registered | {"swarm/measured-compute": str(proven[Category.COMPUTE])}


@pytest.mark.usefixtures("ray_cluster")
def test_workers_when_their_job_asks_for_a_measurement_then_they_run_on_the_node_labelled_with_it() -> None:
    import ray
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    quick, slow = FakeSigner("quick").address, FakeSigner("slow").address
    with joined_cluster(_own(_head(), _labelled(slow, 299))), joined_cluster(_own(_head(), _labelled(quick, 300))):
        selector = dict(selector_of(provider_selector(LABELS), _wanting(300)))
        task = ray.remote(_node_label).options(num_cpus=1, label_selector=selector)
        assert ray.get([task.remote() for _ in range(3)], timeout=WAIT_S) == [quick] * 3
        bundle = ray.util.placement_group([{"CPU": 1}], bundle_label_selector=[selector])
        bundled = ray.remote(_node_label).options(
            num_cpus=1, scheduling_strategy=PlacementGroupSchedulingStrategy(bundle)
        )
        assert ray.get(bundled.remote(), timeout=WAIT_S) == quick
        ray.util.remove_placement_group(bundle)
        assert selector_of(provider_selector(LABELS), _wanting(301)) == provider_selector(LABELS), "nobody has it"


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


@contextmanager
def _member(folder: Path) -> Iterator[tuple[CommitteeWorld, str]]:
    """A committee of one whose member serves on loopback."""
    committee = CommitteeWorld(folder, count=1, quorum=1)
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(http_config(committee.first.app))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield committee, f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
        committee.close_down()


def _with_registry(chain: FakeChain) -> FakeChain:
    """The chain with the registry's answers about alice's node."""
    chain.program.view("ProviderRegistry", "providerIdOfNode", lambda _, node: int(node == ALICE.address))
    record = {"hardwareClass": HardwareClass.CPU, "region": b"eu-west\0"}
    chain.program.view("ProviderRegistry", "provider", lambda _, __: record)
    return chain


def _own(head: str, labels: Mapping[str, str] = LABELS) -> ClusterNode:
    return ClusterNode(
        head=head, host="127.0.0.1", labels=labels, cpus=1, gpus=0, object_store_bytes=OBJECT_STORE_BYTES
    )


def _head() -> str:
    import ray

    return str(ray.get_runtime_context().gcs_address)


def _labelled(node: Address, compute: int) -> Mapping[str, str]:
    registered = node_labels(node, ProviderId(7), "eu-west", "cpu")
    return {**registered, **measured_labels({Category.COMPUTE: compute})}


def _wanting(compute: int) -> JobSpec:
    return JobSpec(
        kind="tune",
        program="swarm-tune/1",
        work={},
        placement=Placement(measured={"compute": compute}),
        resources=Resources(memory_mb=64),
    )


def _node_label() -> str:
    import ray

    return str(ray.get_runtime_context().get_node_labels()["swarm/node"])


def _node_id() -> str:
    import ray

    return str(ray.get_runtime_context().get_node_id())


def _processes_of(folder: Path) -> list[int]:
    found = []
    for process in psutil.process_iter(["cmdline"]):
        if any(str(folder) in part for part in process.info["cmdline"] or ()):
            found.append(process.pid)
    return found

"""The network part of the suite over real loopback: every metric has a value, measured by this machine."""

from pathlib import Path
from time import perf_counter_ns

from node.suite.cli import LOCAL, OTHERS
from node.suite.metrics import HERE, Bench
from node.suite.network import network_metrics
from swarm_chain.core.compute import ComputeShape
from swarm_chain.core.links import MAX_US, PPM


def test_network_when_measured_over_loopback_then_every_figure_is_there_and_by_this_machine(tmp_path: Path) -> None:
    bench = Bench(
        shape=ComputeShape(m=64, n=64, steps=1),
        runs=1,
        device="cpu",
        threads=1,
        folder=tmp_path,
        clock_ns=perf_counter_ns,
    )

    found = {one.name: one for one in network_metrics(bench)}

    assert set(found) == {"latency", "jitter", "loss", "bandwidth up", "bandwidth down"}
    values = {name: one.value for name, one in found.items()}
    assert values["latency"] is not None
    assert 0 < values["latency"] < MAX_US
    assert values["loss"] is not None
    assert values["loss"] < PPM
    assert values["bandwidth up"]
    assert values["bandwidth down"]
    assert all(one.measured_by == HERE and "loopback" in one.method for one in found.values())
    assert "network" in LOCAL
    assert "network" not in OTHERS

"""iperf3 itself, where it is installed: a server of ours, a client of ours, both ways over loopback."""

import shutil
import socket
import time
from collections.abc import Iterator

import pytest

from node.links.iperf import IperfServer, slower_way

pytestmark = pytest.mark.skipif(shutil.which("iperf3") is None, reason="iperf3 is not installed")

HOST, PATIENCE_S = "127.0.0.1", 30


@pytest.fixture
def port() -> Iterator[int]:
    """Where a server listens."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        free = int(probe.getsockname()[1])
    server = IperfServer(HOST, free)
    yield free
    server.close()


def measured(port: int) -> int:
    """What is found once the server is up."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        found = slower_way(HOST, port)
        if found is not None:
            return found
    raise AssertionError("the server never answered")


def test_server_when_asked_again_and_again_then_it_answers_each_time(port: int) -> None:
    assert [measured(port) > 0 for _ in range(2)] == [True, True]


def test_client_when_nobody_serves_then_nothing_is_measured() -> None:
    with socket.socket() as bound:
        bound.bind((HOST, 0))

        assert slower_way(HOST, int(bound.getsockname()[1])) is None


def test_server_when_closed_then_its_port_is_free() -> None:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        free = int(probe.getsockname()[1])
    IperfServer(HOST, free).close()

    with socket.socket() as again:
        again.bind((HOST, free))

"""Connections that say nothing, say it slowly or say nonsense, against the member's real HTTP server on loopback."""

import resource
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import uvicorn

from oracle.api.server import MAX_SILENT, http_config
from tests.member_world import MemberWorld

HEAD_WITHIN_S = 3.0
GET = b"GET /healthz HTTP/1.1\r\nHost: member\r\n\r\n"
SILENT = 10_000


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A member that serves on loopback until the module ends."""
    folder: Path = tmp_path_factory.mktemp("member")
    world = MemberWorld(folder)
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    server = uvicorn.Server(http_config(world.app, HEAD_WITHIN_S))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield int(listener.getsockname()[1])
    server.should_exit = True
    thread.join()
    world.close_down()


def connect(port: int) -> socket.socket:
    """A connection to the member."""
    return socket.create_connection(("127.0.0.1", port), timeout=30)


def healthy(port: int) -> bool:
    """Whether somebody who comes now is served."""
    with connect(port) as one:
        one.sendall(GET)
        return one.recv(4096).startswith(b"HTTP/1.1 200")


def hung_up(one: socket.socket) -> bool:
    """Whether the member ends a connection; it may say why first."""
    try:
        while one.recv(4096):
            pass
    except ConnectionResetError:
        pass
    return True


def test_connections_when_10_000_say_nothing_then_whoever_speaks_is_served(port: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = min(SILENT, hard - 2 * MAX_SILENT)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count + 2 * MAX_SILENT), hard))
    assert count > 2 * MAX_SILENT
    with ExitStack() as stack:
        first = stack.enter_context(connect(port))
        for number in range(count):
            stack.enter_context(connect(port))
            if number % 1000 == 0:
                assert healthy(port), number
        assert healthy(port)
        assert hung_up(first)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_head_when_it_comes_byte_by_byte_then_the_connection_ends_in_time(port: int) -> None:
    with connect(port) as loris:
        started = time.monotonic()
        ended = False
        while not ended and time.monotonic() < started + 10 * HEAD_WITHIN_S:
            try:
                loris.sendall(b"X")
                time.sleep(0.1)
            except OSError:
                ended = True
    assert ended
    assert healthy(port)


def test_head_when_the_second_one_of_a_connection_is_slow_then_it_ends_too(port: int) -> None:
    with connect(port) as one:
        one.sendall(GET)
        assert one.recv(4096).startswith(b"HTTP/1.1 200")
        one.sendall(b"GET /hea")
        assert hung_up(one)


@pytest.mark.parametrize(
    "garbage", [b"\0" * 64, b"GET GET GET\r\n\r\n", b"\x16\x03\x01\x02\0\x01", b"{" * 5000 + b"\r\n\r\n"]
)
def test_connection_when_garbage_is_pipelined_after_a_request_then_that_one_is_answered_and_it_ends(
    port: int, garbage: bytes
) -> None:
    with connect(port) as one:
        one.sendall(GET + garbage)
        answer = one.recv(65_536)
        assert answer.startswith(b"HTTP/1.1 ")
        one.shutdown(socket.SHUT_WR)
        assert hung_up(one)
    assert healthy(port)


def test_connection_when_requests_are_pipelined_then_each_is_answered(port: int) -> None:
    with connect(port) as one:
        one.sendall(GET * 5)
        received = b""
        while received.count(b"HTTP/1.1 200") < 5:
            piece = one.recv(65_536)
            assert piece, received
            received += piece

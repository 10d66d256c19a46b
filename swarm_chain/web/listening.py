"""The socket a service listens on, and how it is told to stop."""

import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, Protocol

from swarm_chain.core.errors import InvalidInputError

BACKLOG: Final = 2048  # connections the kernel keeps until they are accepted; it may allow fewer


class Stoppable(Protocol):
    """A server as uvicorn has it."""

    should_exit: bool


def listening(host: str, port: int, fix: str = "") -> socket.socket:
    """A socket that listens at an address.

    Args:
        host: address of this machine, IPv4 or IPv6.
        port: free there; 0: any.
        fix: what to do if it cannot; by default as for the options --host and --port.

    Raises:
        InvalidInputError: it cannot (code cannot_listen, exit 3).
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as error:
        raise InvalidInputError(
            f"cannot listen on {host} port {port}: {getattr(error, 'strerror', None) or error}",
            fix=fix or "stop the program that uses it, or give another --host or --port",
            code="cannot_listen",
            exit_code=3,
        ) from error


@contextmanager
def stopped_by_signals(server: Stoppable) -> Iterator[None]:
    """Makes SIGINT and SIGTERM a wish to stop, also before the server runs and after it: uvicorn raises them once more."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        server.should_exit = True

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

"""Unit tests open no sockets: where one tries, the interpreter itself refuses and the test fails."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

_REFUSED = frozenset({"socket.bind", "socket.connect", "socket.getaddrinfo", "socket.sendto"})


@dataclass(slots=True)
class _Guard:
    """Whether a unit test is running; an audit hook cannot be taken away again."""

    active: bool = False

    def __call__(self, event: str, _arguments: tuple[object, ...]) -> None:
        if self.active and event in _REFUSED:
            raise RuntimeError(f"{event} in a unit test: use a port, or move the test to tests/integration")


_guard = _Guard()
sys.addaudithook(_guard)


@pytest.fixture(autouse=True)
def sockets_refused() -> Iterator[None]:
    """Turns the guard on around every unit test."""
    _guard.active = True
    yield
    _guard.active = False

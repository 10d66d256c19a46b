"""The guard of this folder bites."""

import asyncio

import pytest


def test_connecting_in_a_unit_test_is_refused() -> None:
    with pytest.raises(RuntimeError, match="in a unit test"):
        asyncio.run(asyncio.open_connection("127.0.0.1", 9))


def test_listening_in_a_unit_test_is_refused() -> None:
    with pytest.raises(RuntimeError, match="in a unit test"):
        asyncio.run(asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", 0))

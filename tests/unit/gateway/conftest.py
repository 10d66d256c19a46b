"""A gateway for every test that asks for one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gateway_world import GatewayWorld


@pytest.fixture
def world(tmp_path: Path) -> Iterator[GatewayWorld]:
    """A gateway on a fresh chain."""
    made = GatewayWorld(tmp_path)
    yield made
    made.close()

"""A member over a chain in memory."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.member_world import MemberWorld


@pytest.fixture
def world(tmp_path: Path) -> Iterator[MemberWorld]:
    """A member that has seen the chain, with alice's and bob's nodes on it."""
    made = MemberWorld(tmp_path)
    yield made
    made.close_down()

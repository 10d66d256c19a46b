"""Fixtures every test may ask for."""

from collections.abc import Iterator

import pytest
import structlog

pytest_plugins = ("tests.chain_fixtures", "tests.databases", "tests.ray_cluster", "tests.secrets_guard")


@pytest.fixture(autouse=True)
def _logs_as_by_default() -> Iterator[None]:
    """A command run in this process sets up logs for a whole process; the next test must not inherit its level."""
    yield
    structlog.reset_defaults()

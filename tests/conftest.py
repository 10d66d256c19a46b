"""Fixtures every test may ask for."""

from collections.abc import Iterator

import pytest
import structlog

# Whole files are dealt to the workers in this order, so the long ones must not come last. The story comes when the contracts'
# own tests, which run beside, are over: its devices need a core.
TURNS = ("tests/contract", "tests/integration", "tests/e2e", "tests")

pytest_plugins = ("tests.chain_fixtures", "tests.databases", "tests.ray_cluster", "tests.secrets_guard", "tests.walls")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the tests into the order of TURNS; within a folder they stay as they are."""
    items.sort(key=_turn)


@pytest.fixture(autouse=True)
def _logs_as_by_default() -> Iterator[None]:
    """A command run in this process sets up logs for a whole process; the next test must not inherit its level."""
    yield
    structlog.reset_defaults()


def _turn(item: pytest.Item) -> int:
    place = item.path.relative_to(item.config.rootpath).as_posix()
    return next(turn for turn, folder in enumerate(TURNS) if place.startswith(f"{folder}/"))

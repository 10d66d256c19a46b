"""Whether this machine can wall customers' code off: a container without the right to make namespaces cannot, and says so."""

from functools import cache

import pytest

from swarm_chain.core.errors import UnavailableError
from swarm_chain.reference.programs.sandboxed import run_hook
from swarm_chain.sandbox.limits import SandboxLimits


@pytest.fixture
def walls() -> None:
    """Skips a test where there are none; what is skipped is told at the end of the run."""
    lacking = _lacking()
    if lacking:
        pytest.skip(f"no sandbox here: {lacking}")


@cache
def _lacking() -> str:
    try:
        run_hook("def f(data): return data", "f", b"", SandboxLimits(seconds=60))
    except UnavailableError as error:
        return error.message
    return ""

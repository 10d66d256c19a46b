"""A small Ray cluster on loopback for tests: one for the whole session, started by the first test that asks for it."""

import os
import secrets
from collections.abc import Iterator

import pytest

_OBJECT_STORE_BYTES = 80 * 2**20


def pytest_configure() -> None:
    """Sets what Ray reads when it is imported, before the first test module imports it."""
    os.environ["RAY_AUTH_MODE"] = "token"  # without a token any process of the machine could run code in the cluster
    os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # Ray's switch for binding to loopback only
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[None]:
    """Two CPUs, no dashboard, an object store of 80 MiB; this process is connected to it."""
    import ray

    ray.init(
        address="local",
        num_cpus=2,
        num_gpus=0,
        include_dashboard=False,
        object_store_memory=_OBJECT_STORE_BYTES,
        log_to_driver=False,
    )
    yield
    ray.shutdown()

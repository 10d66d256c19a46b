"""A small Ray cluster on loopback for tests: one for the whole session, started by the first test that asks for it."""

import os
import secrets
from collections.abc import Iterator

import pytest

# Ray reads both when it starts; without a token every process of the machine could run code in the cluster.
_SETTINGS = {"RAY_AUTH_MODE": "token", "RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
_OBJECT_STORE_BYTES = 80 * 2**20


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[None]:
    """Two CPUs, no dashboard, token authentication, an object store of 80 MiB; this process is connected to it."""
    settings = {**_SETTINGS, "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    import ray

    ray.init(
        address="local",
        num_cpus=2,
        num_gpus=0,
        include_dashboard=False,
        object_store_memory=_OBJECT_STORE_BYTES,
        _node_ip_address="127.0.0.1",
        log_to_driver=False,
    )
    try:
        yield
    finally:
        ray.shutdown()
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value

"""The Ray head of a gateway: it outlives its starter, wants the token, and leaves nothing behind."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from gateway.config import GatewaySettings, load_settings, ray_token_file
from gateway.head import find_head, running_head, stop_head

pytestmark = pytest.mark.long

JOIN = (
    "import ray, sys; ray.init(address=sys.argv[1], log_to_driver=False); print(ray.cluster_resources().get('CPU', 0))"
)


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[GatewaySettings]:
    """A folder for a head, which is ended with it."""
    made = load_settings({"folder": tmp_path})
    yield made
    stop_head(tmp_path)


def joined(address: str, **token: str) -> "subprocess.CompletedProcess[bytes]":
    """A program that joins a head with a token, and tells how many CPUs it has."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH_TOKEN")}
    environment = {**kept, "RAY_AUTH_MODE": "token", **token}
    return subprocess.run([sys.executable, "-c", JOIN, address], env=environment, capture_output=True, check=False)


def test_head_is_found_again_wants_its_token_and_ends_with_all_its_processes(settings: GatewaySettings) -> None:
    head = running_head(settings)
    assert running_head(settings) == head
    token_file = ray_token_file(settings)
    assert token_file.stat().st_mode & 0o077 == 0

    own = joined(head.address, RAY_AUTH_TOKEN_PATH=str(token_file))
    assert (own.returncode, own.stdout.strip()) == (0, b"0"), own.stderr  # no CPUs: nobody's task runs beside the keys
    assert joined(head.address, RAY_AUTH_TOKEN="00" * 32).returncode != 0
    family = psutil.Process(head.pid).children(recursive=True)
    listening = {one.laddr.ip for each in family for one in each.net_connections() if one.status == "LISTEN"}
    assert {ip.removeprefix("::ffff:") for ip in listening} <= {"127.0.0.1", "::1"}

    assert stop_head(settings.own_folder)
    assert [one for one in family if one.is_running()] == []
    assert find_head(settings.own_folder) is None
    assert not stop_head(settings.own_folder)

"""`swarm cluster` where nothing runs, and its settings."""

import json
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from gateway.config import load_settings, ray_environment, ray_token_file
from gateway.main import gateway_signer
from swarm_chain.adapters.private_files import read_private
from swarm_chain.cli.context import Session
from swarm_chain.cli.lazy import ENTRY_POINT_GROUP, load_noun
from swarm_chain.core.errors import InvalidInputError


def cluster(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """What a command says as JSON."""
    command = load_noun(EntryPoint("cluster", "gateway.cli:app", ENTRY_POINT_GROUP))
    session = Session(as_json=True)
    command.main([*arguments, "--json"], standalone_mode=False, obj=session)
    session.output.finish()
    return json.loads(capsys.readouterr().out)


def test_status_of_a_cluster_that_does_not_run_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = cluster(capsys, "status", "--folder", str(tmp_path))

    assert (found["gateway"], found["rayHead"], found["nodes"]) == (None, None, [])


def test_down_of_a_cluster_that_does_not_run_ends_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "head.json").write_text('{"pid": 1, "created_ms": 5, "address": "127.0.0.1:9"}')

    assert cluster(capsys, "down", "--folder", str(tmp_path)) == {"gateway": False, "rayHead": False}


def test_setting_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="fee_bps") as wrong:
        load_settings({"folder": tmp_path, "fee_bps": 9999})
    assert wrong.value.exit_code == 3
    assert "SWARM_GATEWAY_FEE_BPS" in wrong.value.fix


def test_own_variable_comes_before_the_common_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWARM_RPC_URL", "http://common:1")
    assert load_settings({}).endpoints == ("http://common:1",)
    monkeypatch.setenv("SWARM_GATEWAY_RPC_URL", "http://own:1")
    assert load_settings({}).endpoints == ("http://own:1",)
    assert load_settings({"rpc_url": "http://given:1"}).endpoints == ("http://given:1",)


def test_key_is_made_once_and_kept_private(tmp_path: Path) -> None:
    settings = load_settings({"folder": tmp_path})
    made = gateway_signer(settings)

    assert gateway_signer(settings).address == made.address
    settings.key_file.chmod(0o644)
    with pytest.raises(InvalidInputError, match="others may read it"):
        gateway_signer(settings)


def test_ray_head_always_wants_a_token_and_stays_on_loopback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "somebody else's")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    token_file = ray_token_file(load_settings({"folder": tmp_path}))

    environment = ray_environment(token_file, loopback=True)

    assert environment["RAY_AUTH_MODE"] == "token"
    assert environment["RAY_AUTH_TOKEN_PATH"] == str(token_file)
    assert environment["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] == "0"
    assert "RAY_AUTH_TOKEN" not in environment
    assert len(read_private(token_file, "Ray token", "start it")) == 64

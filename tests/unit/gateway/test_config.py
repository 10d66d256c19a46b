"""Settings of a gateway: its own variables first, then those all parts share, and nobody else's."""

from pathlib import Path

import pytest

from gateway.config import load_settings


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"HOME": "/someone", "SWARM_HOME": "/shared"}, "/shared/gateway"),
        ({"SWARM_HOME": "/shared", "SWARM_GATEWAY_HOME": "/own"}, "/own/gateway"),
        ({"SWARM_HOME": "/shared", "SWARM_GATEWAY_FOLDER": "/here"}, "/here"),
    ],
)
def test_folder_when_several_are_named_then_the_gateways_own_comes_first(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], folder: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert load_settings({}).own_folder == Path(folder)


def test_option_when_given_then_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWARM_HOME", "/shared")

    assert load_settings({"home": Path("/given")}).own_folder == Path("/given/gateway")

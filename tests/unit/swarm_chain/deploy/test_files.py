"""Deployment files: what is saved is loaded, and what is no deployment says why."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swarm_chain.core.errors import InvalidInputError
from swarm_chain.deploy import load_deployment, save_deployment
from swarm_chain.testing import FakeChain

DEPLOYMENT = FakeChain().deployment


def test_saved_deployment_is_loaded_again(tmp_path: Path) -> None:
    path = tmp_path / "deployments" / "31337.json"

    save_deployment(DEPLOYMENT, path)

    assert load_deployment(path) == DEPLOYMENT
    assert set(json.loads(path.read_text())) == {"chainId", "block", "params", "contracts"}
    assert [entry.name for entry in path.parent.iterdir()] == ["31337.json"]


def test_missing_file_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError) as caught:
        load_deployment(tmp_path / "none.json")

    assert (caught.value.code, caught.value.exit_code) == ("deployment_missing", 3)
    assert "swarm dev up" in caught.value.fix


@pytest.mark.parametrize(
    "damage",
    [
        lambda d: d.pop("chainId"),
        lambda d: d.pop("contracts"),
        lambda d: d["contracts"].pop("StakeVault"),
        lambda d: d["contracts"].update(StakeVault="0x12"),
        lambda d: d["contracts"].update(StakeVault=None),
        lambda d: d.update(chainId="one"),
        lambda d: d.update(contracts=[]),
    ],
)
def test_incomplete_file_is_refused_with_exit_code_3(
    tmp_path: Path, damage: Callable[[dict[str, Any]], object]
) -> None:
    path = tmp_path / "deployment.json"
    save_deployment(DEPLOYMENT, path)
    document = json.loads(path.read_text())
    damage(document)
    path.write_text(json.dumps(document))

    with pytest.raises(InvalidInputError) as caught:
        load_deployment(path)

    assert (caught.value.code, caught.value.exit_code) == ("deployment_broken", 3)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3"])
def test_file_that_is_no_document_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "deployment.json"
    path.write_text(text)

    with pytest.raises(InvalidInputError) as caught:
        load_deployment(path)

    assert caught.value.code == "deployment_broken"

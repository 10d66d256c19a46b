"""Deployment files: what is saved is loaded, and what is no deployment says why."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swarm_chain.core.errors import InconsistentError, InvalidInputError
from swarm_chain.deploy import load_deployment, load_plan, save_deployment, save_plan
from swarm_chain.testing import FakeChain, FakeSigner
from tests.unit.swarm_chain.deploy.world import plan_of

DEPLOYMENT = FakeChain().deployment
PLAN = plan_of("mainnet")


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


def test_saved_plan_is_recomputed_and_read_as_an_address_book(tmp_path: Path) -> None:
    path = tmp_path / "31337.json"

    save_plan(PLAN, path)

    assert load_plan(path) == PLAN
    assert load_deployment(path) == PLAN.deployment


def test_file_without_its_origin_cannot_be_verified(tmp_path: Path) -> None:
    path = tmp_path / "deployment.json"
    save_deployment(PLAN.deployment, path)

    with pytest.raises(InvalidInputError, match="lacks 'origin'"):
        load_plan(path)


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (lambda d: d["contracts"].update(StakeVault=FakeSigner("thief").address), "deployment_differs"),
        (lambda d: d["origin"].update(firstNonce=1), "deployment_differs"),
        (lambda d: d["origin"].update(deployer=FakeSigner("thief").address), "deployment_differs"),
        (lambda d: d.update(paramsVersion=d["paramsVersion"] + 1), "other_params"),
        (lambda d: d.update(params="minimal"), "other_params"),
    ],
)
def test_file_that_contradicts_itself_is_refused(
    tmp_path: Path, damage: Callable[[dict[str, Any]], object], code: str
) -> None:
    path = tmp_path / "deployment.json"
    save_plan(PLAN, path)
    document = json.loads(path.read_text())
    damage(document)
    path.write_text(json.dumps(document))

    with pytest.raises(InconsistentError) as caught:
        load_plan(path)

    assert caught.value.code == code


@pytest.mark.parametrize("missing", ["deployer", "firstNonce", "genesisAt"])
def test_origin_must_be_whole(tmp_path: Path, missing: str) -> None:
    path = tmp_path / "deployment.json"
    save_plan(PLAN, path)
    document = json.loads(path.read_text())
    document["origin"].pop(missing)
    path.write_text(json.dumps(document))

    with pytest.raises(InvalidInputError, match=missing):
        load_plan(path)

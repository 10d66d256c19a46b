"""Every error of every ABI reaches a person as name, values and a sentence of what to do, and a program as JSON."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from eth_abi.abi import encode

from swarm_chain.abi import CONTRACTS, load_artifact
from swarm_chain.adapters.contracts import decode_revert, error_selector
from swarm_chain.cli.output import Output
from swarm_chain.testing import FakeSigner

SAMPLES: Mapping[str, object] = {
    "address": FakeSigner("somebody").address,
    "bytes32": bytes(range(32)),
    "bytes4": b"\1\2\3\4",
    "string": "text",
    "bytes": b"bytes",
    "bool": True,
}
ERRORS = [
    pytest.param(item, id=f"{contract}-{item['name']}")
    for contract in CONTRACTS
    for item in load_artifact(contract).abi
    if item["type"] == "error"
]


def _revert_data(item: Mapping[str, Any]) -> bytes:
    kinds = [argument["type"] for argument in item["inputs"]]
    return error_selector(item) + encode(kinds, [SAMPLES.get(kind, 7) for kind in kinds])


@pytest.mark.parametrize("item", ERRORS)
def test_error_of_the_abi_reaches_a_person_with_a_sentence(
    item: Mapping[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    code = Output().fail(decode_revert(_revert_data(item)))

    shown, fix = capsys.readouterr().err.strip().split("\n")
    assert code == 5
    assert shown.startswith(f"error: {item['name']}(")
    assert all(f"{argument['name']} = " in shown for argument in item["inputs"])
    sentence = fix.removeprefix("  fix: ")
    assert sentence[0].isupper()
    assert sentence.endswith(".")
    assert len(sentence.split()) >= 4


@pytest.mark.parametrize("item", ERRORS)
def test_error_of_the_abi_reaches_a_program_as_one_document(
    item: Mapping[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    Output(as_json=True).fail(decode_revert(_revert_data(item)))

    document = json.loads(capsys.readouterr().out)
    assert (document["error"], document["exitCode"]) == (item["name"], 5)
    assert list(document["values"]) == [argument["name"] for argument in item["inputs"]]
    assert document["fix"]


def test_walk_covers_every_contract_that_can_say_no() -> None:
    silent = {name for name in CONTRACTS if not any(item["type"] == "error" for item in load_artifact(name).abi)}

    assert silent == set()
    assert len(ERRORS) > 150

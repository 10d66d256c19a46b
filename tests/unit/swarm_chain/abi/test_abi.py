"""Artifacts: every error of every contract tells people what to do."""

from itertools import pairwise

import pytest

from swarm_chain.abi import CONTRACTS, error_named, load_artifact, load_errors
from swarm_chain.adapters.contracts import error_selector
from swarm_chain.core.errors import InvalidInputError


@pytest.mark.parametrize("name", CONTRACTS)
def test_every_error_of_a_contract_has_its_selector_its_arguments_and_a_sentence(name: str) -> None:
    for item in load_artifact(name).abi:
        if item["type"] == "error":
            entry = load_errors()[error_selector(item)]
            assert entry.name == item["name"]
            assert entry.inputs == tuple((argument["name"], argument["type"]) for argument in item["inputs"])
            assert all(argument for argument, _ in entry.inputs), f"{entry.name}: an argument has no name"


def test_every_sentence_is_one_sentence_that_says_something() -> None:
    for entry in load_errors().values():
        assert entry.fix.endswith("."), entry.name
        assert len(entry.fix.split()) >= 4, entry.name
        assert entry.fix[0].isupper(), entry.name


@pytest.mark.parametrize("name", CONTRACTS)
def test_functions_and_events_of_a_contract_have_names_of_their_own(name: str) -> None:
    for kind in ("function", "event"):
        names = [item["name"] for item in load_artifact(name).abi if item["type"] == kind]
        assert len(names) == len(set(names))


@pytest.mark.parametrize("name", CONTRACTS)
def test_creation_code_is_there_and_small_enough_to_deploy(name: str) -> None:
    assert 0 < len(load_artifact(name).creation_code) <= 2 * 24_576


@pytest.mark.parametrize("name", CONTRACTS)
def test_immutables_are_empty_words_of_the_runtime_code(name: str) -> None:
    artifact = load_artifact(name)

    assert artifact.runtime_code in artifact.creation_code
    places = sorted(place for offsets in artifact.immutables.values() for place in offsets)
    assert all(later - earlier >= 32 for earlier, later in pairwise(places))
    assert all(artifact.runtime_code[place : place + 32] == bytes(32) for place in places)


def test_unknown_contract_and_error_are_refused() -> None:
    with pytest.raises(InvalidInputError):
        load_artifact("Casino")
    with pytest.raises(InvalidInputError):
        error_named("HouseWins")

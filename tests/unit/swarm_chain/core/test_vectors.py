"""The vector check accepts the published file and names every value that was changed."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.vectors import check_vector_text, check_vectors
from tests.compute_world import VECTORS

TEXT = VECTORS.read_text(encoding="utf-8")
SMALL = {**json.loads(TEXT), "cases": json.loads(TEXT)["cases"][:1]}
Document = dict[str, Any]


def changed(change: Callable[[Document], object]) -> Document:
    document: Document = json.loads(json.dumps(SMALL))
    change(document)
    return document


def flip(text: str) -> str:
    """The same text with its last hex digit changed."""
    return text[:-1] + ("0" if text[-1] != "0" else "1")


def places(value: object, where: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Paths to every leaf value of a document."""
    if isinstance(value, dict):
        return [place for name, item in value.items() for place in places(item, (*where, name))]
    if isinstance(value, list):
        return [place for index, item in enumerate(value) for place in places(item, (*where, index))]
    return [where]


def other(value: object) -> object:
    """A value of the same kind that is wrong."""
    return value + 1 if isinstance(value, int) else flip(str(value))


def test_published_vectors_pass() -> None:
    assert check_vector_text(TEXT) == ()


@pytest.mark.parametrize("place", [p for p in places(SMALL) if p[-1] not in {"m", "n"}], ids=str)
def test_any_changed_value_is_a_mismatch(place: tuple[str | int, ...]) -> None:
    document = changed(lambda _: None)
    holder: Any = document
    for step in place[:-1]:
        holder = holder[step]
    holder[place[-1]] = other(holder[place[-1]])

    assert check_vectors(document)


def test_mismatch_names_the_value_and_both_sides() -> None:
    case = SMALL["cases"][0]
    wrong = changed(lambda d: d["cases"][0]["row0AfterEachStep"].__setitem__(1, "0x00"))

    (line,) = check_vectors(wrong)

    assert line.startswith('cases[0].row0AfterEachStep[1]: the file says "0x00", right is "0x')
    assert case["row0AfterEachStep"][1] in line


def test_address_in_the_wrong_case_is_a_mismatch() -> None:
    wrong = changed(lambda d: d["cases"][0].update(node=d["cases"][0]["node"].lower()))

    assert [line.split(":")[0] for line in check_vectors(wrong)] == ["cases[0].node"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("splitmix64"), r"missing \['splitmix64'\]"),
        (lambda d: d["cases"][0].pop("root"), r"cases\[0\]: missing \['root'\]"),
        (lambda d: d["cases"][0].update(extra=1), r"unknown \['extra'\]"),
        (lambda d: d.update(cases=[]), "cases is not a list"),
        (lambda d: d.update(cases=[7]), r"cases\[0\] is not an object"),
        (lambda d: d["cases"][0].update(m="64"), "m is not a non-negative integer"),
        (lambda d: d["cases"][0].update(m=True), "m is not a non-negative integer"),
        (lambda d: d["cases"][0].update(m=96), "not a power of two"),
        (lambda d: d["cases"][0].update(m=2**31), "too large"),
        (lambda d: d["cases"][0].update(steps=0), "steps"),
        (lambda d: d["cases"][0].update(draws=65), "drawn rows"),
        (lambda d: d["cases"][0].update(windowSeed="0x12"), "32-byte hash"),
        (lambda d: d["cases"][0].update(node=5), "node is not a string"),
        (lambda d: d["splitmix64"].update(seed=2**64), "64 bits"),
    ],
)
def test_malformed_document_is_refused_and_counts_as_a_failed_check(
    change: Callable[[Document], object], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message) as refused:
        check_vectors(changed(change))

    assert refused.value.exit_code == 1


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "NaN", "[" * 100_000])
def test_text_that_is_no_vector_file_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        check_vector_text(text)

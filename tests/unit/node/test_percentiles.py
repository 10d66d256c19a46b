"""Where a figure stands in its class; without members, or with too few nodes, nowhere, and the reason is said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node.suite.metrics import Metric
from node.suite.percentiles import ClassView, ask_class, percentile, place_of, read_class
from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.kinds import Category, HardwareClass

TENS = list(range(0, 110, 10))
RATE = Metric(category="compute", name="int8 rate", unit="mtops", method="m", value=45)


def _document(**changes: object) -> dict[str, object]:
    row = {"category": "compute", "nodes": 10, "deciles": TENS, **changes}
    return {"epoch": 3, "hardwareClass": "cpu", "categories": [row]}


@pytest.mark.parametrize(("value", "expected"), [(0, 0), (5, 5), (45, 45), (99, 99), (100, 100), (10**9, 100)])
def test_percentile_when_between_deciles_then_by_the_straight_line(value: int, expected: int) -> None:
    assert percentile(value, TENS) == expected


def test_percentile_when_all_are_equal_then_all_or_nothing() -> None:
    assert [percentile(value, [7] * 11) for value in (6, 7, 8)] == [0, 100, 100]


@given(st.lists(st.integers(0, 10**12), min_size=11, max_size=11), st.integers(0, 10**12), st.integers(0, 10**12))
def test_percentile_when_better_then_never_lower_and_always_within_bounds(
    cuts: list[int], one: int, other: int
) -> None:
    low, high = sorted((one, other))

    assert 0 <= percentile(low, sorted(cuts)) <= percentile(high, sorted(cuts)) <= 100


def test_place_when_the_class_is_known_then_its_percentile() -> None:
    assert place_of(RATE, read_class(_document())).percentile == 45


def test_place_when_no_member_answers_then_none_and_why() -> None:
    def away(path: str) -> dict[str, object]:
        raise UnavailableError(f"nobody answers {path}")

    place = place_of(RATE, ask_class(away, HardwareClass.CPU))

    assert (place.percentile, place.problem) == (None, "nobody answers /v1/classes/cpu")


@pytest.mark.parametrize(
    "broken",
    [
        {"nodes": 9},
        {"nodes": None},
        {"nodes": True},
        {"deciles": TENS[:-1]},
        {"deciles": TENS[::-1]},
        {"deciles": ["0"] * 11},
        {"category": "nothing"},
        {"category": []},
    ],
)
def test_place_when_nodes_are_few_or_the_document_is_broken_then_none(broken: dict[str, object]) -> None:
    assert place_of(RATE, read_class(_document(**broken))).problem.startswith("fewer than 10 nodes")


@pytest.mark.parametrize("document", [{}, {"categories": 7}, {"categories": [None, 7, []]}])
def test_class_when_a_member_answers_nonsense_then_no_numbers(document: dict[str, object]) -> None:
    assert read_class(document) == ClassView()


def test_place_when_the_metric_is_not_measured_or_not_proven_then_none() -> None:
    view = ClassView(deciles={Category.COMPUTE: TENS})
    unmeasured = Metric(category="compute", name="int8 rate", unit="mtops", method="m", problem="away")
    other = Metric(category="memory", name="set built", unit="B/s", method="m", value=1)

    assert [place_of(one, view).percentile for one in (unmeasured, other)] == [None, None]

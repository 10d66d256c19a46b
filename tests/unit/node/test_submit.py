"""What of a bench is handed in, and what is said where nobody takes it."""

import pytest

from node.suite.metrics import Metric
from node.suite.submit import Handed, figures_of, require_taken
from swarm_chain.core.benchmarks import MAX_FIGURES, MAX_NAME, Figure
from swarm_chain.core.errors import InvalidInputError, SwarmError

MEASURED = Metric(category="compute", name="int8 rate", unit="mtops", method="m", value=12)
ABSENT = Metric(category="storage", name="fio IOPS", unit="IOPS", method="m", problem="no fio")
TAKEN, REFUSED = Handed(member="a", is_newest=True), Handed(member="b", refusal="away")


def test_figures_when_some_were_not_measured_then_only_the_others_are_sent() -> None:
    assert figures_of([MEASURED, ABSENT]) == (Figure(category="compute", name="int8 rate", unit="mtops", value=12),)


def test_figures_when_nothing_was_measured_then_refused() -> None:
    with pytest.raises(InvalidInputError) as caught:
        figures_of([ABSENT])

    assert caught.value.code == "nothing_measured"


def test_figures_when_more_or_longer_than_a_member_takes_then_cut_to_what_it_takes() -> None:
    long = Metric(category="c", name="n" * 100, unit="u", method="m", value=1)

    found = figures_of([long] * (MAX_FIGURES + 1))

    assert (len(found), len(found[0].name)) == (MAX_FIGURES, MAX_NAME)


@pytest.mark.parametrize("handed", [(), (TAKEN,), (TAKEN, REFUSED)])
def test_handed_when_one_member_took_it_or_none_was_asked_then_accepted(handed: tuple[Handed, ...]) -> None:
    require_taken(handed, {"metrics": []})

    assert all(one.is_newest or one.refusal for one in handed)


def test_handed_when_every_member_refused_then_4_with_what_was_measured() -> None:
    with pytest.raises(SwarmError, match="away") as caught:
        require_taken((REFUSED, REFUSED), {"metrics": [1]})

    assert (caught.value.exit_code, caught.value.values) == (4, {"metrics": [1]})

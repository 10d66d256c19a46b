"""Successive halving by generations: who is stopped follows from those before, whoever finishes first."""

import pytest

from swarm_chain.reference.studies import Halving, Trial, best_of

HALVING = Halving(rungs=8, reduction=2, together=2)


def trial(number: int, *values: int, rungs: int = 8) -> Trial:
    return Trial(number=number, parameters={"a": number}, values=values, stopped=len(values) < rungs)


def test_milestones_when_listed_then_powers_of_the_reduction_below_the_last_rung() -> None:
    assert list(HALVING.milestones()) == [1, 2, 4]
    assert list(Halving(rungs=9, reduction=3, together=1).milestones()) == [1, 3]
    assert list(Halving(rungs=1, reduction=2, together=1).milestones()) == []


@pytest.mark.parametrize(("value", "stops"), [(14, False), (15, False), (16, True)])
def test_stops_when_worse_than_the_cutoff_then_only(value: int, stops: bool) -> None:
    earlier = [trial(0, 10), trial(1, 20)]  # the better half ends at 15

    assert HALVING.stops(earlier, [value]) is stops


def test_stops_when_the_cutoff_lies_between_whole_numbers_then_exact() -> None:
    thirds = Halving(rungs=9, reduction=3, together=1)
    earlier = [trial(0, 10), trial(1, 11)]  # a third of the way from 10 to 11

    assert not thirds.stops(earlier, [10])
    assert thirds.stops(earlier, [11])


def test_stops_when_nobody_was_there_before_or_at_no_milestone_then_never() -> None:
    assert not HALVING.stops([], [99])
    assert not HALVING.stops([trial(0, 1), trial(1, 1)], [99, 99])  # neither reached rung 2
    assert not HALVING.stops([trial(0, *range(8))], [0, 1, 99])  # rung 3 is no milestone


def test_generation_when_asked_then_its_first_trial() -> None:
    assert [HALVING.generation(number) for number in range(5)] == [0, 0, 2, 2, 4]


def test_rightly_ended_when_too_short_too_long_or_mislabelled_then_not() -> None:
    earlier = [trial(0, *[10] * 8), trial(1, *[20] * 8)]

    assert HALVING.is_rightly_ended(earlier, trial(2, 16))
    assert HALVING.is_rightly_ended(earlier, trial(2, 15, 15, 99, 15, 1, 1, 1, 1))
    assert not HALVING.is_rightly_ended(earlier, trial(2, 15))
    assert not HALVING.is_rightly_ended(earlier, trial(2, 16, 1))
    assert not HALVING.is_rightly_ended(earlier, trial(2, 16, *[1] * 7))
    assert not HALVING.is_rightly_ended(earlier, trial(2, 16, rungs=1))
    assert not HALVING.is_rightly_ended(earlier, trial(2, *[1] * 9, rungs=9))


def test_best_when_named_then_of_those_that_ran_furthest_the_lowest_and_first() -> None:
    assert best_of([trial(0, *[9] * 8), trial(1, 1), trial(2, *[7] * 8), trial(3, *[7] * 8)]).number == 2

"""Trees over checkpoints and the draw of segments."""

from fractions import Fraction
from math import floor

import pytest

from swarm_chain.core import merkle
from swarm_chain.core.checkpoints import (
    checkpoint_tree,
    checkpoints_to_upload,
    content_hash,
    draw_segments,
    drawn_count,
    job_seed,
    opens_checkpoint,
    path_hash,
)
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import Hash32, JobId
from tests.job_examples import chance_to_miss

CONTENTS = tuple(content_hash(bytes([i])) for i in range(5))
SEED = job_seed(Hash32(bytes([1] * 32)), Hash32(bytes([2] * 32)))


@pytest.mark.parametrize("count", [2, 3, 5])
def test_opens_checkpoint_with_its_path_is_true(count: int) -> None:
    tree = checkpoint_tree(CONTENTS[:count])
    for index in range(count):
        assert opens_checkpoint(merkle.root(tree), count, index, CONTENTS[index], merkle.path(tree, index))


def test_opens_checkpoint_with_anything_else_is_false() -> None:
    tree = checkpoint_tree(CONTENTS)
    root, path = merkle.root(tree), merkle.path(tree, 1)
    assert not opens_checkpoint(root, 5, 2, CONTENTS[1], path)
    assert not opens_checkpoint(root, 5, 1, CONTENTS[2], path)
    assert not opens_checkpoint(root, 5, 1, CONTENTS[1], path[:-1])
    assert not opens_checkpoint(root, 5, 1, CONTENTS[1], (*path, path[0]))
    assert not opens_checkpoint(root, 5, 5, CONTENTS[1], path)
    assert not opens_checkpoint(root, 5, -1, CONTENTS[1], path)


@pytest.mark.parametrize("count", [0, 1, 4097])
def test_checkpoint_tree_of_wrong_size_is_refused(count: int) -> None:
    with pytest.raises(InvalidInputError, match="checkpoints"):
        checkpoint_tree([CONTENTS[0]] * count)


def test_draw_segments_gives_distinct_segments_bound_to_seed_and_job() -> None:
    drawn = draw_segments(SEED, JobId(7), 100)
    assert len(set(drawn)) == len(drawn) == 5
    assert all(0 <= segment < 100 for segment in drawn)
    assert drawn == draw_segments(SEED, JobId(7), 100)
    assert drawn != draw_segments(SEED, JobId(8), 100)


@pytest.mark.parametrize(
    ("units", "drawn"), [(1, 1), (2, 2), (40, 2), (59, 2), (60, 3), (100, 5), (639, 31), (640, 32), (4095, 32)]
)
def test_drawn_count_when_the_job_grows_then_five_percent_of_it_within_bounds(units: int, drawn: int) -> None:
    assert drawn_count(units) == drawn == len(draw_segments(SEED, JobId(1), units))


@pytest.mark.parametrize(
    ("units", "forged", "percent"),
    [(40, 4, 19), (100, 10, 41), (200, 20, 66), (400, 40, 88), (640, 64, 96), (4095, 410, 96), (4095, 41, 27)],
)
def test_draw_when_units_are_forged_then_caught_as_often_as_the_protocol_says(
    units: int, forged: int, percent: int
) -> None:
    assert floor(100 * (1 - chance_to_miss(units, forged, drawn_count(units)))) == percent


@pytest.mark.parametrize("units", [2, 10, 59, 60, 200, 640, 4095])
def test_draw_when_a_share_of_a_job_is_forged_then_what_is_lost_is_more_than_what_is_saved(units: int) -> None:
    for forged in {1, -(-units // 10), units // 2, units}:
        caught = 1 - chance_to_miss(units, forged, drawn_count(units))

        assert caught >= Fraction(forged, units)
        assert caught > Fraction(forged, units) or forged == units


def test_draw_segments_reaches_every_segment() -> None:
    reached = {segment for job in range(200) for segment in draw_segments(SEED, JobId(job), 6)}
    assert reached == set(range(6))


def test_draw_segments_of_one_segment_draws_it() -> None:
    assert draw_segments(SEED, JobId(1), 1) == (0,)
    with pytest.raises(InvalidInputError):
        draw_segments(SEED, JobId(1), 0)


def test_checkpoints_to_upload_are_starts_and_last() -> None:
    assert checkpoints_to_upload((3, 1), 6) == (1, 3, 5)
    assert checkpoints_to_upload((0,), 2) == (0, 1)


def test_path_hash_is_over_the_joined_nodes() -> None:
    assert path_hash(CONTENTS[:2]) == keccak(CONTENTS[0] + CONTENTS[1])

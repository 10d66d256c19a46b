"""swarm-batch/1: the same bytes wherever a unit is computed, other bytes for every shortcut, clear words for bad work."""

import json
from typing import Any

import pytest

from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.encoding import canonical_json, keccak, to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.reference.programs.base import inputs_of
from swarm_chain.reference.programs.batch import LineRows
from swarm_chain.reference.programs.registry import open_program
from swarm_chain.reference.programs.tokens import model_of
from tests.batch_world import (
    BLOB,
    CHEATERS,
    DRAWN,
    PROMPTS,
    SIZES,
    WORK,
    batch_spec,
    contents_of,
    input_spec,
    program_of,
)

MODEL = WORK["model"]


def test_units_when_rows_do_not_fill_the_last_then_every_row_is_answered_once() -> None:
    contents = contents_of(program_of(batch_spec()))
    lines = [content.splitlines() for content in contents[1:]]

    assert list(map(len, lines)) == [4, 4, 4, 4, 4, 2]
    assert all(len(json.loads(line)) == 6 for unit in lines for line in unit)


def test_units_when_cut_otherwise_then_the_same_outputs() -> None:
    whole = b"".join(contents_of(program_of(batch_spec()))[1:])

    assert whole == b"".join(contents_of(program_of(batch_spec(WORK | {"rows_per_unit": 7})))[1:])


def test_unit_when_computed_fifty_times_in_any_order_then_always_the_same_bytes() -> None:
    right = [content_hash(content) for content in contents_of(program_of(batch_spec()))]
    for turn in range(50):
        model_of.cache_clear()
        program = program_of(batch_spec())
        unit = turn % program.units
        assert content_hash(program.compute(unit, program.first())) == right[unit + 1]


def test_rows_when_of_an_input_then_answered_in_its_order() -> None:
    outputs = b"".join(contents_of(program_of(input_spec()))[1:]).splitlines()
    turned = canonical_json(PROMPTS[21]) + b"\n" + b"".join(BLOB.splitlines(keepends=True)[1:])
    other = b"".join(contents_of(program_of(input_spec(), {keccak(BLOB): turned}))[1:]).splitlines()

    assert len(outputs) == 22
    assert other == [outputs[21], *outputs[1:]]


def test_program_when_its_input_is_not_there_then_units_and_sources_are_known_all_the_same() -> None:
    program = open_program(input_spec(), inputs_of({}))

    assert (program.units, program.source(3), program.first()) == (6, 0, program_of(input_spec()).first())
    with pytest.raises(InvalidInputError, match="is not there"):
        program.compute(0, program.first())


@pytest.mark.parametrize("name", CHEATERS)
def test_cheater_when_any_unit_is_drawn_then_another_hash(name: str) -> None:
    program = program_of(batch_spec())
    for unit, claimed in enumerate(CHEATERS[name]()):
        assert content_hash(program.compute(unit, program.first())) != content_hash(claimed)


def test_source_when_of_another_job_then_refused() -> None:
    other = program_of(batch_spec(WORK | {"rows": 21})).first()
    with pytest.raises(InvalidInputError, match="not content 0"):
        program_of(batch_spec()).compute(0, other)


@pytest.mark.parametrize(
    ("changes", "fields", "message"),
    [
        ({"rows": 0}, {}, "work.rows: .*greater than or equal to 1"),
        ({"rows": 1.5}, {}, "floats"),
        ({"rows": 2**20, "rows_per_unit": 1}, {}, "units are too many"),
        ({"drawn": None}, {}, "rows come from work.drawn or from an input"),
        ({}, {"inputs": [to_hex(keccak(BLOB))]}, "rows come from work.drawn or from an input"),
        ({"drawn": None}, {"inputs": ["0x" + "11" * 32, "0x" + "22" * 32]}, "reads one input"),
        ({"model": None}, {}, "outputs come from work.model or from code"),
        ({}, {"code": "x = 1"}, "outputs come from work.model or from code"),
        ({"options": {"a": 1}}, {}, "work.options is for code"),
        ({"drawn": DRAWN | {"vocabulary": 65}}, {}, "larger than the model's"),
        ({"drawn": DRAWN | {"tokens": 4091}}, {}, "too long"),
        ({"model": MODEL | {"sizes": SIZES | {"width": 12}}}, {}, "work.model.sizes.width: .*multiple of 8"),
        ({"model": MODEL | {"temperature": 1}}, {}, "work.model.temperature"),
        (
            {
                "rows": 65536,
                "rows_per_unit": 65536,
                "model": {"seed": 1, "tokens": 4000, "sizes": {"width": 1024, "layers": 16, "vocabulary": 64}},
            },
            {},
            "a unit costs",
        ),
    ],
)
def test_work_when_wrong_then_refused_with_what_would_be_right(
    changes: dict[str, Any], fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message) as caught:
        program_of(batch_spec(WORK | changes, **fields))
    assert (caught.value.code, bool(caught.value.fix)) == ("invalid_spec", True)


@pytest.mark.parametrize("row", [b"{}", b"[]", b"[-1]", b"[64]", b"[1.5]", b"nothing", b"[true]", b"[1,", b""])
def test_row_when_it_is_no_prompt_then_refused(row: bytes) -> None:
    blob = b"".join([*BLOB.splitlines(keepends=True)[:-1], row + b"\n"])
    program = program_of(input_spec(), {keccak(BLOB): blob})
    with pytest.raises(InvalidInputError) as caught:
        program.compute(5, program.first())
    assert caught.value.code in {"bad_row", "bad_prompt"}


@pytest.mark.parametrize("blob", [b"", b"[1]\n" * 21, b"[1]\n" * 22 + b"[1]"])
def test_input_when_it_has_another_number_of_lines_then_both_numbers_are_said(blob: bytes) -> None:
    with pytest.raises(InvalidInputError, match=r"the input has \d+ lines, and rows is 22"):
        LineRows(blob, 22)


def test_input_when_its_last_line_has_no_end_then_it_is_a_row() -> None:
    assert LineRows(b'1\n"a"\n[2]', 3)(0, 3) == [1, "a", [2]]
    assert LineRows(memoryview(b"1\n2\n"), 2)(1, 2) == [2]

"""swarm-serve/1: a log is right or wrong by its own questions, and what may not be served is refused."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from swarm_chain.core.encoding import canonical_json
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.jobs import parse_job_spec
from swarm_chain.reference.programs.serve import Answered, dump_log, is_healthy
from swarm_chain.reference.programs.tokens import model_of
from tests.serve_world import CHEATERS, FIRST, LOG, SECOND, SIZES, WRONG, entry, program_of, serve_spec, version

EXAMPLES = Path(__file__).parents[4] / "examples"


def test_log_when_honest_then_a_judge_makes_the_same_bytes_from_it_fifty_times() -> None:
    content = dump_log(0, LOG)
    for turn in range(50):
        if turn % 10 == 0:
            model_of.cache_clear()
            is_healthy.cache_clear()
        assert program_of(serve_spec()).compute(0, content) == content


def test_unit_when_nobody_asked_then_empty_and_right() -> None:
    program = program_of(serve_spec())

    assert (program.units, program.source(2)) == (3, 3)
    assert program.compute(2, dump_log(2, ())) == b'{"log":[],"unit":2}'


@pytest.mark.parametrize("name", CHEATERS)
def test_cheater_when_its_log_is_drawn_then_another_content(name: str) -> None:
    claimed = CHEATERS[name]()

    assert program_of(serve_spec()).compute(0, claimed) != claimed


@pytest.mark.parametrize(
    ("log", "message"),
    [
        (b"nothing", "Invalid JSON"),
        (b"{}", "Field required"),
        (dump_log(1, LOG), "that of unit 1, not of unit 0"),
        (dump_log(0, LOG[:1] * 5), "more requests than the unit"),
        (dump_log(0, [entry(9, [1], 1)]), "no version"),
        (dump_log(0, [entry(FIRST, [1] * 60, 5)]), "longer than the context"),
        (dump_log(0, [Answered.of(LOG[0].request.model, (64,), 1, (1,))]), "a token that does not exist"),
        (dump_log(0, [replace(LOG[2], route="/v1/completions")]), "an embedding adds no tokens"),
    ],
)
def test_log_when_it_states_what_could_not_be_asked_then_refused(log: bytes, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        program_of(serve_spec()).compute(0, log)


def test_log_when_longer_than_what_the_last_unit_may_hold_then_refused() -> None:
    with pytest.raises(InvalidInputError, match="more requests"):
        program_of(serve_spec()).compute(2, dump_log(2, LOG[:3]))


def test_version_when_its_known_answers_fail_then_its_answers_do_not_count() -> None:
    spec = serve_spec({"versions": [version(FIRST), version(SECOND, after=4, answer=WRONG)]})
    with pytest.raises(InvalidInputError, match="no version"):
        program_of(spec).compute(0, dump_log(0, LOG))

    assert program_of(spec).compute(0, dump_log(0, LOG[:1])) == dump_log(0, LOG[:1])


@pytest.mark.parametrize(
    ("changes", "fields", "message"),
    [
        ({"requests": 0}, {}, "work.requests: .*greater than"),
        ({"requests": 2**20, "requests_per_unit": 1}, {}, "units are too many"),
        ({"versions": []}, {}, "work.versions: .*at least 1"),
        ({"versions": [version(FIRST, after=1)]}, {}, "ascend from 0"),
        ({"versions": [version(FIRST), version(SECOND, after=10)]}, {}, "below requests"),
        ({"versions": [version(FIRST), version(FIRST, after=2)]}, {}, "two versions have one seed"),
        ({"versions": [version(FIRST, answer=[64])]}, {}, "a token that does not exist"),
        ({"context": 6}, {}, "longer than work.context"),
        ({"key": "secret"}, {}, "work.key"),
        ({"sizes": SIZES | {"layers": 17}}, {}, "work.sizes.layers"),
        ({"temperature": 1}, {}, "work.temperature"),
        ({}, {"code": "x = 1"}, "neither code nor inputs"),
        (
            {"requests": 4096, "requests_per_unit": 4096, "context": 4096}
            | {"sizes": {"width": 1024, "layers": 16, "vocabulary": 64}},
            {},
            "a unit costs",
        ),
    ],
)
def test_work_when_wrong_then_refused_with_what_would_be_right(
    changes: Mapping[str, Any], fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message) as caught:
        program_of(serve_spec(changes, **fields))
    assert (caught.value.code, bool(caught.value.fix)) == ("invalid_spec", True)


def test_first_content_when_work_differs_then_it_does() -> None:
    assert program_of(serve_spec()).first() != program_of(serve_spec({"serve_for": 61})).first()
    assert canonical_json(serve_spec().work) in program_of(serve_spec()).first()


def test_example_when_opened_then_both_versions_give_their_known_answers() -> None:
    document = yaml.safe_load((EXAMPLES / "serve.yaml").read_text(encoding="utf-8"))
    work = program_of(parse_job_spec(document)).work

    assert [is_healthy(work.sizes, one) for one in work.versions] == [True, True]

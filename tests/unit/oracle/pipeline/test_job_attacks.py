"""Cheating at jobs of every program: whatever a node hands in instead of what it should have computed is not paid.

An honest node passes fifty times beside it. A cheater is a function from the example and its honest contents to what is
handed in; it is found exactly if a drawn unit, computed from what was handed in, gives another content, or content 0 is
not that of the spec.
"""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from oracle.model import Mismatch
from swarm_chain.core.checkpoints import content_hash, drawn_count
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Outcome
from swarm_chain.reference.programs.registry import PROGRAMS
from tests.job_cheaters import CHEATERS, OF_A_PROGRAM, Cheat
from tests.job_examples import EXAMPLES, SLOW, WALLED_OFF, Contents, Example, chance_to_miss
from tests.job_world import JobWorld
from tests.member_world import MemberWorld

HONEST_RUNS, SEEDS = 50, 5
TRIES = 40
LONG = {name: pytest.mark.long if name in SLOW else () for name in EXAMPLES}
EVERY_PROGRAM = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=LONG[name]) for name in sorted(EXAMPLES)], indirect=True
)
EVERY_CHEATER = pytest.mark.parametrize(
    ("name", "cheat"),
    [
        pytest.param(name, cheat, marks=LONG[name], id=f"{name}-{cheat.__name__}")
        for name in sorted(EXAMPLES)
        for cheat in (*CHEATERS, *OF_A_PROGRAM.get(name, ()))
    ],
    indirect=["name"],
)


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JobWorld]:
    """A member for all jobs of this file."""
    world = MemberWorld(Path(tmp_path_factory.mktemp("member")))
    yield JobWorld(world=world)
    world.close_down()


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """The name of an example; no test of it where its customer's code cannot be walled off."""
    if request.param in WALLED_OFF:
        request.getfixturevalue("walls")
    return str(request.param)


def expected(example: Example, contents: Contents, drawn: tuple[int, ...]) -> tuple[Outcome, str, Mismatch | None]:
    """What a member must find, from the program alone. With a customer's code it does not matter what differs: not paid, and
    nobody is accused."""
    program, has_code = example.program, bool(example.spec.code)
    not_reproduced = (Outcome.FAILED, "not_reproduced", None)
    for unit in drawn:
        try:
            made = content_hash(program.compute(unit, contents[program.source(unit)]))
        except InvalidInputError:
            return not_reproduced
        if made != content_hash(contents[unit + 1]):
            wrong = (Outcome.FAILED, "wrong_unit", Mismatch(content=unit + 1, computed=made))
            return not_reproduced if has_code else wrong
    if program.first() == contents[0]:
        return Outcome.PASSED, "", None
    return not_reproduced if has_code else (Outcome.FAILED, "wrong_start", None)


def missed(example: Example, contents: Contents) -> Fraction:
    """How often the draw meets nothing that is forged."""
    units = example.program.units
    if expected(example, contents, ())[0] is Outcome.FAILED:
        return Fraction(0)
    wrong = sum(expected(example, contents, (unit,))[0] is Outcome.FAILED for unit in range(units))
    return chance_to_miss(units, wrong, drawn_count(units))


def test_examples_when_a_program_is_registered_then_it_has_one() -> None:
    assert {example(1).spec.program for example in EXAMPLES.values()} == PROGRAMS.keys()
    for name, example in EXAMPLES.items():
        assert example(1).spec.program == name.removesuffix(" with code")
        assert bool(example(1).spec.code) == (name in WALLED_OFF)
    assert OF_A_PROGRAM.keys() <= EXAMPLES.keys()


@EVERY_PROGRAM
def test_node_when_honest_then_it_passes_fifty_times_in_a_row(jobs: JobWorld, name: str) -> None:
    ran = set()
    for example in map(EXAMPLES[name], range(1, 1 + SEEDS)):
        contents = example.contents
        ran |= {jobs.run(example, contents) for _ in range(HONEST_RUNS // SEEDS)}  # each with a draw of its own

    judged = jobs.judge()

    assert {found.job_id for found in judged.findings} == ran
    assert len(ran) == HONEST_RUNS
    assert {(found.outcome, found.reason) for found in judged.findings} == {(Outcome.PASSED, "")}
    assert judged.stuck == ()


@EVERY_CHEATER
def test_node_when_it_cheats_then_found_exactly_if_drawn(jobs: JobWorld, name: str, cheat: Cheat) -> None:
    example, other = EXAMPLES[name](7), EXAMPLES[name](8)
    forged = cheat(example, other, example.contents)
    outcomes = {Outcome.PASSED}
    for _ in range(TRIES):  # the draws of this world are fixed, but another job has another one
        job = jobs.run(example, forged)
        jobs.judge()
        found = jobs.finding(job)
        assert found is not None
        assert (found.outcome, found.reason, found.mismatch) == expected(example, forged, jobs.drawn(job))
        outcomes.add(found.outcome)
        if found.outcome is Outcome.FAILED:
            break

    assert Outcome.FAILED in outcomes
    assert missed(example, forged) ** TRIES < Fraction(1, 1000), "that it was found must not have been luck"


@EVERY_PROGRAM
def test_contents_when_fewer_or_more_than_the_program_has_units_then_failed(jobs: JobWorld, name: str) -> None:
    example = EXAMPLES[name](10)
    contents = example.contents
    for wrong in (contents[:-1], (*contents, contents[-1]), contents[:2]):
        job = jobs.post(example.spec)
        signed = jobs.sign(jobs.receipt(job, example.spec, wrong), wrong)
        jobs.take(signed)
        jobs.complete(signed.receipt)
        jobs.upload_inputs(job, example.inputs)
        jobs.judge()
        found = jobs.finding(job)

        assert found is not None
        assert (found.outcome, found.reason, found.mismatch) == (Outcome.FAILED, "wrong_units", None)


@EVERY_PROGRAM
def test_canned_contents_when_of_a_job_that_was_paid_before_then_the_same_spec_alone_accepts_them(
    jobs: JobWorld, name: str
) -> None:
    """Who posts the same spec twice buys the same bytes twice; of any other spec they are worth nothing."""
    paid, asked = EXAMPLES[name](11), EXAMPLES[name](12)
    canned = paid.contents
    again, other = jobs.run(paid, canned), jobs.run(asked, (canned * 2)[: asked.program.units + 1])
    jobs.judge()

    found = {job: jobs.finding(job) for job in (again, other)}
    assert {job: one and one.outcome for job, one in found.items()} == {again: Outcome.PASSED, other: Outcome.FAILED}

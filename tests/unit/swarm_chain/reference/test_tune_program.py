"""swarm-tune/1: honest trials are found again by any judge; whoever spares himself work, or the search, is not."""

from collections.abc import Callable
from typing import Any

import pytest

from swarm_chain.core.encoding import canonical_json
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.reference.objectives import WORST_MICRO
from swarm_chain.reference.studies import Trial
from swarm_chain.reference.train import initial_checkpoint, run_segment
from tests.tune_world import MODEL, WORK, changed, contents_of, searched, trial_with, tune_program

PROGRAM = tune_program()
TRIALS = searched(PROGRAM)
STUDY = PROGRAM.closing(TRIALS)
FULL = next(trial.number for trial in TRIALS[2:] if not trial.stopped)
STOPPED = next(trial.number for trial in TRIALS if trial.stopped)


@pytest.mark.long
def test_units_of_honest_studies_when_judged_then_all_fifty_match() -> None:
    judged = 0
    for seed in range(5):
        program = tune_program(workers=1 + seed, seed=seed)
        contents = contents_of(program, searched(program))
        assert [program.compute(unit, contents[program.source(unit)]) for unit in range(program.units)] == contents[1:]
        judged += program.units
    assert judged == 50


def test_gaussian_process_when_judged_then_proposes_the_same_and_no_trial_twice() -> None:
    pytest.importorskip("scipy")
    program = tune_program(sampler="gp", trials=6, startup=2, rungs=1)
    trials = searched(program)
    study = program.closing(trials)

    assert program.compute(5, study) == canonical_json(trials[5].document())
    assert len({canonical_json(dict(trial.parameters)) for trial in trials}) == 6


def test_generation_when_larger_than_the_workers_then_judged_alike_and_never_smaller() -> None:
    program = tune_program(workers=2, generation=5)
    contents = contents_of(program, searched(program))

    assert program.halving.generation(9) == 5
    assert [program.compute(unit, contents[program.source(unit)]) for unit in range(program.units)] == contents[1:]
    with pytest.raises(InvalidInputError, match="cannot keep 2 workers busy"):
        tune_program(workers=2, generation=1)


def test_study_when_closed_then_some_trials_were_stopped_and_the_best_is_named() -> None:
    assert [trial.number for trial in TRIALS if trial.stopped]
    assert not any(trial.stopped for trial in TRIALS[:2])
    best = min((trial for trial in TRIALS if not trial.stopped), key=lambda trial: trial.values[-1])
    assert f'"best":{best.number}'.encode() in STUDY


def canned(trials: list[Trial]) -> list[Trial]:
    return changed(trials, FULL, values=(3_000_000, 2_000_000, 1_000_000, 1))


def another_seed(trials: list[Trial]) -> list[Trial]:
    other = tune_program(model=MODEL | {"seed": 6})
    return changed(trials, FULL, values=tuple(other.values(trials[FULL].parameters)))


def stopped_training(trials: list[Trial]) -> list[Trial]:
    first = trials[FULL].values[:2]
    return changed(trials, FULL, values=(*first, first[-1], first[-1]))


def better_by_one(trials: list[Trial]) -> list[Trial]:
    return changed(trials, FULL, values=(*trials[FULL].values[:-1], trials[FULL].values[-1] - 1))


@pytest.mark.parametrize("lie", [canned, another_seed, stopped_training, better_by_one])
def test_trial_with_values_it_did_not_reach_when_drawn_then_refused(lie: Callable[[list[Trial]], list[Trial]]) -> None:
    study = PROGRAM.closing(lie(TRIALS))

    with pytest.raises(
        InvalidInputError, match=f"trial {FULL} has another value at rung|did not run as long"
    ) as caught:
        PROGRAM.compute(FULL, study)

    assert caught.value.code == "wrong_study"


def test_trial_that_tries_something_cheaper_when_drawn_then_refused() -> None:
    number = next(trial.number for trial in TRIALS if trial.parameters["width"] == 16)
    earlier = TRIALS[: PROGRAM.halving.generation(number)]
    cheap = trial_with(PROGRAM, number, dict(TRIALS[number].parameters) | {"width": 8, "batch": 2}, earlier)
    trials = [*TRIALS[:number], cheap]
    for following in range(number + 1, len(TRIALS)):  # the rest of the study fits: only the proposal tells
        before = trials[: PROGRAM.halving.generation(following)]
        trials.append(trial_with(PROGRAM, following, dict(TRIALS[following].parameters), before))

    with pytest.raises(InvalidInputError, match="other parameters than the search proposes"):
        PROGRAM.compute(number, PROGRAM.closing(trials))


@pytest.mark.parametrize("unit", [0, STOPPED, len(TRIALS)])
@pytest.mark.parametrize(
    ("what", "message"),
    [
        ({"values": TRIALS[FULL].values[:1], "stopped": True}, "did not run as long as it had to"),
        ({"values": (), "stopped": True}, "did not run as long as it had to"),
        ({"stopped": True}, "did not run as long as it had to"),
        ({"parameters": dict(TRIALS[FULL].parameters) | {"width": 12}}, "outside the space"),
        ({"parameters": dict(TRIALS[FULL].parameters) | {"batch": 3}}, "outside the space"),
        ({"parameters": {"width": 8}}, "outside the space"),
        ({"number": 7 if FULL != 7 else 6}, "does not have the trials 0 to 8"),
    ],
)
def test_study_with_a_false_trial_when_any_unit_is_drawn_then_refused(
    unit: int, what: dict[str, Any], message: str
) -> None:
    lie = changed(TRIALS, FULL, **what)
    named = STUDY[: STUDY.index(b'"trials"')]
    study = named + b'"trials":' + canonical_json([trial.document() for trial in lie]) + b"}"

    with pytest.raises(InvalidInputError, match=message):
        PROGRAM.compute(unit, study)


def test_stopped_trial_that_ran_on_when_judged_then_refused() -> None:
    trial = TRIALS[STOPPED]
    on = changed(TRIALS, STOPPED, values=tuple(PROGRAM.values(trial.parameters)), stopped=False)

    with pytest.raises(InvalidInputError, match="did not run as long as it had to"):
        PROGRAM.compute(0, PROGRAM.closing(on))


def test_study_when_it_names_another_best_or_is_written_otherwise_then_refused() -> None:
    best = STUDY.index(b'"best":') + 7
    other = b"1" if STUDY[best : best + 1] != b"1" else b"2"
    for study in (STUDY[:best] + other + STUDY[best + 1 :], STUDY + b" ", STUDY.replace(b"swarm-tune/1", b"tune")):
        with pytest.raises(InvalidInputError, match="does not name its best trial"):
            PROGRAM.compute(len(TRIALS), study)


@pytest.mark.parametrize("study", [b"", b"\xff", b"[]", b"{}", b'{"best":1.5}', b"[" * 100_000, STUDY[:-1]])
def test_study_when_it_is_none_then_refused(study: bytes) -> None:
    with pytest.raises(InvalidInputError):
        PROGRAM.compute(0, study)


def test_study_of_another_kind_of_machine_when_judged_then_not_judged() -> None:
    with pytest.raises(UnavailableError, match="pdp11") as caught:
        PROGRAM.compute(0, STUDY.replace(b"torch-", b"pdp11-"))

    assert caught.value.code == "other_machine"


def test_values_when_parameters_are_outside_the_space_then_refused() -> None:
    with pytest.raises(InvalidInputError, match="outside the space"):
        PROGRAM.values({"learning_rate_micro": 9, "width": 8, "batch": 2})


def test_trial_that_diverges_when_run_then_has_the_worst_value_and_the_search_goes_on() -> None:
    wild = {"model": "mlp", "layers": 16, "width": 64, "learning_rate_micro": 10**6}
    program = tune_program(model=MODEL | wild, space={"batch": {"choices": [4]}})
    run = program.work.model.run(16, 16)

    with pytest.raises(InvalidInputError, match="diverged"):
        run_segment(run, initial_checkpoint(run), 0)
    assert list(program.values({"batch": 4}))[-1] == WORST_MICRO


SPACE: dict[str, Any] = {"width": {"choices": [8, 16]}}
BAD_WORK = [
    ({"trials": 0}, "work.trials", ""),
    ({"trials": "9"}, "work.trials", ""),
    ({"sampler": "grid"}, "work.sampler", ""),
    ({"reduction": 1}, "work.reduction", ""),
    ({"colour": 1}, "work.colour", ""),
    ({"space": {}}, "work.space is empty", "at least one parameter"),
    ({"space": {"seed": {"low": 1, "high": 2}}}, "seed cannot be tuned", "learning_rate_micro"),
    ({"space": {"width": {"low": 16, "high": 8}}}, "leaves|low is above high", "low"),
    ({"space": {"width": {"low": 8, "high": 17, "step": 4}}}, "whole number of steps", "set high to 16"),
    (
        {"space": {"learning_rate_micro": {"low": 10, "high": 30, "step": 10, "log": True}}},
        "log needs",
        "leave out log",
    ),
    ({"space": {"width": {"choices": [8, 8]}}}, "twice", "once"),
    ({"space": {"width": {"choices": [8, 9]}}}, "'width': 9.*multiple of heads", "change the spec"),
    ({"space": {"width": {"low": 8, "high": 1024, "step": 8}}}, "leaves 8 to 512", "within 8 to 512"),
    ({"space": {"learning_rate_micro": {"choices": [0]}}}, "out of range", "from 1 to"),
    (
        {"space": {"batch": {"low": 1, "high": 1000}, "layers": {"low": 1, "high": 2}}},
        "sizes of model",
        "fewer choices",
    ),
    ({"steps_per_rung": 25_000, "space": {"width": {"choices": [512]}, "layers": {"choices": [16]}}}, "operations", ""),
    ({"steps_per_rung": 100_000}, "400000 steps", "100000 at most"),
    ({"model": MODEL | {"model": "rnn"}, "space": SPACE}, "'rnn' is unknown", "transformer"),
    ({"sampler": "gp", "trials": 200}, "at most 128", "use tpe"),
]


@pytest.mark.parametrize(("work", "message", "fix"), BAD_WORK)
def test_work_when_wrong_then_says_what_would_be_right(work: dict[str, Any], message: str, fix: str) -> None:
    with pytest.raises(InvalidInputError, match=message) as caught:
        tune_program(2, **(WORK | work))

    assert caught.value.code == "invalid_spec"
    assert fix in (caught.value.fix or "")
    assert caught.value.fix

"""A small search, run without Ray: what an honest node hands in, and what liars make of it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from swarm_chain.core.encoding import canonical_json
from swarm_chain.core.jobs import JobSpec, parse_job_spec
from swarm_chain.reference.programs.base import inputs_of
from swarm_chain.reference.programs.registry import open_program
from swarm_chain.reference.programs.tune import TuneProgram
from swarm_chain.reference.proposals import Known
from swarm_chain.reference.studies import Trial

MODEL = {
    "model": "transformer",
    "seed": 5,
    "batch": 4,
    "context": 4,
    "vocabulary": 8,
    "width": 8,
    "heads": 2,
    "layers": 1,
    "learning_rate_micro": 3000,
}
WORK = {
    "trials": 9,
    "sampler": "tpe",
    "seed": 1,
    "startup": 4,
    "space": {
        "learning_rate_micro": {"low": 10, "high": 100_000, "log": True},
        "width": {"choices": [8, 16]},
        "batch": {"low": 2, "high": 6, "step": 2},
    },
    "rungs": 4,
    "steps_per_rung": 4,
    "reduction": 2,
    "model": MODEL,
}


def tune_spec(workers: int = 2, **changes: Any) -> JobSpec:
    """Spec of the search; `changes` are fields of `work`."""
    document = {"kind": "tune", "program": "swarm-tune/1", "work": WORK | changes, "resources": {"workers": workers}}
    return parse_job_spec(document)


def tune_program(workers: int = 2, **changes: Any) -> TuneProgram:
    """Its program."""
    program = open_program(tune_spec(workers, **changes), inputs_of({}))
    assert isinstance(program, TuneProgram)
    return program


def searched(program: TuneProgram) -> list[Trial]:
    """All trials of a search, one after the other."""
    trials: list[Trial] = []
    for number in range(program.work.trials):
        earlier = trials[: program.halving.generation(number)]
        known = Known(
            ended=[(trial.parameters, trial.values[-1]) for trial in earlier],
            pending=[trial.parameters for trial in trials[len(earlier) :]],
        )
        trials.append(trial_with(program, number, program.search.propose(number, known), earlier))
    return trials


def trial_with(program: TuneProgram, number: int, parameters: dict[str, int], earlier: list[Trial]) -> Trial:
    """A trial with these parameters, run as far as it has to."""
    values = tuple(_until(program.values(parameters), lambda so_far: program.halving.ends(earlier, so_far)))
    return Trial(number=number, parameters=parameters, values=values, stopped=len(values) < program.halving.rungs)


def contents_of(program: TuneProgram, trials: list[Trial]) -> list[bytes]:
    """What a node keeps of a search."""
    return [program.first(), *(canonical_json(trial.document()) for trial in trials), program.closing(trials)]


def changed(trials: list[Trial], place: int, **changes: Any) -> list[Trial]:
    """The trials with one of them changed."""
    return [replace(trial, **changes) if trial.number == place else trial for trial in trials]


def _until(values: Iterator[int], over: Callable[[list[int]], bool]) -> list[int]:
    found: list[int] = []
    for value in values:
        found.append(value)
        if over(found):
            break
    return found

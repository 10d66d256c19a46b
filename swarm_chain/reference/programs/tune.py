"""swarm-tune/1: a search over parameters; a unit is a trial, the last one closes the study.

    content 0      what is searched                 {program, platform, together, work}
    content i + 1  trial i                          {trial, parameters, values, stopped}
    last content   the study: all trials, the best  {program, platform, trials, best}

All units are computed from the study. A judge of any trial thereby sees all of them: that each stopped where the others'
values stop it, and that the best is named; of the drawn trial it makes the proposal again from the trials before, and runs it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from math import prod
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import ConfigDict, Field

from swarm_chain.core.encoding import canonical_json
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.jobs import STRICT, JobSpec, Name, invalid_spec, parse_part
from swarm_chain.reference.data import held_out_batch
from swarm_chain.reference.objectives import rung_losses
from swarm_chain.reference.programs.base import Inputs, ProgramEntry
from swarm_chain.reference.programs.small_model import ModelWork
from swarm_chain.reference.proposals import Known, Search, search_kind
from swarm_chain.reference.space import Choices, Range, check_space, is_in
from swarm_chain.reference.spec import LIMITS
from swarm_chain.reference.studies import Halving, Trial, best_of

PROGRAM: Final = "swarm-tune/1"
MAX_GP_TRIALS: Final = 128  # a proposal of a Gaussian process costs the cube of the trials before it
MAX_MODELS: Final = 1024  # different sizes of model in a space; all are checked before the job is taken
_SIZES: Final = ("batch", "width", "heads", "layers")
TUNABLE: Final = (*_SIZES, "learning_rate_micro")


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneWork:
    """A search: `trials` of at most `rungs` x `steps_per_rung` steps, `resources.workers` of them side by side.

    `generation` trials are proposed together, from those of the generations before; 0: as many as run side by side. More keep
    workers busy where trials last unlike times, and know less of each other.
    `startup` trials are random before the sampler takes over; `reduction` is that of successive halving. What `space` names
    replaces the fields of `model`.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    trials: Annotated[int, Field(ge=1, le=512)]
    sampler: Literal["tpe", "gp"]
    seed: Annotated[int, Field(ge=0, lt=2**53)]
    startup: Annotated[int, Field(ge=1, le=512)] = 10
    generation: Annotated[int, Field(ge=0, le=512)] = 0
    space: dict[Name, Range | Choices]
    rungs: Annotated[int, Field(ge=1, le=64)]
    steps_per_rung: Annotated[int, Field(ge=1, le=100_000)]
    reduction: Annotated[int, Field(ge=2, le=16)] = 4
    model: ModelWork


@dataclass(frozen=True, slots=True, kw_only=True)
class _TrialPart:
    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    trial: int
    parameters: dict[str, int]
    values: tuple[int, ...]
    stopped: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _StudyPart:
    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    program: str
    platform: str
    trials: tuple[_TrialPart, ...]
    best: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneProgram:
    """Program of a search."""

    work: TuneWork
    search: Search
    halving: Halving

    @property
    def units(self) -> int:
        """Number of trials, and one for the closing of the study."""
        return self.work.trials + 1

    def first(self) -> bytes:
        """What is searched, and on which kind of machine."""
        document = {"program": PROGRAM, "platform": self._kind(), "together": self.halving.together}
        return canonical_json({**document, "work": _plain(asdict(self.work))})

    def source(self, _unit: int) -> int:
        """Every unit is computed from the study, which is the last content."""
        return self.units

    def compute(self, unit: int, source: bytes) -> bytes:
        """Content of a trial, run again from its seed, or the study as its trials make it.

        Raises:
            InvalidInputError: the study is none, or its trials are not what this search comes to.
            UnavailableError: it was made on another kind of machine, or packages are missing here.
        """
        trials = self._study(source)
        if unit == self.work.trials:
            return self.closing(trials)
        return canonical_json(self._again(trials, trials[unit]).document())

    def values(self, parameters: Mapping[str, int]) -> Iterator[int]:
        """Values of a trial with these parameters, rung by rung; nothing further is computed than is asked for.

        Args:
            parameters: of the space.

        Raises:
            InvalidInputError: they are outside it.
        """
        if not is_in(self.work.space, parameters):
            raise _wrong(f"parameters {dict(parameters)} are outside the space")
        return rung_losses(self._run(**parameters), held_out_batch(self._run()))

    def closing(self, trials: Sequence[Trial]) -> bytes:
        """The last content: the study.

        Args:
            trials: all of them, in order.
        """
        document = {"program": PROGRAM, "platform": self._kind(), "best": best_of(trials).number}
        return canonical_json({**document, "trials": [trial.document() for trial in trials]})

    def trial_of(self, content: bytes) -> Trial:
        """Read the content of a trial.

        Raises:
            InvalidInputError: it is none.
        """
        return _trial(parse_part(_TrialPart, _json_of(content), "trial"))

    def _study(self, source: bytes) -> tuple[Trial, ...]:
        part = parse_part(_StudyPart, _json_of(source), "study")
        if part.platform != self._kind():
            fix = "judge it on the same kind of machine"
            raise UnavailableError(
                f"searched on {part.platform!r}, this machine is {self._kind()!r}", fix=fix, code="other_machine"
            )
        trials = tuple(map(_trial, part.trials))
        if [trial.number for trial in trials] != list(range(self.work.trials)):
            raise _wrong(f"the study does not have the trials 0 to {self.work.trials - 1}")
        for trial in trials:
            if not is_in(self.work.space, trial.parameters):
                raise _wrong(f"trial {trial.number} is outside the space")
            if not self.halving.is_rightly_ended(trials[: self.halving.generation(trial.number)], trial):
                raise _wrong(f"trial {trial.number} did not run as long as it had to")
        if self.closing(trials) != source:
            raise _wrong("the study does not name its best trial, or is not written as it has to be")
        return trials

    def _again(self, trials: Sequence[Trial], claimed: Trial) -> Trial:
        generation = self.halving.generation(claimed.number)
        known = Known(
            ended=[(trial.parameters, trial.values[-1]) for trial in trials[:generation]],
            pending=[trial.parameters for trial in trials[generation : claimed.number]],
        )
        proposed = self.search.propose(claimed.number, known)
        if proposed != claimed.parameters:
            raise _wrong(f"trial {claimed.number} has other parameters than the search proposes")
        values = self.values(proposed)
        for rung, value in enumerate(claimed.values):
            if next(values) != value:
                raise _wrong(f"trial {claimed.number} has another value at rung {rung + 1}")
        return claimed

    def _run(self, **changes: int) -> Any:
        work = self.work
        return work.model.run(work.rungs * work.steps_per_rung, work.steps_per_rung, **changes)

    def _kind(self) -> str:
        return search_kind(self.work.sampler)


def open_tune(spec: JobSpec, _inputs: Inputs) -> TuneProgram:
    """Make the program of a spec.

    Raises:
        InvalidInputError: `work` is no search.
    """
    if spec.code or spec.inputs:
        raise invalid_spec(f"{PROGRAM} takes neither code nor inputs", "leave both out")
    work = parse_part(TuneWork, spec.work, "work")
    check_space(work.space)
    _check_models(work)
    if work.sampler == "gp" and work.trials > MAX_GP_TRIALS:
        raise invalid_spec(f"work.trials: a gp search has at most {MAX_GP_TRIALS}", "ask for fewer, or use tpe")
    together = work.generation or spec.resources.workers
    if together < spec.resources.workers:
        raise invalid_spec(
            f"work.generation: {together} trials cannot keep {spec.resources.workers} workers busy",
            "propose at least as many trials together as there are workers",
        )
    return TuneProgram(
        work=work,
        search=Search(space=work.space, sampler=work.sampler, seed=work.seed, startup=work.startup),
        halving=Halving(rungs=work.rungs, reduction=work.reduction, together=together),
    )


def _check_models(work: TuneWork) -> None:
    """Every model of the space must be one that can be trained and judged: no trial may turn out to be none."""
    most = LIMITS["segment_steps"][1]  # a judge runs a whole trial at once
    if work.rungs * work.steps_per_rung > most:
        fix = f"keep rungs x steps_per_rung to {most} at most"
        raise invalid_spec(f"a trial has {work.rungs * work.steps_per_rung} steps", fix)
    for name, values in work.space.items():
        if name not in TUNABLE:
            raise invalid_spec(f"work.space.{name} cannot be tuned", f"choose among {', '.join(TUNABLE)}")
        low, high = LIMITS[name]
        if isinstance(values, Range) and not low <= values.low <= values.high <= high:
            raise invalid_spec(f"work.space.{name} leaves {low} to {high}", f"keep low and high within {low} to {high}")
    sizes = {name: values for name, values in work.space.items() if name in _SIZES}
    if prod(values.count() for values in sizes.values()) > MAX_MODELS:
        fix = f"give {', '.join(sizes)} fewer choices, or larger steps"
        raise invalid_spec(f"work.space has more than {MAX_MODELS} sizes of model", fix)
    rates = work.space.get("learning_rate_micro")
    for combination in product(*(values.every() for values in sizes.values())):
        changes = dict(zip(sizes, combination, strict=True))
        _check_model(work, changes)
    for rate in rates.choices if isinstance(rates, Choices) else ():
        _check_model(work, {"learning_rate_micro": rate})


def _check_model(work: TuneWork, changes: dict[str, int]) -> None:
    steps = work.rungs * work.steps_per_rung
    try:
        work.model.run(steps, steps, **changes)  # a judge runs a whole trial: it must fit what a segment may cost
    except InvalidInputError as error:
        where = f"work.space allows {changes}" if changes else "work.model"
        raise invalid_spec(f"{where}: {error.message}", error.fix or "change work accordingly") from error


def _trial(part: _TrialPart) -> Trial:
    return Trial(number=part.trial, parameters=part.parameters, values=part.values, stopped=part.stopped)


def _json_of(content: bytes) -> object:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise _wrong("the content is no JSON") from error


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


def _wrong(message: str) -> InvalidInputError:
    return InvalidInputError(message, fix="hand in what the search came to", code="wrong_study")


ENTRY = ProgramEntry(kind="tune", work=TuneWork, open=open_tune)

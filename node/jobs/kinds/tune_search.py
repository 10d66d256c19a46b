"""What Ray Tune asks during a search: optuna's sampler, the scheduler that ends trials, and the record of what they did."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from optuna.distributions import BaseDistribution, IntDistribution
from optuna.samplers import BaseSampler
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState
from ray.tune import Stopper
from ray.tune.schedulers import FIFOScheduler, TrialScheduler

from node.jobs.folder import JobFolder
from swarm_chain.core.encoding import canonical_json
from swarm_chain.core.errors import InconsistentError
from swarm_chain.reference.programs.tune import TuneProgram
from swarm_chain.reference.proposals import Known, Search, distributions
from swarm_chain.reference.studies import Trial

NUMBER: Final = "trial"  # beside its parameters, a trial's configuration holds its number
VALUE, SPENT_MS, FAULT = "value", "spent_ms", "fault"


def dimensions(search: Search, trials: int) -> dict[str, BaseDistribution]:
    """The space as OptunaSearch gets it: the parameters, and the trial's number."""
    return distributions(search.space) | {NUMBER: IntDistribution(0, trials - 1)}


class Proposer(BaseSampler):
    """Optuna's sampler of a search as judges make its proposals again: from nothing but what the study knows.

    Args:
        search: how the space is searched.
        trials: how many there will be.
        together: trials of a generation.
    """

    def __init__(self, search: Search, trials: int, together: int) -> None:
        self._search, self._trials, self._together = search, trials, together

    def infer_relative_search_space(self, _study: Study, _trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """All dimensions at once."""
        return dimensions(self._search, self._trials)

    def sample_relative(self, study: Study, trial: FrozenTrial, _space: dict[str, BaseDistribution]) -> dict[str, Any]:
        """Parameters of the trial, and its number."""
        trials = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.RUNNING))
        before = sorted((one for one in trials if one.number < trial.number), key=lambda one: one.number)
        start = trial.number - trial.number % self._together
        known = Known(
            ended=[(_parameters(one), int(one.value or 0)) for one in before[:start]],
            pending=[_parameters(one) for one in before[start:]],
        )
        return {**self._search.propose(trial.number, known), NUMBER: trial.number}

    def sample_independent(self, _study: Study, _trial: FrozenTrial, name: str, _distribution: BaseDistribution) -> Any:
        """Never needed: every dimension is proposed with the others.

        Raises:
            InconsistentError: always.
        """
        raise InconsistentError(f"parameter {name} is not of the space")


class StudyLog:
    """Trials as they go: what ended is on disk.

    Args:
        program: the search.
        folder: of the job; contents that are there count as trials that ended.
    """

    def __init__(self, program: TuneProgram, folder: JobFolder) -> None:
        self._program, self._folder = program, folder
        kept = ((number, folder.kept(number + 1)) for number in range(program.work.trials))
        self.ended: dict[int, Trial] = {n: program.trial_of(content) for n, content in kept if content is not None}
        self.fault = ""
        self._values: dict[int, list[int]] = {}
        self._spent_ms: dict[int, int] = {}

    @property
    def together(self) -> int:
        """Trials of a generation."""
        return self._program.halving.together

    def generations(self) -> list[Trial]:
        """Trials of the generations that ended whole, in order."""
        whole = next((n for n in range(self._program.work.trials) if n not in self.ended), self._program.work.trials)
        return [self.ended[number] for number in range(self._program.halving.generation(whole))]

    def in_order(self) -> list[Trial]:
        """All trials."""
        return [self.ended[number] for number in range(self._program.work.trials)]

    def add(self, config: Mapping[str, int], result: Mapping[str, Any]) -> bool:
        """Takes in what a trial reports after a rung.

        Args:
            config: its parameters and number.
            result: its value and the time it took.

        Returns:
            True if the trial is over; it is kept then.
        """
        number, halving = config[NUMBER], self._program.halving
        self.fault = self.fault or result.get(FAULT, "")
        if self.fault or number in self.ended:
            return bool(self.fault) or len(self.ended[number].values) <= result["training_iteration"]
        values = self._values.setdefault(number, [])
        del values[result["training_iteration"] - 1 :]  # a trial that lost its actor begins again
        values.append(result[VALUE])
        self._spent_ms[number] = self._spent_ms.get(number, 0) + result[SPENT_MS]
        over = halving.ends([self.ended[n] for n in range(halving.generation(number))], values)
        if over:
            self._keep(number, {name: value for name, value in config.items() if name != NUMBER}, values)
        return over

    def _keep(self, number: int, parameters: dict[str, int], values: Sequence[int]) -> None:
        stopped = len(values) < self._program.halving.rungs
        trial = Trial(number=number, parameters=parameters, values=tuple(values), stopped=stopped)
        self._folder.keep(number + 1, canonical_json(trial.document()))
        self._folder.add_time(self._spent_ms[number])
        self._folder.say(f"trial {number}: {parameters} -> {list(values)}{' stopped' if stopped else ''}")
        self.ended[number] = trial


class HalvingScheduler(FIFOScheduler):
    """Ends trials by the rule that judges check; Ray's own ASHAScheduler goes by the order in which results happen to arrive.

    Args:
        log: takes in the results and knows the rule.
    """

    def __init__(self, log: StudyLog) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Ray's own has no types
        self._log = log
        self._keeps_actors = False

    def on_trial_add(self, controller: Any, trial: Any) -> None:
        """Ray's word that a trial is proposed; with the first one Tune is told to keep all actors from then on.

        It keeps as many as trials wait, and at the end of a generation none does: actors would end, and new ones begin only
        to be dropped for those that are left, again and again. There is no public way to say so.
        """
        if not self._keeps_actors:
            cache = controller._tune_controller._actor_cache
            cache.increase_max(trial.placement_group_factory, by=self._log.together)
            self._keeps_actors = True

    def on_trial_result(self, _controller: object, trial: Any, result: dict[str, Any]) -> str:
        """Ray's question after every rung of a trial."""
        decision: str = TrialScheduler.STOP if self._log.add(trial.config, result) else TrialScheduler.CONTINUE
        return decision


class FaultStopper(Stopper):
    """Ends the whole search as soon as the customer's work has failed in one trial.

    Args:
        log: knows of it.
    """

    def __init__(self, log: StudyLog) -> None:
        self._log = log

    def __call__(self, _trial_id: str, _result: dict[str, Any]) -> bool:
        """Single trials are the scheduler's."""
        return False

    def stop_all(self) -> bool:
        """Whether the search is lost."""
        return bool(self._log.fault)


def _parameters(trial: FrozenTrial) -> dict[str, int]:
    return {name: value for name, value in trial.params.items() if name != NUMBER}

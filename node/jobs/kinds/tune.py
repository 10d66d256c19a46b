"""swarm-tune/1 on Ray Tune: trials are Ray actors, proposals come through OptunaSearch, successive halving ends the bad ones.

    generation: OptunaSearch proposes some trials; `workers` run side by side, rung by rung; each that ends is kept as a content
                ConcurrencyLimiter waits for all of them and tells optuna; the next generation begins

What is kept is never run again: whole generations are told to optuna as they were, and what had ended of the one in which the
driver was killed is reported from its content. A trial whose actor dies begins again.
"""

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from node.jobs.work import Work
from swarm_chain.core.errors import InconsistentError, InvalidInputError, UnavailableError
from swarm_chain.core.jobs import Resources, parse_job_spec
from swarm_chain.reference.programs.base import inputs_of
from swarm_chain.reference.programs.registry import open_program
from swarm_chain.reference.programs.tune import TuneProgram

TRIAL_RETRIES = 3  # how often a trial may lose its actor
Configuration = Mapping[str, int]


def run_tune(work: Work) -> None:
    """Runs the trials that are lacking, and closes the study.

    Args:
        work: the job, of a TuneProgram; the process is connected to Ray.

    Raises:
        InvalidInputError: the customer's work fails.
        UnavailableError: a trial lost its actor too often.
    """
    from node.jobs.kinds.tune_search import StudyLog

    program, folder = tune_program(work), work.folder
    if folder.kept(0) is None:
        folder.keep(0, program.first())
    log = StudyLog(program, folder)
    if len(log.ended) < program.work.trials:
        _search(work, program, log)
    folder.keep(program.units, program.closing(log.in_order()))


def tune_program(work: Work) -> TuneProgram:
    """The program of a search.

    Raises:
        InconsistentError: it is another one.
    """
    if not isinstance(work.program, TuneProgram):
        raise InconsistentError(f"{work.spec.program} is no search")
    return work.program


def run_trial(config: Configuration, document: object, known: Mapping[int, tuple[int, ...]]) -> None:
    """A trial, as Tune runs it in an actor: reports the value of each rung until it is stopped.

    Args:
        config: parameters, and the trial's number.
        document: spec of the job.
        known: values of trials that ended before, by number.
    """
    from ray import tune

    from node.jobs.kinds.tune_search import FAULT, NUMBER, SPENT_MS, VALUE

    for value in known.get(config[NUMBER], ()):
        tune.report({VALUE: value, SPENT_MS: 0})
    if config[NUMBER] in known:
        return
    program = open_program(parse_job_spec(document), inputs_of({}))
    assert isinstance(program, TuneProgram)  # noqa: S101  # the driver has checked it
    started = time.monotonic_ns()
    try:
        for value in program.values({name: part for name, part in config.items() if name != NUMBER}):
            spent, started = time.monotonic_ns() - started, time.monotonic_ns()
            tune.report({VALUE: value, SPENT_MS: spent // 1_000_000})
    except InvalidInputError as error:
        tune.report({VALUE: 0, SPENT_MS: 0, FAULT: error.message})


def _search(work: Work, program: TuneProgram, log: Any) -> None:
    import optuna
    from ray import tune

    from node.jobs.kinds.tune_search import VALUE, FaultStopper, HalvingScheduler

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    done = log.generations()
    known = {number: trial.values for number, trial in log.ended.items() if number >= len(done)}
    trial = tune.with_parameters(run_trial, document=work.spec.document(), known=known)
    files = work.folder.path / "tune"
    shutil.rmtree(files, ignore_errors=True)
    tuner = tune.Tuner(
        tune.with_resources(trial, _bundle(work.spec.resources, work.labels)),
        tune_config=tune.TuneConfig(
            metric=VALUE,
            mode="min",
            num_samples=program.work.trials - len(done),
            search_alg=_search_alg(program, done),
            scheduler=HalvingScheduler(log),
            reuse_actors=True,
        ),
        run_config=_run_config(files, FaultStopper(log)),
    )
    results = tuner.fit()
    shutil.rmtree(files, ignore_errors=True)
    if log.fault:
        raise InvalidInputError(log.fault, fix="correct the job's work", code="trial_failed")
    if results.errors or len(log.ended) < program.work.trials:
        raise UnavailableError("a trial lost its actor too often", fix="start the job again", code="trial_lost")


def _search_alg(program: TuneProgram, done: Any) -> Any:
    from ray.tune.search import ConcurrencyLimiter
    from ray.tune.search.optuna import OptunaSearch

    from node.jobs.kinds.tune_search import NUMBER, VALUE, Proposer, dimensions

    together, trials = program.halving.together, program.work.trials
    search = OptunaSearch(
        space=dimensions(program.search, trials),
        metric=VALUE,
        mode="min",
        sampler=Proposer(program.search, trials, together),
    )
    for trial in done:
        search.add_evaluated_point({**trial.parameters, NUMBER: trial.number}, trial.values[-1])
    return ConcurrencyLimiter(search, max_concurrent=together, batch=True)


def _run_config(files: Path, stopper: Any) -> Any:
    from ray import tune

    return tune.RunConfig(
        name=files.name,
        storage_path=str(files.parent.resolve()),
        failure_config=tune.FailureConfig(max_failures=TRIAL_RETRIES),
        stop=stopper,
        verbose=0,
    )


def _bundle(resources: Resources, labels: Mapping[str, str]) -> Any:
    from ray import tune

    selector: dict[str, Any] = {"bundle_label_selector": [dict(labels)]} if labels else {}
    return tune.PlacementGroupFactory([{"CPU": resources.cpus, "GPU": resources.gpus}], **selector)

"""What a search tries next: a function of the space, the seed and the trials before.

Optuna's samplers, each started anew for every proposal from a seed of that proposal, so that one can be made again alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from swarm_chain.core.encoding import keccak, words
from swarm_chain.core.errors import UnavailableError
from swarm_chain.reference.space import Choices, Range, Space
from swarm_chain.reference.train import machine_kind, pinned

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler

SAMPLERS: Final = ("tpe", "gp")
Parameters = Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a proposal follows from: parameters and last value of the trials of earlier generations, and parameters of those of
    the own generation before it, whose values nobody knows yet; without them a generation would try one thing many times."""

    ended: Sequence[tuple[Parameters, int]] = ()
    pending: Sequence[Parameters] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """How a space is searched.

    `sampler` is "tpe" (tree of Parzen estimators) or "gp" (Gaussian process); the first `startup` trials are random.
    """

    space: Space
    sampler: str
    seed: int
    startup: int

    def propose(self, number: int, known: Known) -> dict[str, int]:
        """Parameters of a trial.

        Args:
            number: of the trial, >= 0.
            known: the trials before it, in their order.

        Raises:
            UnavailableError: the packages of the samplers are not installed.
        """
        import optuna
        from optuna.trial import TrialState, create_trial

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        made = distributions(self.space)
        ended = [create_trial(params=dict(one), distributions=made, value=value) for one, value in known.ended]
        pending = [
            create_trial(state=TrialState.RUNNING, params=dict(one), distributions=made) for one in known.pending
        ]
        with pinned():
            study = optuna.create_study(sampler=self._sampler(number))
            study.add_trials([*ended, *pending])
            found: dict[str, int] = study.ask(made).params
        return found

    def _sampler(self, number: int) -> "BaseSampler":
        from optuna.samplers import GPSampler, TPESampler

        raw = keccak(words(keccak(b"swarm.tune.proposal.v1"), self.seed, number))
        seed = int.from_bytes(raw[:4], "big")
        if self.sampler == "gp":
            return GPSampler(seed=seed, n_startup_trials=self.startup)
        return TPESampler(seed=seed, n_startup_trials=self.startup)


def distributions(space: Space) -> "dict[str, BaseDistribution]":
    """The space in optuna's words, parameters in the order of their names."""
    return {name: _distribution(space[name]) for name in sorted(space)}


def search_kind(sampler: str) -> str:
    """What decides the last bit of a proposal: the kind of machine and the packages that sample.

    Raises:
        UnavailableError: they are not installed.
    """
    from importlib.metadata import PackageNotFoundError, version

    names = ("numpy", "optuna", "scipy") if sampler == "gp" else ("numpy", "optuna")
    try:
        return " ".join([machine_kind(), *(f"{name}-{version(name)}" for name in names)])
    except PackageNotFoundError as error:
        fix = "install the extra swarm[jobs]"
        raise UnavailableError(f"{error.name} is not installed", fix=fix, code="missing_package") from error


def _distribution(values: Range | Choices) -> "BaseDistribution":
    from optuna.distributions import CategoricalDistribution, IntDistribution

    if isinstance(values, Choices):
        return CategoricalDistribution(values.choices)
    return IntDistribution(values.low, values.high, log=values.log, step=values.step)

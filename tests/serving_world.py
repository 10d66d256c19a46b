"""Nodes that serve, honestly or not, without a socket: rungs as a prober would bring them home."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from random import Random

from oracle.pipeline.probe_process import ProbeAsk
from swarm_chain.core.encoding import keccak, words
from swarm_chain.core.kinds import Category, HardwareClass
from swarm_chain.core.probing import ProbeSample, Rung, arrivals, prompt_of, rates_of, rung_seed
from swarm_chain.core.serving import ServingParams
from swarm_chain.core.units import Hash32
from swarm_chain.params import load_params
from swarm_chain.reference.rescoring import rescored
from swarm_chain.reference.tokenmodel import answers, build_model

PARAMS = load_params("minimal").serving
LEVEL = load_params("minimal").services.judged(HardwareClass.GPU, Category.SERVING)
MODEL = keccak(b"model of the epoch")
TOKENS = PARAMS.answer_tokens

Tokens = Sequence[tuple[int, ...]]


@dataclass(slots=True, kw_only=True)
class SimulatedNode:
    """Answers rightly in 10 to 30 ms up to its capacity, requests/s; beyond that a queue grows. Liars override a part."""

    capacity: int = 1000
    model: Hash32 = MODEL
    params: ServingParams = field(default_factory=lambda: PARAMS)
    lag_us: int = 0  # of the prober, not of the node

    def tokens(self, prompts: Tokens) -> list[tuple[int, ...]]:
        """What it answers."""
        return list(answers(_model(self.params, self.model), prompts, self.params.answer_tokens))

    def sample(self, sample: ProbeSample, _random: Random) -> ProbeSample:
        """A sample as it comes back."""
        return sample

    def rung(self, rate: int, seed: Hash32, model: Hash32) -> Rung:
        """A rung as the prober brings it home."""
        random = Random(seed)
        due = arrivals(seed, rate, self.params.rung_for)
        told = self.tokens([prompt_of(seed, number, self.params) for number in range(len(due))])
        samples, free_us = [], 0
        for at_us in due:
            free_us = max(at_us, free_us) + 10**6 // self.capacity
            first_us = free_us + random.randrange(5_000, 15_000)
            sample = ProbeSample(
                scheduled_us=at_us,
                sent_us=at_us + self.lag_us,
                first_us=first_us,
                done_us=first_us + random.randrange(5_000, 15_000),
            )
            samples.append(self.sample(sample, random))
        right = rescored(samples, told, self.params, model, seed)
        return Rung(rate=rate, timeout_us=self.params.timeout_ms * 1000, samples=right)

    def ladder(self, claim: int, number: int = 0) -> tuple[Rung, ...]:
        """All rungs up to a claim, from another secret each time."""
        secret = keccak(words(number))
        return tuple(self.rung(rate, rung_seed(secret, rate), MODEL) for rate in rates_of(self.params, claim))


class Canned(SimulatedNode):
    """Gives the same answer to everybody, at once."""

    def tokens(self, prompts: Tokens) -> list[tuple[int, ...]]:
        return [tuple(range(TOKENS))] * len(prompts)


class Truncated(SimulatedNode):
    """Leaves the last token out."""

    def tokens(self, prompts: Tokens) -> list[tuple[int, ...]]:
        return [told[:-1] for told in SimulatedNode.tokens(self, prompts)]


class SometimesWrong(SimulatedNode):
    """Computes half of the answers and repeats the first one for the others."""

    def tokens(self, prompts: Tokens) -> list[tuple[int, ...]]:
        right = SimulatedNode.tokens(self, prompts)
        return [told if number % 2 else right[0] for number, told in enumerate(right)][::-1]


class Slow(SimulatedNode):
    """Answers everything rightly, too late."""

    def sample(self, sample: ProbeSample, _random: Random) -> ProbeSample:
        assert sample.first_us is not None
        return replace(sample, first_us=sample.first_us + 3_500_000, done_us=sample.first_us + 3_600_000)


class Stalling(SimulatedNode):
    """The first token at once, the rest when it pleases."""

    def sample(self, sample: ProbeSample, _random: Random) -> ProbeSample:
        assert sample.first_us is not None
        return replace(sample, done_us=sample.first_us + 3_500_000)


class Refusing(SimulatedNode):
    """Refuses four requests in ten."""

    def sample(self, sample: ProbeSample, random: Random) -> ProbeSample:
        if random.randrange(10) >= 4:
            return sample
        return replace(sample, first_us=None, done_us=None, error="http_503")


class Absent(SimulatedNode):
    """Answers nobody."""

    def sample(self, sample: ProbeSample, _random: Random) -> ProbeSample:
        return replace(sample, first_us=None, done_us=None, error="broken")


_model = lru_cache(maxsize=8)(build_model)


@dataclass(slots=True)
class SimulatedProber:
    """Prober port over simulated nodes, by URL; `between` runs after every call."""

    nodes: dict[str, SimulatedNode]
    between: Callable[[], None] = lambda: None
    asked: list[tuple[str, int]] = field(default_factory=list)

    def measure(self, asks: Sequence[ProbeAsk]) -> tuple[Rung, ...]:
        """Rungs of the nodes that are asked."""
        self.asked += [(ask.shot.endpoint, ask.shot.rate) for ask in asks]
        rungs = tuple(self.nodes[ask.shot.endpoint].rung(ask.shot.rate, ask.shot.seed, ask.model) for ask in asks)
        self.between()
        return rungs

    def close(self) -> None:
        """There is nothing to end."""

"""What a probe of a serving endpoint asks, when, and what its samples come to, in exact integers.

    secret --arrivals, prompts--> requests, sent on time whatever became of the ones before (open loop)
    samples of a rung --rung_figures--> errors, p50, p95, p99 from the *scheduled* time; rungs up the ladder to the knee

Given how many requests came, arrivals of a Poisson process are independent and uniform: so they are drawn and sorted, and a
rung offers exactly the rate it is named after. Source: docs/spec/serving.md.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import shake_128

from swarm_chain.core.encoding import keccak, words
from swarm_chain.core.serving import ServingParams
from swarm_chain.core.units import BPS, Address, Bps, Hash32

MICROSECONDS = 10**6

_TAG_RUNG = keccak(b"swarm.serving.rung.v1")
_TAG_ARRIVALS = keccak(b"swarm.serving.arrivals.v1")
_TAG_PROMPT = keccak(b"swarm.serving.prompt.v1")
_TAG_DRAW = keccak(b"swarm.serving.draw.v1")
_TAG_TURN = keccak(b"swarm.serving.turn.v1")
_WORD = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeSample:
    """One request of a probe. Times are us of the prober's monotonic clock since the rung began.

    `sent_us` is when the prober turned to it; `first_us` and `done_us` are None where nothing, or no end, came. `error` is ""
    for an answer that ended properly, else a stable code. `expected` is the digest of the right answer where it was drawn.
    """

    scheduled_us: int
    sent_us: int
    first_us: int | None = None
    done_us: int | None = None
    error: str = ""
    digest: Hash32 | None = None
    expected: Hash32 | None = None

    @property
    def is_wrong(self) -> bool:
        """Whether it was recomputed and differs."""
        return not self.error and self.expected is not None and self.digest != self.expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """All samples of one rate, requests/s; a request without an answer counts as one of `timeout_us`."""

    rate: int
    timeout_us: int
    samples: tuple[ProbeSample, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RungFigures:
    """What a rung came to: times from the scheduled moment, us; errors; how late the prober itself was at worst in 95 %."""

    rate: int
    requests: int
    errors: int
    p50_us: int
    p95_us: int
    p99_us: int
    ttft_us: int
    lag_us: int

    @property
    def error_bps(self) -> Bps:
        """Failed requests, rounded up: no measurement flatters a node."""
        return Bps(-(-self.errors * BPS // self.requests))


def rung_seed(secret: Hash32, rate: int) -> Hash32:
    """Seed of one rung of a probe, by the member's 32 unpredictable bytes."""
    return keccak(words(_TAG_RUNG, secret, rate))


def arrivals(seed: Hash32, rate: int, lasts_for: int) -> tuple[int, ...]:
    """Draw when requests are sent.

    Args:
        seed: of the rung.
        rate: requests/s, > 0.
        lasts_for: seconds, > 0.

    Returns:
        rate · lasts_for moments in [0, lasts_for · 10^6) us, ascending.
    """
    count, end = rate * lasts_for, lasts_for * MICROSECONDS
    return tuple(sorted(word % end for word in _words(_TAG_ARRIVALS + seed, count)))


def prompt_of(seed: Hash32, number: int, params: ServingParams) -> tuple[int, ...]:
    """Draw the prompt of one request of a rung: token ids in [0, vocabulary), prompt_tokens of them."""
    start = _TAG_PROMPT + seed + number.to_bytes(_WORD, "big")
    return tuple(word % params.vocabulary for word in _words(start, params.prompt_tokens))


def drawn_answers(seed: Hash32, answered: Sequence[int], draws: int) -> tuple[int, ...]:
    """Draw which of the answered requests are recomputed.

    Args:
        seed: of the rung; the node never learns it.
        answered: numbers of requests that were answered, none twice.
        draws: how many at most.

    Returns:
        Up to `draws` of them, ascending.
    """
    shuffled = sorted(answered, key=lambda number: keccak(words(_TAG_DRAW, seed, number)))
    return tuple(sorted(shuffled[:draws]))


def rates_of(params: ServingParams, claim: int) -> Iterator[int]:
    """Rates a probe tries one after the other: from a low one up by `step_bps`, the claim last."""
    rate = min(params.low_rate, claim)
    while rate < claim:
        yield rate
        rate = min(max(rate * params.step_bps // BPS, rate + 1), claim)
    yield claim


def ladder_for(params: ServingParams, claim: int) -> int:
    """Seconds a probe up to a claim takes at most."""
    return sum(params.rung_for + params.pause_for for _ in rates_of(params, claim))


def rung_figures(rung: Rung) -> RungFigures:
    """Give errors and percentiles of a rung.

    Args:
        rung: at least one sample.

    Returns:
        Percentiles are by nearest rank over *all* requests; one that failed counts as `timeout_us`, or longer if it was.
    """
    times = sorted(_took(one.done_us, one, rung.timeout_us) for one in rung.samples)
    firsts = sorted(_took(one.first_us, one, rung.timeout_us) for one in rung.samples)
    lags = sorted(max(one.sent_us - one.scheduled_us, 0) for one in rung.samples)
    return RungFigures(
        rate=rung.rate,
        requests=len(rung.samples),
        errors=sum(1 for one in rung.samples if one.error),
        p50_us=percentile(times, 50),
        p95_us=percentile(times, 95),
        p99_us=percentile(times, 99),
        ttft_us=percentile(firsts, 50),
        lag_us=percentile(lags, 95),
    )


def percentile(ascending: Sequence[int], percent: int) -> int:
    """Nearest-rank percentile of at least one number in ascending order."""
    return ascending[max(-(-len(ascending) * percent // 100), 1) - 1]


def turn_order(epoch_seed: Hash32, node: Address, members: Iterable[Address]) -> tuple[Address, ...]:
    """Order in which members take turns at probing a node in an epoch, so that they never load it together."""
    return tuple(sorted(members, key=lambda member: keccak(words(_TAG_TURN, epoch_seed, node, member))))


def _took(at_us: int | None, one: ProbeSample, timeout_us: int) -> int:
    # From when it should have been sent: a prober held up by a slow node must not make the node look quick.
    if one.error or at_us is None:
        return max(timeout_us, (at_us or 0) - one.scheduled_us)
    return max(at_us - one.scheduled_us, 1)


def _words(start: bytes, count: int) -> Iterator[int]:
    stream = shake_128(start).digest(_WORD * count)
    return (int.from_bytes(stream[at : at + _WORD], "big") for at in range(0, len(stream), _WORD))

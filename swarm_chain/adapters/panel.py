"""Asks several endpoints the same question side by side and says what enough of them agree on.

question --> one lane per endpoint --> Answer: a value, a no (an error that is an answer), or silence
k equal answers --> the answer;  fewer than k spoke --> UnavailableError;  k spoke, no k alike --> InconsistentError
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar, cast

from swarm_chain.adapters.answers import Answer, alike, ask_into, is_behind, shared_reason, shown, silence
from swarm_chain.adapters.lane import Lane
from swarm_chain.core.errors import InconsistentError, InvalidInputError, SwarmError, UnavailableError

S = TypeVar("S")
T = TypeVar("T")

REPORT_AGAIN_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Dissent:
    """An endpoint that was out-voted or did not answer; `endpoint` is redacted, `reason` a code or a few words."""

    endpoint: str
    operation: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quorum:
    """How many endpoints must agree and how long to wait, seconds.

    `agree` None is a majority. `grace_s` is the time that slower endpoints have once enough have answered, so that a liar
    among the quick ones does not decide alone; an endpoint that let it pass is not waited for until it answers again.
    """

    agree: int | None = None
    timeout_s: float = 30.0
    grace_s: float = 0.25
    on_dissent: Callable[[Dissent], None] | None = None

    def of(self, endpoints: int) -> int:
        """How many of so many endpoints must agree.

        Raises:
            InvalidInputError: more than there are, or fewer than one (exit 3).
        """
        if self.agree is None:
            return endpoints // 2 + 1
        if not 1 <= self.agree <= endpoints:
            raise InvalidInputError(
                f"{self.agree} of {endpoints} RPC endpoints cannot agree",
                fix=f"set SWARM_RPC_AGREE to a number from 1 to {endpoints}, or list more endpoints in SWARM_RPC_URL",
                code="bad_rpc_agree",
                values={"agree": self.agree, "endpoints": endpoints},
                exit_code=3,
            )
        return self.agree


Enough = Callable[[Sequence[Answer[object]]], bool]


class Panel(Generic[S]):
    """Endpoints that are asked together.

    Args:
        sources: what is asked, by the redacted name of its endpoint.
        quorum: how many must agree.

    Raises:
        InvalidInputError: no endpoint, or not as many as must agree (exit 3).
    """

    def __init__(self, sources: Mapping[str, S], quorum: Quorum) -> None:
        if not sources:
            raise InvalidInputError("no RPC endpoint given", fix="give --rpc-url or set SWARM_RPC_URL", exit_code=3)
        self.agree = quorum.of(len(sources))
        self._quorum = quorum
        self._sources = dict(sources)
        self._lanes = {name: Lane() for name in sources}
        self._reported: dict[tuple[str, str, str], float] = {}

    def agreed(self, operation: str, question: Callable[[S], T]) -> T:
        """What k endpoints answer alike.

        Args:
            operation: names the question in errors and reports.
            question: asks one endpoint; called in several threads at once.

        Raises:
            SwarmError: k endpoints refuse alike.
            UnavailableError: fewer than k answer.
            InconsistentError: k answered, but no k alike.
        """
        answers = self.gather(question, lambda found: len(alike(found)) >= self.agree)
        return self._verdict_of(operation, answers, alike(answers))

    def several(self, operation: str, question: Callable[[S], T]) -> list[T]:
        """Values of at least k endpoints, where each may have its own; arguments and errors as of `agreed`."""
        answers = self.gather(question, self._has_several)
        values = [answer for answer in answers if answer.error is None]
        if len(values) < self.agree:
            self._verdict_of(operation, answers, alike([answer for answer in answers if answer.error is not None]))
        self.report(operation, [answer for answer in answers if answer.error is not None])
        return [value for answer in values if (value := answer.value) is not None]

    def gather(self, question: Callable[[S], T], enough: Enough) -> list[Answer[T]]:
        """Answers in the order of the endpoints, one for each, when there are enough or time is up.

        Args:
            question: asks one endpoint; called in several threads at once.
            enough: whether these answers decide; the others then have the grace time left.
        """
        came: SimpleQueue[Answer[T]] = SimpleQueue()
        asked = {
            name
            for name, source in self._sources.items()
            if self._lanes[name].submit(partial(ask_into, came, name, partial(question, source)))
        }
        found = self._collect(came, asked, enough)
        for name in asked - found.keys():
            self._lanes[name].is_late = True
        return [found.get(name) or silence(name, name in asked) for name in self._sources]

    def report(self, operation: str, answers: Sequence[Answer[object]]) -> None:
        """Tells the owner of the quorum about endpoints that were out-voted, each reason at most once a minute."""
        kind, now = operation.partition(" ")[0], time.monotonic()
        for answer in answers:
            topic = (answer.endpoint, kind, answer.error.code if answer.error is not None else "")
            last = self._reported.get(topic)
            if self._quorum.on_dissent is not None and (last is None or now - last >= REPORT_AGAIN_S):
                self._reported[topic] = now
                self._quorum.on_dissent(Dissent(endpoint=answer.endpoint, operation=kind, reason=answer.reason))

    def refusal(self, operation: str, answers: Sequence[Answer[object]]) -> SwarmError:
        """Why these answers do not decide."""
        said = "; ".join(f"{answer.endpoint} ({shown(answer)})" for answer in answers)
        spoke = [answer for answer in answers if answer.spoke and not is_behind(answer)]
        if len(spoke) >= self.agree:
            return InconsistentError(
                f"the RPC endpoints contradict each other on {operation}, {self.agree} of {len(answers)} must agree: {said}",
                fix="compare the endpoints with a block explorer and take out the ones that lie",
                code="rpc_disagree",
                values={"operation": operation, "endpoints": [answer.endpoint for answer in answers]},
            )
        return shared_reason(answers, self.agree) or UnavailableError(
            f"{len(spoke)} of {len(answers)} RPC endpoints answer {operation}, {self.agree} must agree: {said}",
            fix="start the nodes, or list more endpoints in SWARM_RPC_URL",
            code="rpc_unavailable",
        )

    def _verdict_of(self, operation: str, answers: Sequence[Answer[T]], winners: Sequence[Answer[T]]) -> T:
        if len(winners) < self.agree:
            raise self.refusal(operation, answers)
        self.report(operation, [answer for answer in answers if answer not in winners])
        if winners[0].error is not None:
            raise winners[0].error
        return cast(T, winners[0].value)

    def _has_several(self, found: Sequence[Answer[object]]) -> bool:
        refusals = [answer for answer in found if answer.error is not None]
        return max(len(found) - len(refusals), len(alike(refusals))) >= self.agree

    def _collect(self, came: "SimpleQueue[Answer[T]]", asked: set[str], enough: Enough) -> dict[str, Answer[T]]:
        found: dict[str, Answer[T]] = {}
        deadline, decided = time.monotonic() + self._quorum.timeout_s, False
        while len(found) < len(asked):
            if not decided and enough(list(found.values())):
                decided, deadline = True, min(deadline, time.monotonic() + self._quorum.grace_s)
            if decided and all(self._lanes[name].is_late for name in asked - found.keys()):
                break
            try:
                answer = came.get(timeout=max(0.0, deadline - time.monotonic()))
            except Empty:
                break
            found[answer.endpoint] = answer
        return found

"""Completions over HTTP from endpoints nobody trusts: one request for a customer, or a rung of them for a probe.

    arrivals --each on time, whatever became of the others--> POST /v1/completions --server-sent events--> tokens, times, error

Nothing an endpoint does makes this end later than the timeout, follow it elsewhere, or keep more than MAX_ANSWER_BYTES of it.
Source: docs/spec/serving.md "The request".
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass

import httpx2

from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.probing import MICROSECONDS, ProbeSample, arrivals, prompt_of
from swarm_chain.core.serving import CompletionRequest, ServingParams, completion_request
from swarm_chain.core.units import Hash32

MAX_ANSWER_BYTES = 64 * 1024
KEPT_CONNECTIONS = 64
_EVENT, _END = b"data: ", b"[DONE]"
_MAX_TOKEN = 2**32 - 1

ClockUs = Callable[[], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """One rung of a probe: where to, which model, at which rate, from which seed."""

    endpoint: str
    model: str
    seed: Hash32
    rate: int
    params: ServingParams


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A sample and the tokens that came; without an answer there are none."""

    sample: ProbeSample
    tokens: tuple[int, ...] = ()


class _BadAnswerError(Exception):
    """An answer that is none; its text is the stable code of the sample."""


class TokenStream:
    """Reads tokens from server-sent events as they come in."""

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self.ended = False
        self._rest = b""
        self._size = 0

    def feed(self, chunk: bytes) -> None:
        """Takes the next bytes in.

        Raises:
            _BadAnswerError: they are no events with tokens, or too many.
        """
        self._size += len(chunk)
        if self._size > MAX_ANSWER_BYTES:
            raise _BadAnswerError("too_long")
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            self._line(line.rstrip(b"\r"))

    def _line(self, line: bytes) -> None:
        if self.ended or not line.startswith(_EVENT):
            return  # blank lines, comments and other fields mean nothing here
        event = line.removeprefix(_EVENT)
        if event == _END:
            self.ended = True
        else:
            self.tokens += _tokens(event)


async def fire(shot: Shot, clock_us: ClockUs) -> tuple[Answered, ...]:
    """Send one rung and wait for what becomes of it; late answers delay no later request.

    Args:
        shot: the rung.
        clock_us: monotonic microseconds.

    Returns:
        One entry a request, in order of their scheduled moments; times count from the rung's begin.
    """
    params = shot.params
    due = arrivals(shot.seed, shot.rate, params.rung_for)
    requests = [
        completion_request(shot.endpoint, shot.model, prompt_of(shot.seed, number, params), params.answer_tokens)
        for number in range(len(due))
    ]
    async with _client() as client:
        began = clock_us()

        def since() -> int:
            return clock_us() - began

        async with asyncio.TaskGroup() as group:
            tasks = []
            for at_us, request in zip(due, requests, strict=True):
                await asyncio.sleep(max(at_us - since(), 0) / MICROSECONDS)
                tasks.append(group.create_task(_sampled(client, request, at_us, since, params.timeout_ms)))
        return tuple(task.result() for task in tasks)


def complete(request: CompletionRequest, timeout_ms: int) -> tuple[int, ...]:
    """Send one request and give its tokens, as a customer does.

    Raises:
        UnavailableError: no proper answer came in time.
    """

    async def once() -> Answered:
        async with _client() as client:
            loop = asyncio.get_running_loop()
            began = loop.time()
            return await _sampled(client, request, 0, lambda: int((loop.time() - began) * MICROSECONDS), timeout_ms)

    answered = asyncio.run(once())
    if answered.sample.error:
        raise UnavailableError(f"{request.url} gave no answer: {answered.sample.error}", code=answered.sample.error)
    return answered.tokens


def _client() -> httpx2.AsyncClient:
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=KEPT_CONNECTIONS)
    # No proxy and no credentials of the environment: the URL is a stranger's.
    return httpx2.AsyncClient(limits=limits, timeout=None, follow_redirects=False, trust_env=False)


async def _sampled(
    client: httpx2.AsyncClient, request: CompletionRequest, at_us: int, since: ClockUs, timeout_ms: int
) -> Answered:
    sent_us, stream = since(), TokenStream()
    firsts: list[int] = []
    error, done_us = "", None
    left_us = at_us + timeout_ms * 1000 - sent_us
    try:
        async with asyncio.timeout(max(left_us, 0) / MICROSECONDS):
            await _receive(client, request, stream, lambda: firsts.append(since()))
        done_us = since()
    except TimeoutError:
        error = "timeout"
    except _BadAnswerError as bad:
        error = str(bad)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError):
        error = "broken"
    sample = ProbeSample(
        scheduled_us=at_us, sent_us=sent_us, first_us=firsts[0] if firsts else None, done_us=done_us, error=error
    )
    return Answered(sample=sample, tokens=() if error else tuple(stream.tokens))


async def _receive(
    client: httpx2.AsyncClient, request: CompletionRequest, stream: TokenStream, on_first: Callable[[], None]
) -> None:
    async with client.stream(
        "POST", request.url, content=request.body, headers=dict(request.headers), timeout=None
    ) as response:
        if response.is_redirect:
            raise _BadAnswerError("redirected")
        if response.status_code != httpx2.codes.OK:
            raise _BadAnswerError(f"http_{response.status_code}")
        async for chunk in response.aiter_raw():  # raw: what is compressed here may be endless there
            had = bool(stream.tokens)
            stream.feed(chunk)
            if stream.tokens and not had:
                on_first()
            if stream.ended:
                return
    raise _BadAnswerError("cut_off")


def _tokens(event: bytes) -> list[int]:
    try:
        tokens = json.loads(event)["choices"][0]["token_ids"]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise _BadAnswerError("malformed") from error
    if not isinstance(tokens, list) or not all(type(one) is int and 0 <= one <= _MAX_TOKEN for one in tokens):
        raise _BadAnswerError("malformed")
    return tokens

"""Endpoints that mean harm, over real sockets: the prober ends in time, follows nobody, keeps little, and tells what it saw."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from time import monotonic_ns

import pytest

from oracle.judge.serving import ServingCase, judge_serving
from oracle.pipeline.probe_process import ProbeAsk, ProbeProcess
from swarm_chain.adapters.completions import Answered, Shot, complete, fire
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.probing import prompt_of
from swarm_chain.core.serving import completion_request, model_name
from swarm_chain.params import load_params
from tests.boasts.serving import CannedEndpoint
from tests.serving_world import LEVEL

MINIMAL = load_params("minimal")
PARAMS = replace(MINIMAL.serving, timeout_ms=700)
MODEL, SEED = keccak(b"epoch"), keccak(b"rung")
TOKEN = b'data: {"choices":[{"token_ids":[1]}]}\n\n'
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n"

Serve = Callable[[asyncio.StreamWriter], Awaitable[None]]


async def redirects(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")


async def is_endless(writer: asyncio.StreamWriter) -> None:
    writer.write(OK + b"\r\n")
    while not writer.is_closing():
        writer.write(TOKEN * 1000)
        await writer.drain()


async def stalls(writer: asyncio.StreamWriter) -> None:
    writer.write(OK + b"\r\n" + TOKEN)
    await writer.drain()
    await asyncio.sleep(5)


async def is_silent(_writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(5)


async def cuts_off(writer: asyncio.StreamWriter) -> None:
    writer.write(OK + b"Content-Length: 40\r\n\r\n" + TOKEN)


async def ends_without_end(writer: asyncio.StreamWriter) -> None:
    writer.write(OK + b"\r\n" + TOKEN)


async def talks_nonsense(writer: asyncio.StreamWriter) -> None:
    writer.write(OK + b'\r\ndata: {"choices":[{"token_ids":[true,"2",-3]}]}\n\n')


async def nests_deeply(writer: asyncio.StreamWriter) -> None:
    writer.write(OK + b"\r\ndata: " + b"[" * 50_000 + b"\n\n")


async def is_no_http(writer: asyncio.StreamWriter) -> None:
    writer.write(b"\x00" * 2000)


async def sends_endless_headers(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while not writer.is_closing():
        writer.write(b"X-A: " + b"a" * 4000 + b"\r\n")
        await writer.drain()


async def refuses(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")


@asynccontextmanager
async def listening(serve: Serve, seen: list[bytes]) -> AsyncIterator[str]:
    """A server of one hostile habit; `seen` takes what was sent to it."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            seen.append(head + await reader.readexactly(int(length.partition(b":")[2])))
            await serve(writer)
            await writer.drain()
            writer.close()
        except (ConnectionError, asyncio.IncompleteReadError):
            return

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


def shot(endpoint: str) -> Shot:
    return Shot(endpoint=endpoint, model=model_name(MODEL), seed=SEED, rate=2, params=PARAMS)


def fired(serve: Serve, seen: list[bytes] | None = None) -> tuple[Answered, ...]:
    async def run() -> tuple[Answered, ...]:
        async with listening(serve, [] if seen is None else seen) as endpoint:
            return await fire(shot(endpoint), lambda: monotonic_ns() // 1000)

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("serve", "error"),
    [
        (redirects, "redirected"),
        (is_endless, "too_long"),
        (stalls, "timeout"),
        (is_silent, "timeout"),
        (cuts_off, "broken"),
        (ends_without_end, "cut_off"),
        (talks_nonsense, "malformed"),
        (nests_deeply, "malformed"),
        (is_no_http, "broken"),
        (sends_endless_headers, "broken"),
        (refuses, "http_503"),
    ],
)
def test_rung_when_the_endpoint_means_harm_then_it_ends_in_time_with_a_code(serve: Serve, error: str) -> None:
    answered = fired(serve)

    assert {one.sample.error for one in answered} == {error}
    assert all(one.tokens == () and one.sample.done_us is None for one in answered)
    assert (answered[0].sample.first_us is None) == (
        serve is not stalls and serve is not is_endless and serve is not cuts_off and serve is not ends_without_end
    )


def test_probe_when_compared_with_a_customer_then_the_same_bytes_on_the_wire() -> None:
    probes: list[bytes] = []
    fired(refuses, probes)

    async def address() -> list[bytes]:
        customers: list[bytes] = []
        async with listening(refuses, customers) as endpoint:
            request = completion_request(endpoint, model_name(MODEL), prompt_of(SEED, 0, PARAMS), PARAMS.answer_tokens)
            with pytest.raises(UnavailableError):
                await asyncio.to_thread(complete, request, 2000)
        return customers

    (customer,) = asyncio.run(address())
    same = [_without_port(one) for one in probes]
    assert _without_port(customer) in same


def test_prober_process_when_the_endpoint_is_canned_then_its_answers_are_wrong_and_the_judge_says_so() -> None:
    endpoint, prober = CannedEndpoint(), ProbeProcess()
    patient = replace(shot(f"http://127.0.0.1:{endpoint.port}"), params=MINIMAL.serving)
    (rung,) = prober.measure([ProbeAsk(shot=patient, model=MODEL)])
    found = judge_serving(ServingCase(claim=2, rungs=(rung,)), LEVEL, MINIMAL.serving)
    prober.close()
    endpoint.close()

    assert found is not None
    assert (found.reason, found.units) == ("wrong_answer", 0)
    with pytest.raises(UnavailableError):
        prober.measure([ProbeAsk(shot=patient, model=MODEL)])


def _without_port(request: bytes) -> bytes:
    return b"\r\n".join(line for line in request.split(b"\r\n") if not line.lower().startswith(b"host:"))

"""The replica without Ray around it: nobody waits for whom they came after, and nobody pays for another's mistake."""

import asyncio
import contextlib
import gc
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator

import psutil
import pytest

from node.serving.batches import Batching, TokenRequest
from node.serving.replica import TokenReplica
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.serving import MAX_CONTEXT
from swarm_chain.reference.programs.tokens import ModelWork, seed_hash
from tests.serve_world import FIRST, SECOND, SIZES, given

LONG = 2000


def replica(most: int) -> TokenReplica:
    return TokenReplica(ModelWork(**SIZES), Batching(max_batch_size=most))


def ask(prompt: tuple[int, ...], tokens: int, seed: int = FIRST) -> TokenRequest:
    return TokenRequest(model=seed_hash(seed), prompt=prompt, tokens=tokens)


def test_request_when_it_comes_while_a_long_one_is_decoded_then_answered_before_that_ends() -> None:
    async def both() -> list[int]:
        side, done = replica(2), []
        long = side(ask((1,), LONG))
        await anext(long)
        assert await side.whole(ask((2, 3), 4)) == list(given(FIRST, (2, 3), 4))
        done.append(4)
        done.append(sum([len(chunk) async for chunk in long]))
        return done

    assert asyncio.run(both()) == [4, LONG - 1]


def test_requests_when_of_three_models_and_more_than_there_is_room_for_then_each_its_own() -> None:
    asked = [ask((place,), place % 3 * 4, seed) for place in range(12) for seed in (FIRST, SECOND, 7)]

    async def all_of_them() -> list[list[int]]:
        side = replica(4)
        return await asyncio.gather(*(side.whole(one) for one in asked))

    right = [given(seed, (place,), place % 3 * 4) for place in range(12) for seed in (FIRST, SECOND, 7)]
    assert asyncio.run(all_of_them()) == [list(answer) for answer in right]


def test_asker_when_gone_then_the_place_is_the_next_one_s() -> None:
    async def two() -> list[int]:
        side = replica(1)
        long = side(ask((1,), MAX_CONTEXT - 1))
        waiting = asyncio.ensure_future(side.whole(ask((1,), 9)))
        await anext(long)
        waiting.cancel()
        assert isinstance(long, AsyncGenerator)
        await long.aclose()
        return await side.whole(ask((2, 3), 4))

    assert asyncio.run(two()) == list(given(FIRST, (2, 3), 4))


def test_request_when_of_tokens_that_do_not_exist_then_refused_alone() -> None:
    async def two() -> list[int]:
        side = replica(2)
        good = asyncio.ensure_future(side.whole(ask((1,), 20)))
        with pytest.raises(InvalidInputError, match="does not exist"):
            await side.whole(ask((64,), 4))
        return await good

    assert asyncio.run(two()) == list(given(FIRST, (1,), 20))


def test_requests_when_decoding_fails_then_all_of_them_hear_of_it_and_the_next_one_is_answered() -> None:
    async def three() -> list[int]:
        side = replica(1)
        found = await asyncio.gather(
            side.whole(ask((1,), MAX_CONTEXT + 1)), side.whole(ask((2,), 4)), return_exceptions=True
        )
        assert all(isinstance(one, UnavailableError) and "decoding failed: IndexError" in str(one) for one in found)
        return await side.whole(ask((2, 3), 4))

    assert asyncio.run(three()) == list(given(FIRST, (2, 3), 4))


def test_requests_when_the_process_that_decodes_is_killed_then_they_hear_of_it_and_another_answers_the_next_one() -> (
    None
):
    async def three() -> list[int]:
        side = replica(1)
        asked = [asyncio.ensure_future(side.whole(ask((1,), LONG))) for _ in range(2)]
        await asyncio.sleep(0)
        _kill_those_of_this_process()
        for one in asked:
            with pytest.raises(UnavailableError, match="its process ended"):
                await one
        return await side.whole(ask((2, 3), 4))

    assert asyncio.run(three()) == list(given(FIRST, (2, 3), 4))


def test_requests_when_more_is_asked_and_told_than_the_pipe_holds_then_neither_end_waits_for_the_other() -> None:
    texts = [(place % 64,) * (MAX_CONTEXT - 4) for place in range(300)]

    async def many() -> list[list[int]]:
        side = replica(64)
        first = asyncio.ensure_future(asyncio.gather(*(side.whole(ask((place,), LONG)) for place in range(64))))
        await asyncio.sleep(0.05)
        time.sleep(2)  # noqa: ASYNC251  # meanwhile all of them are told at once, and nobody listens
        later = [asyncio.ensure_future(side.whole(ask(text, 1))) for text in texts]
        answers = await asyncio.wait_for(first, 60)
        for one in later:
            one.cancel()
        await asyncio.gather(*later, return_exceptions=True)
        return answers

    assert [len(answer) for answer in asyncio.run(many())] == [LONG] * 64


def test_replica_when_it_is_gone_then_so_is_its_process() -> None:
    before = _decoding()
    side = replica(1)
    (pid,) = _decoding() - before
    del side
    gc.collect()

    assert not psutil.pid_exists(pid)


def test_decoding_process_when_whoever_started_it_is_killed_then_it_ends() -> None:
    lines = (
        "import os, signal",
        "from node.serving.batches import Batching",
        "from node.serving.process import DecodingProcess",
        "from swarm_chain.reference.programs.tokens import ModelWork",
        f"process = DecodingProcess(ModelWork(**{SIZES}), Batching(max_batch_size=1))",
        "process.wait()",
        "print(process.pid, flush=True)",
        "os.kill(os.getpid(), signal.SIGKILL)",
    )
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False)

    assert done.returncode == -signal.SIGKILL
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(int(done.stdout)).wait(30)


def test_decoding_process_when_it_cannot_start_then_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(UnavailableError, match="did not start"):
        replica(1)


def _decoding() -> set[int]:
    return {child.pid for child in psutil.Process().children() if "node.serving.process" in child.cmdline()}


def _kill_those_of_this_process() -> None:
    for pid in _decoding():
        os.kill(pid, signal.SIGKILL)

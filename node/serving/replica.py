"""The Ray Serve deployment: requests are decoded side by side, each from the moment it comes to the moment it is whole.

ingress --TokenRequest--> replica --Asked--> decoding, a process of its own --Told, at once or in chunks--> replica --> ingress

A batch of `@serve.batch` ends with its longest request, and whoever comes meanwhile waits for that; here nobody does.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from ray import serve

from node.serving.batches import Batching, TokenRequest
from node.serving.decoding import Asked, Gone, Told
from node.serving.process import DecodingProcess
from swarm_chain.core.errors import UnavailableError
from swarm_chain.reference.tokenmodel import ModelSizes, require_prompts

MAX_ONGOING, MAX_QUEUED = 1024, 4096


@dataclass(slots=True, eq=False, kw_only=True)
class _Answer:
    """Of a request under way: `left` numbers of it were not told yet."""

    left: int
    chunks: asyncio.Queue[Told] = field(default_factory=asyncio.Queue)

    async def chunk(self) -> list[int]:
        """What is told next."""
        told = await self.chunks.get()
        if told.numbers is None:
            raise UnavailableError(f"decoding failed: {told.fault}", code="decoding_failed", retry_after=1)
        self.left -= len(told.numbers)
        return told.numbers


class TokenReplica:
    """Answers requests, decoded side by side.

    Args:
        sizes: of the models.
        batching: bounds.
    """

    def __init__(self, sizes: ModelSizes, batching: Batching) -> None:
        self._sizes, self._batching = sizes, batching
        self._answers: dict[int, _Answer] = {}
        self._numbers = count()
        self._listening: asyncio.AbstractEventLoop | None = None
        self._process: DecodingProcess | None = DecodingProcess(sizes, batching)
        self._process.wait()

    async def __call__(self, request: TokenRequest) -> AsyncIterator[list[int]]:
        """Tokens of a request: the first one, then chunks."""
        number, answer = self._ask(replace(request, streamed=True), request.tokens)
        try:
            while answer.left:
                yield await answer.chunk()
        finally:
            self._leave(number, answer)

    async def whole(self, request: TokenRequest) -> list[int]:
        """All tokens of a request, or its text's embedding: one message instead of several."""
        number, answer = self._ask(replace(request, streamed=False), request.tokens or self._sizes.width)
        try:
            return await answer.chunk()
        finally:
            self._leave(number, answer)

    def _ask(self, request: TokenRequest, length: int) -> tuple[int, _Answer]:
        require_prompts(self._sizes.vocabulary, [request.prompt])
        number, answer = next(self._numbers), _Answer(left=length)
        self._answers[number] = answer
        self._decoding().send(Asked(number=number, request=request))
        return number, answer

    def _leave(self, number: int, answer: _Answer) -> None:
        """Frees the place of a request whose asker went away."""
        del self._answers[number]
        if answer.left and self._process is not None:
            self._process.send(Gone(number=number))

    def _decoding(self) -> DecodingProcess:
        """The process; another one if it has ended."""
        self._process = process = self._process or DecodingProcess(self._sizes, self._batching)
        if self._listening is None:
            self._listening = asyncio.get_running_loop()
            self._listening.add_reader(process.fileno(), self._hear, process)
        return process

    def _hear(self, process: DecodingProcess) -> None:
        told = process.told()
        for one in self._lost(process) if told is None else told:
            if one.number in self._answers:
                self._answers[one.number].chunks.put_nowait(one)

    def _lost(self, process: DecodingProcess) -> list[Told]:
        """The process has ended: so has what it was asked, and the next request starts another."""
        if self._listening is not None:
            self._listening.remove_reader(process.fileno())
        process.close()
        self._process = self._listening = None
        return [Told(number=number, fault="its process ended") for number in self._answers]


deployment: Any = serve.deployment(max_ongoing_requests=MAX_ONGOING, max_queued_requests=MAX_QUEUED, num_replicas=1)(
    TokenReplica
)

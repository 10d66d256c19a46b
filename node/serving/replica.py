"""The Ray Serve deployment: requests are decoded side by side, each from the moment it comes to the moment it is whole.

ingress --TokenRequest--> replica --as soon as there is room--> Decoder, burst after burst --whole, or in chunks--> ingress

A batch of `@serve.batch` ends with its longest request, and whoever comes meanwhile waits for that; here nobody does.
"""

import asyncio
import math
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Final

from ray import serve

from node.serving.batches import Batching, TokenRequest
from node.serving.decoder import Decoder
from node.serving.products import fastest_products
from swarm_chain.core.units import Hash32
from swarm_chain.reference.tokenmodel import ModelSizes, build_model, require_prompts

BURST_S: Final = 0.002  # how long nobody can join
# Chunks of a streamed answer are so far apart while so many are under way, and further the more there are: messages cost more
# than tokens.
CHUNK_S: Final = 0.05
CHUNKED: Final = 12
KEPT_MODELS: Final = 2  # of this epoch and the one before
MAX_ONGOING, MAX_QUEUED = 1024, 4096
_Chunk = list[int] | Exception


@dataclass(slots=True, eq=False, kw_only=True)
class _Asked:
    """A request under way: `left` numbers of its answer were not told yet, and none is before `due`."""

    request: TokenRequest
    left: int
    due: float
    chunks: asyncio.Queue[_Chunk] = field(default_factory=asyncio.Queue)

    def tell(self, numbers: list[int]) -> None:
        """Sends what was made."""
        self.left -= len(numbers)
        self.chunks.put_nowait(numbers)

    async def chunk(self) -> list[int]:
        """What is sent next."""
        sent = await self.chunks.get()
        if isinstance(sent, Exception):
            raise sent
        return sent


class TokenReplica:
    """Decodes requests side by side.

    Args:
        params: sizes of the model.
        batching: bounds.
    """

    def __init__(self, params: ModelSizes, batching: Batching) -> None:
        import torch  # noqa: F401  # takes seconds: now, not while the first request waits

        self._params, self._batching = params, batching
        self._decoders: OrderedDict[Hash32, Decoder[_Asked]] = OrderedDict()
        self._waiting: deque[_Asked] = deque()
        self._work: asyncio.Task[None] | None = None

    async def __call__(self, request: TokenRequest) -> AsyncIterator[list[int]]:
        """Tokens of a request: the first one, then chunks."""
        asked, told = self._ask(request, 0.0), 0
        try:
            while told < request.tokens:
                chunk = await asked.chunk()
                told += len(chunk)
                yield chunk
        finally:
            self._leave(asked)

    async def whole(self, request: TokenRequest) -> list[int]:
        """All tokens of a request, or its text's embedding: one message instead of several."""
        asked = self._ask(request, math.inf)
        try:
            return await asked.chunk()
        finally:
            self._leave(asked)

    def _ask(self, request: TokenRequest, due: float) -> _Asked:
        require_prompts(self._params.vocabulary, [request.prompt])
        asked = _Asked(request=request, left=request.tokens or self._params.width, due=due)
        self._waiting.append(asked)
        if self._work is None:
            self._work = asyncio.get_running_loop().create_task(self._decode())
        return asked

    def _leave(self, asked: _Asked) -> None:
        """Frees the place of a request whose asker went away."""
        if not asked.left:
            return
        if asked in self._waiting:
            self._waiting.remove(asked)
        elif asked.request.model in self._decoders:
            self._decoders[asked.request.model].drop(asked)

    async def _decode(self) -> None:
        """Works until nobody is left."""
        try:
            while self._waiting or any(self._decoders.values()):
                self._admit()
                apart_s = CHUNK_S * max(1.0, self._under_way() / CHUNKED)
                for decoder in filter(len, self._decoders.values()):
                    for asked, numbers in decoder.burst(time.perf_counter() + BURST_S, apart_s):
                        asked.tell(numbers)
                await asyncio.sleep(0)  # lets answers out and requests in
        except Exception as error:  # noqa: BLE001  # whatever it is, those who wait must hear of it
            self._fail(error)
        finally:
            self._work = None

    def _admit(self) -> None:
        for _ in range(min(len(self._waiting), self._batching.max_batch_size - self._under_way())):
            asked = self._waiting[0]
            self._decoder(asked.request.model).join(asked, asked.request.prompt, asked.request.tokens, asked.due)
            self._waiting.popleft()

    def _under_way(self) -> int:
        return sum(map(len, self._decoders.values()))

    def _decoder(self, seed: Hash32) -> Decoder[_Asked]:
        if seed not in self._decoders:
            idle = [old for old, decoder in self._decoders.items() if not decoder]
            for old in idle[: max(0, len(self._decoders) - KEPT_MODELS + 1)]:
                del self._decoders[old]
            model, most = build_model(self._params, seed), self._batching.max_batch_size
            self._decoders[seed] = Decoder(model, fastest_products(model, most), most)
        self._decoders.move_to_end(seed)
        return self._decoders[seed]

    def _fail(self, error: Exception) -> None:
        under_way = [asked for decoder in self._decoders.values() for asked in decoder.owners()]
        for asked in (*self._waiting, *under_way):
            asked.chunks.put_nowait(error)
        self._waiting.clear()
        self._decoders.clear()


deployment: Any = serve.deployment(max_ongoing_requests=MAX_ONGOING, max_queued_requests=MAX_QUEUED, num_replicas=1)(
    TokenReplica
)

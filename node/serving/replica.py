"""The Ray Serve deployment: requests that arrive together are decoded together, a token of each at a time.

ingress --TokenRequest--> replica --serve.batch--> decode, side by side --first token at once, then in chunks--> ingress
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from typing import Any

from ray import serve

from node.serving.adaptive import BatchPace, next_lid
from node.serving.batches import Batching, TokenRequest, batched_embeddings, batched_tokens
from swarm_chain.core.units import Hash32
from swarm_chain.reference.tokenmodel import ModelSizes, TokenModel, build_model

CHUNK_TOKENS = 16  # each chunk costs a message between processes; only the first token is waited for alone
KEPT_MODELS = 2  # of this epoch and the one before
MAX_ONGOING, MAX_QUEUED = 1024, 4096
_batched: Callable[..., Any] = serve.batch()  # Ray's own types know no generators


class TokenReplica:
    """Decodes requests in batches.

    Args:
        params: sizes of the model.
        batching: bounds of a batch; a batch is what has come meanwhile, up to them.
    """

    def __init__(self, params: ModelSizes, batching: Batching) -> None:
        self._params = params
        self._models: OrderedDict[Hash32, TokenModel] = OrderedDict()
        most, batch_ms = batching.max_batch_size, batching.batch_ms
        self._pace = None if batch_ms is None else BatchPace(most=most, batch_ms=batch_ms)
        self._lid = most if batch_ms is None else 1
        # Ray forms the next batch while one is decoded, of whoever comes first: shut, it has to wait for all of them.
        self._door = asyncio.Event()
        self._door.set()
        self._decode.set_max_batch_size(self._lid)
        self._decode.set_batch_wait_timeout_s(batching.wait_ms / 1000)

    async def __call__(self, request: TokenRequest) -> AsyncIterator[list[int]]:
        """Tokens of a request: the first one, then chunks."""
        await self._door.wait()
        chunk: list[int] = []
        told = 0
        async for token in self._decode(request):
            chunk.append(token)
            told += 1
            if told in (1, request.tokens) or len(chunk) == CHUNK_TOKENS:
                yield chunk
                chunk = []

    async def embed(self, request: TokenRequest) -> tuple[int, ...]:
        """Embedding of a request's text."""
        found: tuple[int, ...] = await self._embed(request)
        return found

    @_batched
    async def _embed(self, requests: list[TokenRequest]) -> list[tuple[int, ...]]:
        return batched_embeddings(requests, [self._model(one.model) for one in requests])

    @_batched
    async def _decode(self, requests: list[TokenRequest]) -> AsyncIterator[list[int | type[StopIteration]]]:
        started = time.monotonic_ns()
        if self._pace is not None:
            self._door.clear()
        try:
            for tokens in batched_tokens(requests, [self._model(one.model) for one in requests]):
                yield [StopIteration if token is None else token for token in tokens]
                await asyncio.sleep(0)  # lets the tokens out before the next ones are made
        finally:
            self._adapt(len(requests), (time.monotonic_ns() - started) // 1_000_000)
            self._door.set()

    def _adapt(self, taken: int, took_ms: int) -> None:
        if self._pace is not None:
            self._lid = next_lid(self._lid, taken, took_ms, self._pace)
            self._decode.set_max_batch_size(self._lid)

    def _model(self, seed: Hash32) -> TokenModel:
        if seed not in self._models:
            self._models[seed] = build_model(self._params, seed)
            if len(self._models) > KEPT_MODELS:
                self._models.popitem(last=False)
        self._models.move_to_end(seed)
        return self._models[seed]


deployment: Any = serve.deployment(max_ongoing_requests=MAX_ONGOING, max_queued_requests=MAX_QUEUED, num_replicas=1)(
    TokenReplica
)

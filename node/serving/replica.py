"""The Ray Serve deployment: requests that arrive together are decoded together, a token of each at a time.

ingress --TokenRequest--> replica --serve.batch--> decode, side by side --first token at once, then in chunks--> ingress
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from typing import Any

from ray import serve

from node.serving.batches import Batching, TokenRequest, batched_tokens
from swarm_chain.core.serving import ServingParams
from swarm_chain.core.units import Hash32
from swarm_chain.reference.tokenmodel import TokenModel, build_model

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

    def __init__(self, params: ServingParams, batching: Batching) -> None:
        self._params = params
        self._models: OrderedDict[Hash32, TokenModel] = OrderedDict()
        self._decode.set_max_batch_size(batching.max_batch_size)
        self._decode.set_batch_wait_timeout_s(batching.wait_ms / 1000)

    async def __call__(self, request: TokenRequest) -> AsyncIterator[list[int]]:
        """Tokens of a request: the first one, then chunks."""
        chunk: list[int] = []
        told = 0
        async for token in self._decode(request):
            chunk.append(token)
            told += 1
            if told in (1, request.tokens) or len(chunk) == CHUNK_TOKENS:
                yield chunk
                chunk = []

    @_batched
    async def _decode(self, requests: list[TokenRequest]) -> AsyncIterator[list[int | type[StopIteration]]]:
        for tokens in batched_tokens(requests, [self._model(one.model) for one in requests]):
            yield [StopIteration if token is None else token for token in tokens]
            await asyncio.sleep(0)  # lets the tokens out before the next ones are made

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

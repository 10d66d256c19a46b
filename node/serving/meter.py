"""What a served job lets in and has answered: as many requests as it has room for, each answer put into its log."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue

from node.serving.batches import TokenRequest
from node.serving.embeddings import EmbeddingSource
from node.serving.ingress import TokenSource
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.serving import model_name
from swarm_chain.reference.programs.serve import Answered


@dataclass(slots=True)
class _Place:
    """Room for one request: used once it is answered."""

    used: bool = False


class Meter:
    """Counts requests of one event loop; another thread may take from `answered`.

    Args:
        room: requests that may still be answered.
        context: most tokens of prompt and answer together.
    """

    def __init__(self, room: int, context: int) -> None:
        self.answered: SimpleQueue[Answered] = SimpleQueue()
        self._room, self._context = room, context

    def tokens(self, source: TokenSource) -> TokenSource:
        """The same tokens, counted; an answer is logged before its last chunk leaves, so that no asker can keep it out."""

        async def counted(request: TokenRequest) -> AsyncIterator[list[int]]:
            given: list[int] = []
            with self._admitted(request) as place:
                async for chunk in source(request):
                    given += chunk
                    if len(given) == request.tokens:
                        self._log(place, request, tuple(given))
                    yield chunk

        return counted

    def embeddings(self, source: EmbeddingSource) -> EmbeddingSource:
        """The same embeddings, counted and logged."""

        async def counted(request: TokenRequest) -> tuple[int, ...]:
            with self._admitted(request) as place:
                embedding = tuple(await source(request))
                self._log(place, request, embedding)
            return embedding

        return counted

    def _log(self, place: _Place, request: TokenRequest, answer: tuple[int, ...]) -> None:
        place.used = True
        self.answered.put(Answered.of(model_name(request.model), request.prompt, request.tokens, answer))

    @contextmanager
    def _admitted(self, request: TokenRequest) -> Iterator[_Place]:
        """Holds a place for a request; one that ends without an answer leaves it to the next."""
        if len(request.prompt) + request.tokens > self._context:
            raise InvalidInputError(
                "prompt and answer are too long", code="bad_request", fix=f"{self._context} tokens at most"
            )
        if not self._room:
            raise UnavailableError(
                "this endpoint has answered what it was paid for", code="used_up", fix="post another job", retry_after=1
            )
        place = _Place()
        self._room -= 1
        try:
            yield place
        finally:
            self._room += not place.used

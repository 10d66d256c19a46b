"""Requests for tokens, decoded side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from swarm_chain.core.units import Hash32
from swarm_chain.reference.tokenmodel import TokenModel, decode, embeddings


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    """What is asked of a model: `tokens` more of a prompt."""

    model: Hash32
    prompt: tuple[int, ...]
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Batching:
    """How many requests are decoded side by side at most, and how long the first of them waits for company, ms.

    With `batch_ms` the lid follows the load: it starts at 1 and stays where a batch takes that long.
    """

    max_batch_size: int
    wait_ms: int
    batch_ms: int | None = None


def batched_tokens(requests: Sequence[TokenRequest], models: Sequence[TokenModel]) -> Iterator[list[int | None]]:
    """Decode requests side by side until the longest has all its tokens; those of one model share its products.

    Args:
        requests: what is asked.
        models: the model of each.

    Returns:
        An iterator of the next token of each request, None for one that has all it asked for.
    """
    places = _places_of(requests)
    streams = {
        seed: decode(models[together[0]], [requests[place].prompt for place in together])
        for seed, together in places.items()
    }
    for step in range(max(request.tokens for request in requests)):
        row: list[int | None] = [None] * len(requests)
        for seed, together in places.items():
            if all(step >= requests[place].tokens for place in together):
                continue
            for place, token in zip(together, next(streams[seed]), strict=True):
                row[place] = token if step < requests[place].tokens else None
        yield row


def batched_embeddings(requests: Sequence[TokenRequest], models: Sequence[TokenModel]) -> list[tuple[int, ...]]:
    """Embed the texts of requests, those of one model together; arguments as `batched_tokens`."""
    found: list[tuple[int, ...]] = [()] * len(requests)
    for together in _places_of(requests).values():
        states = embeddings(models[together[0]], [requests[place].prompt for place in together])
        for place, state in zip(together, states, strict=True):
            found[place] = state
    return found


def _places_of(requests: Sequence[TokenRequest]) -> dict[Hash32, list[int]]:
    places: dict[Hash32, list[int]] = {}
    for place, request in enumerate(requests):
        places.setdefault(request.model, []).append(place)
    return places

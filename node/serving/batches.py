"""Requests for tokens, and the bounds within which they are decoded side by side."""

from dataclasses import dataclass

from swarm_chain.core.units import Hash32


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    """What is asked of a model: `tokens` more of a prompt, or with none of them its embedding; `streamed`: as they come."""

    model: Hash32
    prompt: tuple[int, ...]
    tokens: int
    streamed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Batching:
    """How many requests are decoded side by side at most; below that a batch is whoever is there."""

    max_batch_size: int

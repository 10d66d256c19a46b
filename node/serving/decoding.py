"""What a replica decodes with, a process beside it: neither waits for the other's turn with Python's interpreter.

replica --Asked, Gone--> room? --> Decoder, burst after burst --Told--> replica
"""

import logging
import math
import time
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Final

from node.serving.batches import Batching, TokenRequest
from node.serving.decoder import Decoder
from node.serving.products import fastest_products
from swarm_chain.core.units import Hash32
from swarm_chain.reference.tokenmodel import ModelSizes, build_model

BURST_S: Final = 0.002  # how long nobody can join
# Chunks of a streamed answer are so far apart while so many are under way, and further the more there are: messages cost more
# than tokens.
CHUNK_S: Final = 0.05
CHUNKED: Final = 12
KEPT_MODELS: Final = 2  # of this epoch and the one before


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request, by the number that what is made for it goes back with."""

    number: int
    request: TokenRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """Nobody waits for this request any more."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What was made for a request since it was told last: tokens, or its state; or why nothing more will be."""

    number: int
    numbers: list[int] | None = None
    fault: str | None = None


class Decoding:
    """Requests of several models, as many side by side as there is room for, the others in the order they came.

    Args:
        sizes: of the models.
        batching: bounds.
    """

    def __init__(self, sizes: ModelSizes, batching: Batching) -> None:
        self._sizes, self._most = sizes, batching.max_batch_size
        self._decoders: OrderedDict[Hash32, Decoder[int]] = OrderedDict()
        self._waiting: deque[Asked] = deque()

    def __len__(self) -> int:
        return len(self._waiting) + self._under_way()

    def take(self, message: Asked | Gone) -> None:
        """Takes a request, or forgets one that may be over already."""
        if isinstance(message, Asked):
            self._waiting.append(message)
            return
        self._waiting = deque(asked for asked in self._waiting if asked.number != message.number)
        for decoder in self._decoders.values():
            decoder.drop(message.number)

    def burst(self) -> list[Told]:
        """Decodes for a moment; a fault ends all that was asked, and what is asked next begins anew."""
        told: list[Told] = []
        try:
            self._admit()
            apart_s = CHUNK_S * max(1.0, self._under_way() / CHUNKED)
            for decoder in filter(len, self._decoders.values()):
                made = decoder.burst(time.perf_counter() + BURST_S, apart_s)
                told += [Told(number=number, numbers=numbers) for number, numbers in made]
        except Exception as error:  # whatever it is, those who wait must hear of it, beside those who have it all
            logging.exception("decoding failed")
            told += self._fail(f"{type(error).__name__}: {error}")
        return told

    def _admit(self) -> None:
        for _ in range(min(len(self._waiting), self._most - self._under_way())):
            asked = self._waiting[0]
            due = 0.0 if asked.request.streamed else math.inf
            self._decoder(asked.request.model).join(asked.number, asked.request.prompt, asked.request.tokens, due)
            self._waiting.popleft()

    def _under_way(self) -> int:
        return sum(map(len, self._decoders.values()))

    def _decoder(self, seed: Hash32) -> Decoder[int]:
        if seed not in self._decoders:
            idle = [old for old, decoder in self._decoders.items() if not decoder]
            for old in idle[: max(0, len(self._decoders) - KEPT_MODELS + 1)]:
                del self._decoders[old]
            model = build_model(self._sizes, seed)
            self._decoders[seed] = Decoder(model, fastest_products(model, self._most), self._most)
        self._decoders.move_to_end(seed)
        return self._decoders[seed]

    def _fail(self, fault: str) -> list[Told]:
        under_way = [number for decoder in self._decoders.values() for number in decoder.owners()]
        told = [Told(number=number, fault=fault) for number in (*(asked.number for asked in self._waiting), *under_way)]
        self._waiting.clear()
        self._decoders.clear()
        return told
